// The stream of what changed, with real servers and their PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { changeKinds, MAX_CHANGED_IDS } from '@berth/contracts/changes'
import { client84 } from '../client/versions.ts'
import { ChangeFollower } from '../fixtures/changes.ts'
import { FaultProxy } from '../fixtures/fault-proxy.ts'
import { newFleet } from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import { createPool } from '../fixtures/pools.ts'
import { databaseUrl, startPostgres } from '../fixtures/postgres.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, metric, query, send } from '../fixtures/sessions.ts'

interface Made {
  readonly id: string
  readonly key: string
}

async function make(server: TestServer, path: string, body: object, key?: string): Promise<Made> {
  const response = await server.fetch(path, {
    method: 'POST',
    ...(key !== undefined && { key }),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  assert.ok(response.status < 300, text)
  return JSON.parse(text) as Made
}

async function newTenant(server: TestServer, name: string) {
  const project = await make(server, '/org/projects', { name })
  const { key } = await make(server, '/org/api_keys', { name, project_id: project.id })
  return { project, key, make: (path: string, body: object) => make(server, path, body, key) }
}

/** How often a server that is followed looks at its sessions. */
const LOOK_MS = 1_000
const session = { headless: true, timeout_seconds: 300 }

test('a follower hears of sessions that begin, go on standby and end, and of lists that change', async (t) => {
  const server = await startServer(t)
  const follower = await ChangeFollower.open(t, server)
  assert.ok(follower.seen[0]!.kinds!.includes('browser'))

  const { session_id: id } = await createSession(server)
  await follower.hears('browser', id)
  // As the server of the session stores it, without an announcement.
  let from = follower.seen.length
  await query(server, "UPDATE browsers SET state = 'standby' WHERE id = $1", [id])
  await follower.hears('browser', id, from)
  from = follower.seen.length
  await send(server, 'PATCH', `/browsers/${id}`, { name: 'renamed' })
  await follower.hears('browser', id, from)
  const recording = await send<{ replay_id: string }>(server, 'POST', `/browsers/${id}/replays`, {})
  await follower.hears('replay', recording.body.replay_id)
  from = follower.seen.length
  await send(server, 'DELETE', `/browsers/${id}`)
  await follower.hears('browser', id, from)

  const profile = await make(server, '/profiles', { name: 'one' })
  await follower.hears('profile', profile.id)
  from = follower.seen.length
  await send(server, 'DELETE', `/profiles/${profile.id}`)
  await follower.hears('profile', profile.id, from)
  const proxy = await make(server, '/proxies', {
    type: 'custom',
    config: { host: 'proxy.invalid', port: 80 },
  })
  await follower.hears('proxy', proxy.id)
  const credential = await make(server, '/credentials', {
    name: 'c',
    domain: 'a.example',
    values: { password: 'x' },
  })
  await follower.hears('credential', credential.id)
  const connection = await make(server, '/auth/connections', { domain: 'a.example', profile_name: 'two' })
  await follower.hears('auth_connection', connection.id)
  const pool = await createPool(server, { name: 'pool', size: 1 })
  await follower.hears('browser_pool', pool.id)
  const project = await make(server, '/org/projects', { name: 'p' })
  await follower.hears('project', project.id)
  const key = await make(server, '/org/api_keys', { name: 'k' })
  await follower.hears('api_key', key.id)
  await send(server, 'PATCH', '/org/limits', { default_project_max_concurrent_sessions: 3 })
  await follower.until('the limits', ({ kind }) => kind === 'organization')
})

test('a follower of one project never hears an id of another', async (t) => {
  const server = await startServer(t)
  const mine = await newTenant(server, 'mine')
  const theirs = await newTenant(server, 'theirs')
  const all = await ChangeFollower.open(t, server)
  const byKey = await ChangeFollower.open(t, server, { key: mine.key })
  const byHeader = await ChangeFollower.open(t, server, {
    headers: { 'X-Kernel-Project-Id': mine.project.id },
  })

  const secret: [kind: string, id: string][] = [['project', theirs.project.id]]
  const seen: [kind: string, id: string][] = []
  for (const [tenant, into] of [
    [theirs, secret],
    [mine, seen],
  ] as const) {
    into.push([
      'browser',
      ((await tenant.make('/browsers', session)) as unknown as { session_id: string }).session_id,
    ])
    into.push(['profile', (await tenant.make('/profiles', { name: 'x' })).id])
    into.push(['browser_pool', (await tenant.make('/browser_pools', { size: 1, headless: true })).id])
    into.push([
      'auth_connection',
      (await tenant.make('/auth/connections', { domain: 'a.example', profile_name: 'y' })).id,
    ])
    into.push(['api_key', (await tenant.make('/org/api_keys', { name: 'another' })).id])
  }
  // Ends are announced by the id alone, so the server has to find out whose it is.
  const [[, theirSession], [, mySession]] = [secret[1]!, seen[0]!]
  await send(server, 'DELETE', `/browsers/${theirSession}`)
  await send(server, 'DELETE', `/browsers/${mySession}`)
  await send(server, 'PATCH', `/org/projects/${theirs.project.id}`, { name: 'renamed' })
  await send(server, 'PATCH', `/org/projects/${mine.project.id}`, { name: 'still mine' })
  seen.push(['project', mine.project.id])

  for (const [kind, id] of [...secret, ...seen]) await all.hears(kind, id)
  for (const follower of [byKey, byHeader]) {
    for (const [kind, id] of seen) await follower.hears(kind, id)
    for (const [kind, id] of secret) assert.ok(!follower.text.includes(id), `${kind}: ${follower.text}`)
  }

  // What belongs to the organisation is there for projects, but what changed is not theirs to know.
  await send(server, 'PATCH', '/org/limits', { default_project_max_concurrent_sessions: 3 })
  const shared = await byKey.until('the limits', ({ kind }) => kind === 'organization')
  assert.equal(shared.ids, null)
})

test('a key with scopes hears only of what it may read', async (t) => {
  const server = await startServer(t)
  const { key } = await make(server, '/org/api_keys', {
    name: 'profiles only',
    scopes: ['profiles:read', 'api_keys:write'],
  })
  const limited = await ChangeFollower.open(t, server, { key })
  const all = await ChangeFollower.open(t, server)
  assert.deepEqual(limited.seen[0]!.kinds, ['profile', 'api_key'])
  assert.deepEqual(all.seen[0]!.kinds, changeKinds)
  const { session_id: id } = await createSession(server)
  await all.hears('browser', id)
  const profile = await make(server, '/profiles', { name: 'one' })
  await limited.hears('profile', profile.id)
  assert.deepEqual(
    limited.seen.map(({ kind }) => kind),
    ['hello', 'profile'],
  )
})

test('many changes are few events, and of too many only the kind is told', async (t) => {
  const server = await startServer(t)
  const follower = await ChangeFollower.open(t, server)
  const [project] = await query<{ id: string }>(server, 'SELECT id FROM projects')
  const insert = (prefix: string, count: number) =>
    query(
      server,
      `INSERT INTO profiles (id, project_id, name)
        SELECT $1 || n, $2, $1 || n FROM generate_series(1, $3::int) AS n`,
      [prefix, project!.id, count],
    )
  await insert('few', MAX_CHANGED_IDS)
  const few = await follower.until('some profiles', ({ kind }) => kind === 'profile')
  assert.equal(few.ids?.length, MAX_CHANGED_IDS)
  await insert('many', MAX_CHANGED_IDS + 1)
  const many = await follower.until('many profiles', ({ kind, ids }) => kind === 'profile' && ids === null)
  await insert('toomany', 2_000)
  await follower.until(
    'too many',
    (event) => event.kind === 'profile' && event.at > many.at && event.ids === null,
  )

  const from = follower.seen.length
  const start = performance.now()
  for (let n = 0; n < 40; n++) {
    await query(server, 'UPDATE profiles SET name = $1 WHERE id = $2', [`again${n}`, 'few1'])
  }
  await make(server, '/profiles', { name: 'last' })
  await follower.until('the last', (event) => event.kind === 'profile' && event.at > start, from)
  const batches = follower.seen.slice(from).length
  assert.ok(batches <= 2 + (performance.now() - start) / 450, `${batches} events`)
})

test('followers of another server hear the same', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([start(), start()])
  const follower = await ChangeFollower.open(t, other)
  const { session_id: id } = await createSession(one)
  await follower.hears('browser', id)
  const from = follower.seen.length
  await send(one, 'DELETE', `/browsers/${id}`)
  await follower.hears('browser', id, from)
  const profile = await make(one, '/profiles', { name: 'from the other server' })
  await follower.hears('profile', profile.id)
})

test('a stream ends with its key, and with the server', async (t) => {
  const server = await startServer(t)
  const made = await make(server, '/org/api_keys', { name: 'short-lived' })
  const follower = await ChangeFollower.open(t, server, { key: made.key })
  const other = await ChangeFollower.open(t, server)
  await send(server, 'DELETE', `/org/api_keys/${made.id}`)
  await follower.ended
  assert.equal((await server.fetch('/changes', { key: made.key })).status, 401)
  await other.hears('api_key', made.id)
  await Promise.all([other.ended, server.stop('SIGTERM')])
})

test('nothing is read while nobody follows, and a server has room for 200, 50 of them for one project', async (t) => {
  const server = await startServer(t, { env: { BERTH_RATE_LIMIT_PER_MINUTE: '100000' } })
  const admin = client84(server)
  const names = ['first', 'second', 'third', 'fourth']
  const projects = await Promise.all(names.map((name) => admin.projects.create({ name })))
  const followers: ChangeFollower[] = []
  const isRefused = async (headers: Record<string, string>) => {
    const { status, body, headers: answered } = await send(server, 'GET', '/changes', undefined, headers)
    assert.equal(status, 429)
    assert.equal(body.code, 'too_many_requests')
    assert.ok(answered.get('retry-after'))
    return body.message!
  }
  for (const headers of [{}, ...projects.slice(1).map(inProject)]) {
    const open = () => ChangeFollower.open(t, server, { headers })
    followers.push(...(await Promise.all(Array.from({ length: 50 }, open))))
    if (followers.length < 200) assert.match(await isRefused(headers), /50 others .* same project/)
  }
  assert.equal(await metric(server, 'berth_change_readers'), 200)
  assert.match(await isRefused(inProject(projects[0]!)), /200 others .* on this server/)
  await Promise.all(followers.map((follower) => follower.leave()))
  await eventually('all have left', async () => (await metric(server, 'berth_change_readers')) === 0)

  const again = await ChangeFollower.open(t, server)
  const before = await readsOfRecordings(server)
  await eventually('it is read while somebody follows', async () => {
    return (await readsOfRecordings(server)) > before + 1
  })
  await again.leave()
  await eventually('nothing is read any more', async () => {
    const then = await readsOfRecordings(server)
    await setTimeout(3 * LOOK_MS)
    return (await readsOfRecordings(server)) === then
  })
})

const inProject = ({ id }: { id: string }) => ({ 'x-kernel-project-id': id })

/** How often unfinished recordings were looked for, whichever way PostgreSQL did it. */
async function readsOfRecordings(server: TestServer): Promise<number> {
  const [row] = await query<{ scans: string }>(
    server,
    "SELECT seq_scan + coalesce(idx_scan, 0) AS scans FROM pg_stat_user_tables WHERE relname = 'replays'",
  )
  return Number(row!.scans)
}

test('after an outage of the database, and of the announcements alone, followers get hello', async (t) => {
  const postgres = await startPostgres(t)
  const proxy = await FaultProxy.start(t, postgres.socketDir)
  const server = await startServer(t, { env: { DATABASE_URL: databaseUrl(proxy.socketDir) } })
  const follower = await ChangeFollower.open(t, server)
  const hello = (from: number) => follower.until('hello again', ({ kind }) => kind === 'hello', from)

  let from = follower.seen.length
  await proxy.refuse()
  await eventually('it is out', async () => (await server.fetch('/ready', { key: null })).status === 503)
  await proxy.accept()
  await hello(from)

  from = follower.seen.length
  await query(
    { dataDir: server.dataDir, databaseUrl: databaseUrl(postgres.socketDir) },
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'berth-listener'",
  )
  await hello(from)
  const profile = await make(server, '/profiles', { name: 'after' })
  await follower.hears('profile', profile.id)
})
