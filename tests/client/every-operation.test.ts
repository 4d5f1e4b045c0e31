// Every operation of every installed version of the published client, called through that client: the request has the
// form that the server expects, and the client takes the answer. What the operations do is tested elsewhere. Instances
// are fake.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { pathsOf, type Operation } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { installedClients, type ClientOperation } from '../../scripts/surface/client-operations.ts'
import { newKey, newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { newApp, newResourceFor } from '../conformance/resources.ts'
import {
  fillPath,
  resourceOf,
  sampleBody,
  sampleQueryValues,
  type References,
} from '../conformance/sample-request.ts'
import { startStore } from '../fixtures/chrome-store.ts'
import { marker } from '../fixtures/extensions.ts'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84, type ClientOptions } from './versions.ts'

const owner = { after }
const store = await startStore(owner)
const server = await startServer(owner, {
  env: { ...store.env, BERTH_MAX_CONCURRENT_SESSIONS: '1000', BERTH_MAX_POOLED_SESSIONS: '1000' },
})
const caller = new HttpCaller(owner, server.url)
await newApp(caller, server.key)
const [app] = (await caller.sendJson(server.key, 'GET', '/apps')).json as [{ version: string }]
const newClients: Readonly<Record<string, (at: typeof server, options: ClientOptions) => object>> = {
  '0.55.0': client55,
  '0.70.0': client70,
  '0.84.0': client84,
}

const file = (name: string) => new File([new Uint8Array(marker())], name)
/** What the samples of the contract cannot know, and the fields of forms, which the client encodes. */
const given: Readonly<Record<string, () => object>> = {
  // A cap would hold for the rest of this file.
  updateOrganizationLimits: () => ({ default_project_max_concurrent_sessions: 0 }),
  createInvocation: () => ({ version: app.version }),
  downloadFromChromeStore: () => ({ url: `https://chromewebstore.google.com/detail/ours/${store.id}` }),
  uploadExtension: () => ({ file: file('an-extension.zip') }),
  createDeployment: () => ({ file: file('an-app.zip'), entrypoint_rel_path: 'index.js', version: newName() }),
  uploadFiles: () => ({ files: [{ dest_path: '/tmp/a', file: file('a') }] }),
  uploadZip: () => ({ dest_path: '/tmp/b', zip_file: file('b.zip') }),
  loadExtensions: () => ({ extensions: [{ name: 'loaded', zip_file: file('c.zip') }] }),
}

/** Calls that cannot succeed here: they need a login in progress, a leased browser or 1Password. */
const refused: Readonly<Record<string, readonly number[]>> = {
  submitAuthConnection: [404, 409, 422],
  releaseBrowser: [404],
  listCredentialProviderItems: [502],
}

let count = 0
const newName = () => `walk-${count++}`

/** The operation that serves a request of the client, and the path of it. */
function servedBy({ method, path }: ClientOperation): Operation {
  const shape = path.replaceAll(/\{\w+\}/g, '{}')
  const served = operations.find(
    (row) =>
      row.method === method && pathsOf(row).some((each) => each.replaceAll(/\{\w+\}/g, '{}') === shape),
  )
  assert.ok(served, `${method} ${path} is served`)
  return served
}

async function referencesFor(path: string): Promise<References> {
  switch (resourceOf(path)) {
    case 'projects':
      return { projects: (await newProject(caller, server.key, newName())).id }
    case 'api_keys':
      return { api_keys: (await newKey(caller, server.key, { name: newName() })).id }
    default: {
      const made = await newResourceFor(path, { caller, key: server.key, organizationKey: server.key })
      return path.includes('{replay_id}') ? { ...made, replays: await newReplay(made) } : made
    }
  }
}

async function newReplay({ browsers }: References): Promise<string> {
  const begun = await caller.sendJson(server.key, 'POST', `/browsers/${browsers}/replays`, {})
  assert.equal(begun.status, 201, begun.text)
  return (begun.json as { replay_id: string }).replay_id
}

/** As the client takes them: the last part of the path, then an object with the other parts, the query and the body. */
async function argumentsOf({ path }: ClientOperation, operation: Operation): Promise<unknown[]> {
  const filled = fillPath(path, await referencesFor(path)).split('/')
  const parts = path.split('/').flatMap((part, index) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    return name === undefined ? [] : [{ name, value: decodeURIComponent(filled[index]!) }]
  })
  const last = parts.pop()
  const all = {
    ...Object.fromEntries(parts.map(({ name, value }) => [name, value])),
    ...sampleQueryValues(operation),
    ...named(sampleBody(operation)),
    ...given[operation.id]?.(),
  }
  const first = last === undefined ? [] : [last.value]
  if (operation.bodyStream === 'bytes') return [...first, new Blob(['sample']), all]
  return Object.keys(all).length === 0 ? first : [...first, all]
}

/** Names are unique, and every version makes one. */
function named(body: object = {}): object {
  return {
    ...body,
    ...('name' in body && { name: newName() }),
    ...('profile_name' in body && { profile_name: newName() }),
  }
}

async function invoke(client: object, call: string, args: unknown[]): Promise<unknown> {
  const steps = call.split('.')
  const method = steps.pop()!
  const resource = steps.reduce((at, step) => Reflect.get(at, step) as object, client)
  return (Reflect.get(resource, method) as (...given: unknown[]) => Promise<unknown>).apply(resource, args)
}

/** Streams and downloads stay open until somebody ends them. */
async function endOf(result: unknown): Promise<void> {
  if (result instanceof Response) await result.body?.cancel()
  const stream = result as { controller?: AbortController } | null | undefined
  if (stream?.controller instanceof AbortController) stream.controller.abort()
}

// The clients before 0.55 are installed for their auth agents, which have a test of their own.
const walked = (await installedClients()).filter(({ version }) => newClients[version] !== undefined)
test('three versions are walked', () => assert.equal(walked.length, Object.keys(newClients).length))

for (const { version, operations: calls } of walked) {
  describe(`client ${version}`, () => {
    for (const each of calls) {
      test(`${each.call} is ${each.method} ${each.path}`, async () => {
        const operation = servedBy(each)
        const args = await argumentsOf(each, operation)
        const answers: { status: number; text: string }[] = []
        const watching: typeof fetch = async (input, init) => {
          const answer = await fetch(input, init)
          // Before the first form, the client looks at what its fetch can do.
          if (answer.url.startsWith(server.url))
            answers.push({ status: answer.status, text: answer.ok ? '' : await answer.clone().text() })
          return answer
        }
        const client = newClients[version]!(server, { fetch: watching, maxRetries: 0 })
        const expected = refused[operation.id]
        const outcome = await invoke(client, each.call, args).then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        )
        assert.equal(answers.length, 1, 'one request')
        const [{ status, text }] = answers as [(typeof answers)[0]]
        if (expected === undefined) {
          assert.ok(status >= 200 && status < 300, `${status} ${text}`)
          if ('error' in outcome) throw outcome.error
          await endOf(outcome.result)
        } else assert.ok(expected.includes(status), `${status} ${text}`)
      })
    }
  })
}
