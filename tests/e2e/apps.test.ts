// Apps from source to answer, with real instances, npm, pip's Python and git.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, test } from 'node:test'
import {
  deploy,
  ended,
  follow,
  invoke,
  postDeployment,
  readDeployment,
  readInvocation,
  settled,
  tinyApp,
  tinyClient,
  type AppEvent,
  type Deployment,
} from '../fixtures/apps.ts'
import { startGitServer } from '../fixtures/git-server.ts'
import { eventually } from '../fixtures/host.ts'
import { installedPackage, lockfileOf, packageOf, startRegistry } from '../fixtures/npm-registry.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { readSession, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const sdk = installedPackage('kernel-sdk-0-84', '@onkernel/sdk')
const playwright = installedPackage('playwright-core')
const anchor = packageOf(
  {
    name: 'anchor',
    version: '1.2.3',
    type: 'module',
    main: 'index.js',
    scripts: { postinstall: 'node make.js' },
  },
  {
    'index.js':
      "import { readFileSync } from 'node:fs'\nexport const made = readFileSync(new URL('made', import.meta.url), 'utf8')\n",
    'make.js':
      "import { writeFileSync } from 'node:fs'\nwriteFileSync(new URL('made', import.meta.url), `by ${process.pid > 0 ? 'a script' : ''} with ${process.env.KERNEL_API_KEY ?? 'no key'}`)\n",
  },
  tempDir(owner),
)
const registry = await startRegistry(owner, [sdk, playwright, anchor])
const site = await startSite(owner)
const repository = await startGitServer(owner, {
  branch: 'main',
  files: Object.fromEntries(
    Object.entries(tinyApp('from-git', { hello: '(context) => "from a repository"' })).map(([name, text]) => [
      `apps/hello/${name}`,
      text,
    ]),
  ),
})
const server = await startServer(owner, {
  hasRealInstances: true,
  env: {
    ...registry.setting,
    BERTH_EGRESS_ALLOW: `${site.allow.BERTH_EGRESS_ALLOW},${repository.allow}`,
    BERTH_APP_INVOCATION_MEMORY_MB: '128',
    BERTH_LOG_LEVEL: 'debug',
  },
})

const messages = (events: readonly AppEvent[]) =>
  events.filter(({ event }) => event === 'log').map(({ message }) => message)
const statesIn = (events: readonly AppEvent[]) =>
  events.flatMap(({ deployment, invocation }) => deployment?.status ?? invocation?.status ?? [])

const app = { name: 'voyage', version: '1.0.0' }
const voyage = {
  'package.json': JSON.stringify({
    ...app,
    type: 'module',
    dependencies: { '@onkernel/sdk': sdk.version, 'playwright-core': playwright.version, anchor: '1.2.3' },
  }),
  'package-lock.json': lockfileOf(app, [sdk, playwright, anchor]),
  'tsconfig.json': '{"compilerOptions":{"paths":{"@lib/*":["./src/lib/*"]},"experimentalDecorators":true}}',
  'src/lib/title.ts':
    'export enum Suffix { Mark = "!" }\nexport const shout = (text: string): string => text + Suffix.Mark\n',
  'src/index.ts': `import Kernel, { type KernelContext } from '@onkernel/sdk'
import { chromium } from 'playwright-core'
import { made } from 'anchor'
import { getCACertificates } from 'node:tls'
import { shout } from '@lib/title'
import { shout as again } from './lib/title'

const kernel = new Kernel()
const app = kernel.app('voyage')
const other = kernel.app('second-app')

interface Visit { url: string }

app.action<Visit>('title', async (context: KernelContext, payload?: Visit) => {
  const session = await kernel.browsers.create({ invocation_id: context.invocation_id, headless: true })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.goto(payload!.url)
  const title = await page.title()
  console.log('title is', title)
  return { title: shout(title), same: again('') === '!', session: session.session_id, made }
})
app.action('fetch', async (_context: KernelContext, payload?: Visit) => {
  const answer = await fetch(payload!.url).catch((error) => ({ status: String(error.cause?.message ?? error), text: async () => '' }))
  return { status: answer.status, length: (await answer.text()).length }
})
app.action('env', async () => { throw new Error('never') } as never)
other.action('variables', async (context: KernelContext) => {
  const { COLOUR, ENTRYPOINT_RELPATH, KERNEL_BASE_URL, KERNEL_API_KEY } = process.env
  const own = await kernel.invocations.retrieve(context.invocation_id)
  const trustsMachine = getCACertificates('extra').length > 0
  const headers = { authorization: 'Bearer ' + KERNEL_API_KEY, 'content-type': 'application/json' }
  const ofServers = await fetch(KERNEL_BASE_URL + '/internal/sessions', { method: 'POST', headers, body: '{}' })
  return { COLOUR, ENTRYPOINT_RELPATH, KERNEL_BASE_URL, hasKey: /^sk_/.test(KERNEL_API_KEY ?? ''), own: own.status, trustsMachine, ofServers: ofServers.status }
})
`.replace("app.action('env', async () => { throw new Error('never') } as never)\n", ''),
}

let deployed: Deployment

test('a TypeScript app with a lockfile is built, and lists its actions', async () => {
  const answer = await postDeployment(server, {
    files: voyage,
    entrypoint: 'src/index.ts',
    env: { COLOUR: 'teal', KERNEL_API_KEY: 'sk_of_the_user' },
  })
  assert.equal(answer.status, 201)
  const events = await follow(server, `/deployments/${answer.body.id}/events`, {
    until: ({ deployment }) => ['running', 'failed'].includes(deployment?.status ?? ''),
  })
  deployed = await settled(server, answer.body.id)
  assert.equal(deployed.status, 'running', deployed.status_reason)
  assert.deepEqual(deployed.env_vars, { COLOUR: '', KERNEL_API_KEY: '' })
  assert.match(deployed.source_checksum ?? '', /^[0-9a-f]{64}$/)
  assert.deepEqual(statesIn(events), ['queued', 'in_progress', 'running'])
  assert.ok(messages(events).includes('npm ci'), messages(events).join('\n'))
  assert.deepEqual(
    events.filter(({ event }) => event === 'app_version_summary').map(({ app_name }) => app_name),
    ['voyage', 'second-app'],
  )
  assert.ok(registry.requests.some((path) => path.startsWith('playwright-core/-/')))
  const apps = await send<{ app_name: string; actions: { name: string }[]; deployment: string }[]>(
    server,
    'GET',
    '/apps?app_name=voyage&version=latest',
  )
  assert.deepEqual(
    apps.body.map(({ app_name, deployment, actions }) => ({ app_name, deployment, actions })),
    [{ app_name: 'voyage', deployment: deployed.id, actions: [{ name: 'title' }, { name: 'fetch' }] }],
  )
})

test('an action drives its own session with playwright, and the session ends with it', async () => {
  const payload = JSON.stringify({ url: `${site.url}/` })
  const answer = await invoke(server, { app_name: 'voyage', action_name: 'title', payload })
  assert.equal(answer.body.status, 'succeeded', JSON.stringify(answer.body))
  const output = JSON.parse(answer.body.output!) as {
    title: string
    same: boolean
    session: string
    made: string
  }
  assert.equal(output.title, 'Home!')
  assert.equal(output.same, true)
  assert.equal(
    output.made,
    'by a script with sk_of_the_user',
    'install scripts see variables of the user, not our key',
  )
  assert.equal((await readSession(server, output.session)).end_reason, 'deleted')
  const events = await follow(server, `/invocations/${answer.body.id}/events`)
  assert.deepEqual(messages(events), ['title is Home'])
  assert.deepEqual(statesIn(events), ['queued', 'running', 'succeeded'])
  assert.match((await readInvocation(server, answer.body.id)).started_at, /\.\d{9}Z$/)
})

test('an app reaches the API with its own key, and other hosts by the egress policy of the server', async () => {
  const variables = await invoke(server, { app_name: 'second-app', action_name: 'variables' })
  assert.deepEqual(JSON.parse(variables.body.output ?? 'null'), {
    COLOUR: 'teal',
    ENTRYPOINT_RELPATH: 'src/index.ts',
    KERNEL_BASE_URL: 'http://127.0.0.1:8080',
    hasKey: true,
    own: 'running',
    trustsMachine: existsSync('/etc/ssl/certs/ca-certificates.crt'),
    // What servers ask each other is not there.
    ofServers: 404,
  })
  const fetched = async (url: string) => {
    const answer = await invoke(server, {
      app_name: 'voyage',
      action_name: 'fetch',
      payload: JSON.stringify({ url }),
    })
    return JSON.parse(answer.body.output ?? 'null') as { status: unknown }
  }
  assert.equal((await fetched(`${site.url}/popup`)).status, 200)
  // Node asks the proxy for a tunnel, and reports its refusal this way.
  const refused = /cancelled|Proxy response|403/
  assert.match(
    String((await fetched('http://169.254.169.254/')).status),
    refused,
    'private addresses stay closed',
  )
  const { length } = registry.requests
  assert.match(String((await fetched(registry.url)).status), refused, 'the registry is open to builds only')
  assert.equal(registry.requests.length, length)
})

test('a version is replaced only with force, and the previous one stops', async () => {
  const files = tinyApp('replaced', { which: '(context) => "first"' })
  const first = await deploy(server, { files, version: 'v1' })
  const again = await postDeployment(server, { files, version: 'v1' })
  const refused = await settled(server, again.body.id)
  assert.equal(refused.status, 'failed')
  assert.match(refused.status_reason ?? '', /has a version "v1" already: deploy with force/)
  await deploy(server, {
    files: tinyApp('replaced', { which: '(context) => "second"' }),
    version: 'v1',
    force: true,
  })
  const answer = await invoke(server, { app_name: 'replaced', action_name: 'which', version: 'v1' })
  assert.equal(answer.body.output, '"second"')
  await eventually(
    'the first is stopped',
    async () => (await readDeployment(server, first.id)).status === 'stopped',
  )
})

test('a Python app runs, with a registry like that of the published client', async () => {
  // The published client for Python cannot be installed here; this module has only its registry.
  const framework = `from dataclasses import dataclass
@dataclass
class KernelContext:
    invocation_id: str
class Action:
    def __init__(self, name, handler):
        self.name, self.handler = name, handler
class App:
    def __init__(self, name):
        self.name, self.actions = name, {}
        app_registry.apps[name] = self
    def action(self, name):
        def decorate(handler):
            self.actions[name] = Action(name, handler)
            return handler
        return decorate
    def get_actions(self):
        return list(self.actions.values())
    def get_action(self, name):
        return self.actions.get(name)
class Registry:
    def __init__(self):
        self.apps = {}
    def get_apps(self):
        return list(self.apps.values())
    def get_app_by_name(self, name):
        return self.apps.get(name)
app_registry = Registry()
`
  const main = `import json, os, urllib.request
from kernel.app_framework import App
app = App("snake")
@app.action("status")
async def status(context, payload):
    print("asked by", context.invocation_id)
    key = os.environ["KERNEL_API_KEY"]
    url = os.environ["KERNEL_BASE_URL"] + "/invocations/" + context.invocation_id
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + key})
    with urllib.request.urlopen(request) as answer:
        return {"status": json.load(answer)["status"], "payload": payload}
@app.action("fail")
def fail(context, payload):
    raise ValueError("no good")
`
  await deploy(server, {
    files: {
      'main.py': main,
      'kernel/__init__.py': '',
      'kernel/app_framework.py': framework,
      'pyproject.toml': '[project]\nname = "snake"\nversion = "1"\ndependencies = []\n',
    },
    entrypoint: 'main.py',
  })
  const answer = await invoke(server, { app_name: 'snake', action_name: 'status', payload: '[1]' })
  assert.deepEqual(JSON.parse(answer.body.output ?? 'null'), { status: 'running', payload: [1] })
  const failed = await invoke(server, { app_name: 'snake', action_name: 'fail' })
  assert.equal(failed.body.status, 'failed')
  assert.equal(failed.body.status_reason, 'ValueError: no good')
})

test('an app is deployed from a repository, or the error says why not', async () => {
  const source = {
    type: 'github',
    url: repository.url,
    ref: 'main',
    entrypoint: 'index.js',
    path: 'apps/hello',
  }
  const create = async (changes: object) => {
    const form = new FormData()
    form.set('source', JSON.stringify({ ...source, ...changes }))
    const answer = await server.fetch('/deployments', { method: 'POST', body: form })
    const { id } = (await answer.json()) as Deployment
    assert.equal(answer.status, 201)
    return settled(server, id)
  }
  const running = await create({ auth: { method: 'github_token', token: 'a-token' } })
  assert.equal(running.status, 'running', running.status_reason)
  const answer = await invoke(server, { app_name: 'from-git', action_name: 'hello' })
  assert.equal(answer.body.output, '"from a repository"')
  assert.ok(repository.authorizations.length > 0)
  const lost = await create({ ref: 'no-such-branch' })
  assert.equal(lost.status, 'failed')
  assert.match(lost.status_reason ?? '', /Cannot fetch the repository.*no-such-branch/s)
  const closed = await create({ url: 'http://10.0.0.1/app.git' })
  assert.match(
    closed.status_reason ?? '',
    /Cannot fetch the repository.*Egress last refused: Cannot reach "/s,
  )
})

const broken: [what: string, files: Record<string, string>, reason: RegExp][] = [
  ['lacks the entrypoint', { 'other.js': '' }, /Cannot find the entrypoint "index.js"/],
  [
    'throws when it is imported',
    { 'index.js': 'throw new Error("no key for the harbour")' },
    /no key for the harbour/,
  ],
  ['makes no app', { ...tinyClient, 'index.js': 'import "./core/app-framework.js"' }, /Cannot find an app/],
  ['does not import the client', { 'index.js': 'export {}' }, /imports no copy of the client/],
  [
    'needs a package that does not exist',
    {
      ...tinyApp('x', {}),
      'package.json': '{"type":"module","dependencies":{"no-such-package-at-all":"1.0.0"}}',
    },
    /Cannot install the packages/,
  ],
  ['exits while it is imported', { 'index.js': 'process.exit(3)' }, /ended with code 3/],
]

test('a deployment that cannot run says what to do about it', async () => {
  const answers = await Promise.all(broken.map(([, files]) => postDeployment(server, { files })))
  for (const [index, [what, , reason]] of broken.entries()) {
    const { status, status_reason } = await settled(server, answers[index]!.body.id)
    assert.equal(status, 'failed', what)
    assert.match(status_reason ?? '', reason, what)
  }
  const form = new FormData()
  form.set('entrypoint_rel_path', 'index.js')
  form.set('file', new Blob(['no archive at all']), 'app.zip')
  const posted = await server.fetch('/deployments', { method: 'POST', body: form })
  const { id } = (await posted.json()) as Deployment
  const unpacked = await settled(server, id)
  assert.equal(unpacked.status, 'failed')
  assert.match(unpacked.status_reason ?? '', /zip|archive/i)
})

test('deleting a deployment fails its invocations, ends their streams, and revokes its key', async () => {
  const { id } = await deploy(server, {
    files: tinyApp('doomed', {
      wait: '(context) => new Promise((resolve) => { console.log(process.env.KERNEL_API_KEY); setTimeout(resolve, 60_000) })',
    }),
  })
  const { body } = await invoke(server, { app_name: 'doomed', action_name: 'wait', async: true })
  const seen = await follow(server, `/invocations/${body.id}/events`, {
    until: ({ event }) => event === 'log',
  })
  const key = seen.at(-1)!.message!
  assert.equal((await server.fetch('/apps', { key })).status, 200)
  const stream = follow(server, `/deployments/${id}/events`)
  assert.equal((await send(server, 'DELETE', `/deployments/${id}`)).status, 204)
  assert.equal((await send(server, 'DELETE', `/deployments/${id}`)).status, 204)
  const invocation = await ended(server, body.id)
  assert.equal(invocation.status, 'failed')
  assert.equal(invocation.status_reason, 'Its deployment was deleted')
  assert.equal(statesIn(await stream).at(-1), 'stopped')
  assert.equal((await server.fetch('/apps', { key })).status, 401)
  assert.equal((await invoke(server, { app_name: 'doomed', action_name: 'wait' })).status, 404)
})
