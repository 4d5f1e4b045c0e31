import { DEFAULT_ASYNC_SECONDS, MAX_PAYLOAD_BYTES, SYNC_SECONDS } from '@berth/contracts/invocations'
import { html } from './html.ts'
import type { GuideSection } from './section.ts'

export const appsSection: GuideSection = {
  id: 'apps',
  title: 'Apps',
  text: html`<p>
      An app is code that runs next to its browsers: a file that names actions by the client, with a
      <code>package.json</code> or a <code>pyproject.toml</code> beside it. It is deployed as a zip archive or
      from a repository, built in an instance of its own, and invoked by the names it gave itself. Follow a
      deployment to see its log; <code>status_reason</code> says why one failed.
    </p>
    <p>
      Packages come from npm with <code>package-lock.json</code> as it is, or by pip. TypeScript needs no
      build. In the app <code>KERNEL_API_KEY</code> and <code>KERNEL_BASE_URL</code> are set, so that the
      client needs no arguments; the key is good for the project of the deployment, and dies with it. All
      other connections leave by the server's policy, as those of sessions do.
    </p>
    <p>
      An invocation runs once, in a process of its own. Its caller is held for up to ${SYNC_SECONDS} seconds,
      or with <code>async</code> answered at once; then it may take ${DEFAULT_ASYNC_SECONDS} seconds, or
      <code>async_timeout_seconds</code>. Payload and output are JSON of at most ${MAX_PAYLOAD_BYTES} bytes.
      Browser sessions that are created with its <code>invocation_id</code> end with it. When what runs it is
      lost it is failed with <code>worker_lost</code>, and not run again.
    </p>`,
  samples: [
    {
      caption: 'index.ts',
      code: `import Kernel, { type KernelContext } from '@onkernel/sdk'

const kernel = new Kernel()
const app = kernel.app('greeter')

app.action('hello', async (context: KernelContext, payload?: { name: string }) => {
  console.log('asked by', context.invocation_id)
  return { text: \`Hello \${payload?.name}\` }
})`,
    },
    {
      caption: 'Deploy and invoke',
      code: `curl "$BERTH_URL/deployments" -H "Authorization: Bearer $BERTH_API_KEY" \\
  -F file=@app.zip -F entrypoint_rel_path=index.ts

curl "$BERTH_URL/invocations" -H "Authorization: Bearer $BERTH_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"app_name":"greeter","action_name":"hello","payload":"{\\"name\\":\\"you\\"}"}'`,
    },
  ],
}
