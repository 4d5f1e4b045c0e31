// A project key and another project's resources: nothing is seen or changed, and the refusal is the same as for a
// resource that does not exist.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiKey } from '@berth/contracts/api-keys'
import { eventually } from '../fixtures/host.ts'
import { pathsOf, type Auth } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import type { Project } from '@berth/contracts/projects'
import { sharedServer } from '../fixtures/shared-server.ts'
import { assertError } from './error-answer.ts'
import { newKey, newTenant } from './fixture-keys.ts'
import { HttpCaller, type Answer } from './http-exchange.ts'
import {
  newApp,
  newAuditExport,
  newBrowser,
  newConnection,
  newFlow,
  newCredential,
  newDestination,
  newCredentialProvider,
  newExtension,
  newPool,
  newProfile,
  newProxy,
  newWebhook,
} from './resources.ts'
import { resourceOf, sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
const server = await sharedServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const mine = await newTenant(caller, server.key, 'Mine')
const theirs = await newTenant(caller, server.key, 'Theirs')
const organization = await newKey(caller, server.key, { name: 'organisation-wide' })

const provider = await newCredentialProvider(caller, server.key, 'provider of others')
const theirApp = await newApp(caller, theirs.key.key)

interface Victim {
  readonly what: string
  readonly reference: string
  readonly absent: string
}

// Resources that a project key must not reach, by the word before `{id}`, each with an id that never existed.
const victims: Record<string, Victim[]> = {
  projects: [
    { what: 'by id', reference: theirs.project.id, absent: `proj_${'a'.repeat(24)}` },
    { what: 'by name', reference: theirs.project.name, absent: 'Nobody' },
    { what: 'named like mine but for its case', reference: 'mine', absent: 'nine' },
  ],
  api_keys: [
    { what: 'by id', reference: theirs.key.id, absent: `key_${'a'.repeat(24)}` },
    { what: 'by name', reference: theirs.key.name, absent: 'no such key' },
    { what: 'organisation-wide', reference: organization.id, absent: `key_${'b'.repeat(24)}` },
    { what: 'by the id of a project', reference: theirs.project.id, absent: `proj_${'c'.repeat(24)}` },
  ],
  browsers: [
    {
      what: 'by id',
      reference: await newBrowser(caller, theirs.key.key, { name: 'their-session' }),
      absent: 'a'.repeat(24),
    },
    { what: 'by name', reference: 'their-session', absent: 'no-session' },
  ],
  proxies: [
    { what: 'by id', reference: await newProxy(caller, theirs.key.key), absent: 'a'.repeat(24) },
    { what: 'by name', reference: 'their-proxy', absent: 'no-proxy' },
  ],
  browser_pools: [
    {
      what: 'by id',
      reference: await newPool(caller, theirs.key.key, { name: 'their-pool' }),
      absent: 'b'.repeat(24),
    },
    { what: 'by name', reference: 'their-pool', absent: 'no-pool' },
  ],
  extensions: [
    {
      what: 'by id',
      reference: await newExtension(caller, theirs.key.key, 'their-extension'),
      absent: 'b'.repeat(24),
    },
    { what: 'by name', reference: 'their-extension', absent: 'no-extension' },
  ],
  profiles: [
    {
      what: 'by id',
      reference: await newProfile(caller, theirs.key.key, 'their-profile'),
      absent: 'b'.repeat(24),
    },
    { what: 'by name', reference: 'their-profile', absent: 'no-profile' },
  ],
  credentials: [
    {
      what: 'by id',
      reference: await newCredential(caller, theirs.key.key, 'their-credential'),
      absent: `cred_${'b'.repeat(24)}`,
    },
    { what: 'by name', reference: 'their-credential', absent: 'no-credential' },
  ],
  connections: [
    { what: 'by id', reference: await newConnection(caller, theirs.key.key), absent: 'a'.repeat(24) },
  ],
  flows: [{ what: 'by id', reference: await newFlow(caller, theirs.key.key), absent: 'a'.repeat(24) }],
  audit_exports: [
    {
      what: 'by id',
      reference: await newAuditExport(caller, server.key),
      absent: 'a'.repeat(24),
    },
  ],
  destinations: [
    {
      what: 'by id',
      reference: await newDestination(caller, theirs.key.key, 'their-destination'),
      absent: 'b'.repeat(24),
    },
    { what: 'by name', reference: 'their-destination', absent: 'no-destination' },
  ],
  webhooks: [{ what: 'by id', reference: await newWebhook(caller, theirs.key.key), absent: 'b'.repeat(24) }],
  credential_providers: [{ what: 'by id', reference: provider, absent: `credprov_${'a'.repeat(24)}` }],
  deployments: [{ what: 'by id', reference: theirApp.deployments, absent: 'a'.repeat(24) }],
  invocations: [{ what: 'by id', reference: theirApp.invocations, absent: 'a'.repeat(24) }],
}

// Here, because nothing may wait between two tests.
const ownSession = await newBrowser(caller, mine.key.key, { name: 'my-session' })

/** An answer without the fields that differ between requests. */
function comparable({ status, headers, text }: Answer, reference: string): object {
  const { date: _date, 'x-request-id': _id, 'content-length': _length, ...rest } = headers
  return { status, headers: rest, text: text.replaceAll(JSON.stringify(reference).slice(1, -1), '<id>') }
}

const refusals: Partial<Record<Auth, 'forbidden'>> = { 'organization-key': 'forbidden' }

const withId = operations.flatMap((operation) =>
  pathsOf(operation)
    .filter((path) => resourceOf(path) !== undefined)
    .map((path) => ({ operation, path })),
)

for (const { operation, path } of withId) {
  const resource = resourceOf(path)!
  test(`${operation.method} ${path} gives a project key the same answer for another project and for nothing`, async () => {
    const cases = victims[resource]
    assert.ok(cases, `no foreign ${resource} to try; add one`)
    const before = await database.state()
    for (const { what, reference, absent } of cases) {
      const ask = (id: string) =>
        caller.sendAs(mine.key.key, sampleRequest(operation, path, { [resource]: id }))
      const answer = await ask(reference)
      assertError(answer, refusals[operation.auth] ?? 'not_found', what)
      assert.deepEqual(comparable(answer, reference), comparable(await ask(absent), absent), what)
    }
    assert.deepEqual(await database.state(), before)
  })
}

// Ids below one's own resource. Processes and watches are known only inside their instance, and versions are numbers
// of their profile; what the server itself keeps are replays.
const theirSession = victims['browsers']![0]!.reference
const nested = withId.filter(({ path }) => path.includes('/replays/{'))

for (const { operation, path } of nested) {
  const request = (browsers: string, replays: string) => sampleRequest(operation, path, { browsers, replays })

  test(`${operation.method} ${path} finds no replay of another project below one's own session`, async () => {
    const at = `/browsers/${theirSession}/replays`
    const started = await caller.sendJson(theirs.key.key, 'POST', at, {})
    const { replay_id: replays } = started.json as { replay_id: string }
    assert.equal(started.status, 201, started.text)
    const ask = (id: string) => caller.sendAs(mine.key.key, request(ownSession, id))
    const absent = '00000000-0000-4000-8000-000000000000'
    const answer = await ask(replays)
    assertError(answer, 'not_found')
    assert.deepEqual(comparable(answer, replays), comparable(await ask(absent), absent))
    // The owner of the session finds it.
    const found = await caller.sendAs(theirs.key.key, request(theirSession, replays))
    assert.ok(found.status < 300, found.text)
    await caller.sendJson(theirs.key.key, 'POST', `${at}/${replays}/stop`)
    // It is finished in the background, and later tests compare the whole database.
    await eventually('the replay has ended', async () => {
      const { replays: rows } = await database.state()
      return rows!.every((row) => !row.includes(',finishing,'))
    })
  })
}

test('a project key cannot create a key in another project, and learns nothing by trying', async () => {
  const before = await database.state()
  for (const { reference, absent } of victims['projects']!) {
    const make = (project: string) =>
      caller.sendJson(mine.key.key, 'POST', '/org/api_keys', { name: 'spy', project_id: project })
    const answer = await make(reference)
    assertError(answer, 'project_not_found', reference)
    assert.deepEqual(comparable(answer, reference), comparable(await make(absent), absent))
  }
  assert.deepEqual(await database.state(), before)
})

test('lists of a project key show only its own project', async () => {
  const asked = ['', `?query=${theirs.project.name}`, `?name=${theirs.project.name}`, '?offset=1']
  for (const path of ['/org/projects', '/projects']) {
    for (const query of asked) {
      const answer = await caller.sendJson(mine.key.key, 'GET', path + query)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(
        (answer.json as Project[]).map(({ id }) => id),
        query === '' ? [mine.project.id] : [],
        query,
      )
    }
  }
})

test('lists of a project key show only keys of its own project', async () => {
  const deleted = await newKey(caller, theirs.key.key, { name: 'theirs, deleted' })
  assert.equal((await caller.sendJson(theirs.key.key, 'DELETE', `/org/api_keys/${deleted.id}`)).status, 204)
  const search = [
    theirs.key.id,
    theirs.key.name,
    theirs.key.masked_key,
    theirs.project.name,
    organization.name,
  ]
  const queries = [
    ...search.map((text) => `query=${encodeURIComponent(text)}`),
    ...search.map((text) => `name=${encodeURIComponent(text)}`),
    'status=all&limit=100',
    'status=deleted',
    'include_deleted=true',
    'sort_by=expires_at',
  ]
  for (const query of queries) {
    const answer = await caller.sendJson(mine.key.key, 'GET', `/org/api_keys?${query}`)
    assert.equal(answer.status, 200, answer.text)
    for (const key of answer.json as ApiKey[]) assert.equal(key.project_id, mine.project.id, query)
  }
})

test('lists of a project key show only proxies of its own project, and it cannot use others', async () => {
  const [proxy] = victims['proxies']!
  for (const query of ['', `?query=${proxy!.reference}`, '?query=proxy', '?limit=100']) {
    const answer = await caller.sendJson(mine.key.key, 'GET', `/proxies${query}`)
    assert.deepEqual([answer.status, answer.text], [200, '[]'], query)
  }
  const before = await database.state()
  const own = await newBrowser(caller, mine.key.key, { name: 'own' })
  for (const id of [proxy!.reference, proxy!.absent]) {
    const made = await caller.sendJson(mine.key.key, 'POST', '/browsers', { proxy_id: id })
    assertError(made, 'bad_request', id)
    const changed = await caller.sendJson(mine.key.key, 'PATCH', `/browsers/${own}`, { proxy_id: id })
    assertError(changed, 'bad_request', id)
    assert.match(changed.text, /proxy_id: names no proxy of the project/)
  }
  // A key of the organisation sees both projects, but a session and its proxy must be in the same one.
  const mixed = await caller.sendJson(server.key, 'PATCH', `/browsers/${own}`, { proxy_id: proxy!.reference })
  assertError(mixed, 'bad_request')
  assert.equal((await caller.sendJson(mine.key.key, 'DELETE', `/browsers/${own}`)).status, 204)
  assert.deepEqual((await database.state())['proxies'], before['proxies'])
})

test('extensions of another project are neither listed nor loaded', async () => {
  const extension = await newExtension(caller, mine.key.key, 'my-extension')
  for (const query of ['', '?query=extension', '?name=their-extension', '?limit=100']) {
    const answer = await caller.sendJson(mine.key.key, 'GET', `/extensions${query}`)
    const seen = (answer.json as { id: string }[]).map(({ id }) => id)
    assert.deepEqual(seen, query === '?name=their-extension' ? [] : [extension], query)
  }
  // A key of the organisation sees those of all projects, or of the one it names.
  const all = await caller.sendJson(organization.key, 'GET', '/extensions')
  assert.equal((all.json as object[]).length, 2)
  const one = {
    method: 'GET',
    path: '/extensions',
    headers: [['X-Kernel-Project-Id', mine.project.id]],
  } as const
  assert.equal(((await caller.sendAs(organization.key, one)).json as object[]).length, 1)
  for (const [id, name] of victims['extensions']!.map(({ reference }) => [reference, reference])) {
    for (const reference of [{ id }, { name }]) {
      const body = { headless: true, extensions: [reference] }
      const answer = await caller.sendJson(mine.key.key, 'POST', '/browsers', body)
      assert.match(assertError(answer, 'bad_request').message, /extensions\.0: names/)
    }
  }
})

test('credentials of another project are not listed', async () => {
  const own = await newCredential(caller, mine.key.key, 'my-credential')
  for (const query of ['', '?query=credential', '?domain=sample.example', '?limit=100']) {
    const answer = await caller.sendJson(mine.key.key, 'GET', `/credentials${query}`)
    const seen = (answer.json as { id: string }[]).map(({ id }) => id)
    assert.deepEqual(seen, [own], query)
  }
  // Each project may use the name, and the name refers to the requested project.
  const same = await newCredential(caller, mine.key.key, 'their-credential')
  const found = await caller.sendJson(mine.key.key, 'GET', '/credentials/their-credential')
  assert.equal((found.json as { id: string }).id, same)
})

test('the audit log of a project key shows only requests in its project', async () => {
  await caller.sendJson(theirs.key.key, 'GET', '/org/projects/asked-by-them')
  await caller.sendJson(organization.key, 'GET', '/org/projects/asked-by-the-organisation')
  await caller.sendJson(mine.key.key, 'GET', '/org/projects/asked-by-me')
  const now = Date.now()
  const start = new Date(now - 3_600_000).toISOString()
  const end = new Date(now + 3_600_000).toISOString()
  for (const path of ['/audit-logs?', '/audit-logs/export/chunk?format=jsonl&']) {
    for (const filter of ['', '&search=asked-by', `&search_user_id=operator`]) {
      const query = `${path}start=${start}&end=${end}${filter}`
      const answer = await caller.sendJson(mine.key.key, 'GET', query)
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.text, /asked-by-me/)
      assert.doesNotMatch(answer.text, /asked-by-them|asked-by-the-organisation/)
    }
  }
})

const aboveAProject: [what: string, method: string, path: string, body?: object][] = [
  ['create an organisation-wide key', 'POST', '/org/api_keys', { name: 'x', project_id: null }],
  [
    'change the limits of the organisation',
    'PATCH',
    '/org/limits',
    { default_project_max_concurrent_sessions: 1 },
  ],
  ['change its own limits', 'PATCH', `/org/projects/${mine.project.id}/limits`, { max_pooled_sessions: 1 }],
  ['change its own limits at the other path', 'PATCH', `/projects/${mine.project.id}/limits`, {}],
  ['create a project', 'POST', '/org/projects', { name: 'x' }],
  ['create a project at the other path', 'POST', '/projects', { name: 'x' }],
  ['archive its own project', 'PATCH', `/org/projects/${mine.project.id}`, { status: 'archived' }],
  ['archive another project', 'PATCH', `/org/projects/${theirs.project.id}`, { status: 'archived' }],
  ['restore a project', 'PATCH', `/projects/${mine.project.id}`, { status: 'active' }],
  ['delete its own project', 'DELETE', `/org/projects/${mine.project.id}`],
  ['delete its own project by name', 'DELETE', `/projects/${mine.project.name}`],
  ['read the metrics', 'GET', '/metrics'],
]

for (const [what, method, path, body] of aboveAProject) {
  test(`a project key cannot ${what}`, async () => {
    const before = await database.state()
    assertError(await caller.sendJson(mine.key.key, method, path, body), 'forbidden')
    assert.deepEqual(await database.state(), before)
  })
}

test('a project key that names no project creates a key of its own project', async () => {
  for (const body of [{ name: 'implied' }, { name: 'said', project_id: mine.project.id }]) {
    const key = await newKey(caller, mine.key.key, body)
    assert.equal(key.project_id, mine.project.id)
  }
})

test('a body cannot choose the caller or the project', async () => {
  for (const field of ['id', 'org_id', 'created_by', 'created_at', 'masked_key', 'key', 'is_default']) {
    for (const path of ['/org/projects', '/org/api_keys']) {
      const body = { name: `with ${field}`, [field]: theirs.project.id }
      const answer = await caller.sendJson(server.key, 'POST', path, body)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.headers['x-berth-ignored'], field)
      assert.ok(!answer.text.includes(theirs.project.id), answer.text)
    }
  }
})
