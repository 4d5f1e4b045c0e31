import type { Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { finish, formOf } from './deploy.ts'
import { envOf } from './env.ts'

export async function run(context: Context): Promise<void> {
  const { url, ref, entrypoint, path, githubToken } = context.options as Record<string, string | undefined>
  const missing = Object.entries({ url, ref, entrypoint }).filter(([, value]) => value === undefined)
  if (missing.length > 0)
    throw usage(`Cannot deploy: ${missing.map(([name]) => `--${name}`).join(', ')} missing`)
  const source = {
    type: 'github',
    url,
    ref,
    entrypoint,
    ...(path !== undefined && { path }),
    ...(githubToken !== undefined && { auth: { method: 'github_token', token: githubToken } }),
  }
  const form = formOf(context, envOf(context))
  form.set('source', new Blob([JSON.stringify(source)], { type: 'application/json' }))
  const api = await context.api()
  const deployment = await api.call<{ id: string; status: string }>('createDeployment', {
    body: form,
    maxRetries: 0,
  })
  await finish(context, deployment)
}
