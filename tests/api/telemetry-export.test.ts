// Destinations of telemetry: their rules, their secrets, who may use them, and the deliveries to collectors. Instances
// are fake, so the events are the servers' own.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import type { OtlpDestination } from '@berth/contracts/telemetry-destinations'
import { openDatabase } from '@berth/server/platform/database/database'
import { dropOldest } from '@berth/server/sessions/telemetry/store'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { newTenant } from '../conformance/fixture-keys.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { NOWHERE, UNASSIGNED } from '../fixtures/addresses.ts'
import { startDnsServer } from '../fixtures/dns-server.ts'
import { eventually } from '../fixtures/host.ts'
import { asSeen, mayReachCollectors, OtlpCollector } from '../fixtures/otlp-collector.ts'
import { partialSuccess } from '../fixtures/otlp.ts'
import { acquire, createPool, filled, release } from '../fixtures/pools.ts'
import { startServer } from '../fixtures/server.ts'
import { metric, send } from '../fixtures/sessions.ts'
import type { SeenEvent } from '../fixtures/telemetry.ts'
import { holds } from '../hostile/secret-search.ts'

const owner = { after }
const names: Record<string, readonly string[]> = {
  'public.example': [UNASSIGNED],
  'private.example': ['10.1.2.3'],
  'moving.example': [UNASSIGNED],
  'absent.example': [],
}
const dns = await startDnsServer(owner, { names, ttl: 0 })
const server = await startServer(owner, {
  env: { ...mayReachCollectors, BERTH_DNS_SERVERS: dns.address, BERTH_MAX_CONCURRENT_SESSIONS: '50' },
})
const database = await ServerDatabase.open(owner, server)
const connections = openDatabase(
  { connectionString: server.databaseUrl! },
  { size: 1, log: pino({ level: 'silent' }) },
)
after(() => connections.close())
const on = { enabled: true }

let made = 0
const create = (body: object, headers = {}) =>
  send<OtlpDestination>(
    server,
    'POST',
    '/telemetry/destinations',
    { name: `destination ${++made}`, endpoint: NOWHERE, ...body },
    headers,
  )
async function destination(body: object = {}): Promise<OtlpDestination> {
  const answer = await create(body)
  assert.equal(answer.status, 201, answer.body.message)
  return answer.body
}
const read = async (id: string) =>
  (await send<OtlpDestination>(server, 'GET', `/telemetry/destinations/${id}`)).body
const change = (id: string, body: object) =>
  send<OtlpDestination>(server, 'PATCH', `/telemetry/destinations/${encodeURIComponent(id)}`, body)
const remove = (id: string) => send(server, 'DELETE', `/telemetry/destinations/${id}`)

const list = async (search: string) =>
  (await send<OtlpDestination[]>(server, 'GET', `/telemetry/destinations?${search}`)).body.map(({ id }) => id)

interface Exporting {
  readonly session_id: string
  readonly telemetry?: { readonly browser?: object; readonly export?: unknown }
}
const createSession = (telemetry: object) =>
  send<Exporting>(server, 'POST', '/browsers', { headless: true, timeout_seconds: 600, telemetry })
async function sessionTo(ref: object): Promise<string> {
  const answer = await createSession({ enabled: true, export: { otlp: { destination: ref } } })
  assert.equal(answer.status, 200, answer.body.message)
  return answer.body.session_id
}
/** Each call is an event. */
const act = async (id: string, count = 1) => {
  for (let done = 0; done < count; done++) {
    await send(server, 'GET', `/browsers/${id}/fs/file_info?path=/`)
  }
}
const eventsOf = async (id: string) =>
  (await send<SeenEvent[]>(server, 'GET', `/browsers/${id}/telemetry/events?limit=100&since=1h`)).body

test('a destination has the fields of the reference, and never shows the values of its headers', async () => {
  const secret = 'Bearer sk_0123456789abcdefABCDEF'
  const created = await destination({
    name: 'Café collector',
    endpoint: 'https://public.example/otlp',
    headers: { authorization: secret, 'X-SCOPE': 'tenant-1' },
    description: 'for the tests',
  })
  const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = created
  assert.match(id, /^[a-z][a-z0-9]{23}$/)
  assert.ok(Date.parse(createdAt) <= Date.parse(updatedAt))
  assert.deepEqual(rest, {
    name: 'Café collector',
    endpoint: 'https://public.example/otlp',
    headers: { Authorization: '', 'X-Scope': '' },
    description: 'for the tests',
    delivery: {
      consecutive_failures: 0,
      backlog_events: 0,
      delivered_events: 0,
      rejected_events: 0,
      expired_events: 0,
    },
  })
  assert.deepEqual(await read(id), created)
  assert.deepEqual(await read(encodeURIComponent('CAFE COLLECTOR')), created)
  const rows = (await database.dump())['telemetry_destinations']!.join('\n')
  assert.ok(!holds(rows, secret) && !rows.includes(Buffer.from(secret).toString('hex')))
  assert.ok(!server.output().includes(secret))
})

test('what cannot be a destination is refused by the name of its field', async () => {
  const cases: [field: string, body: object][] = [
    ['name', { name: ' ' }],
    ['name', { name: 'a'.repeat(24) }],
    ['endpoint', { endpoint: 'collector.example' }],
    ['endpoint', { endpoint: `${NOWHERE}/?a=b` }],
    ['endpoint', { endpoint: `${NOWHERE}/v1/logs` }],
    ['endpoint', { endpoint: 'http://u:p@127.0.0.1:9' }],
    ['endpoint', { endpoint: 'http://10.0.0.1:4318' }],
    ['endpoint', { endpoint: 'http://[::ffff:10.0.0.1]:4318' }],
    ['endpoint', { endpoint: 'http://169.254.169.254' }],
    ['endpoint', { endpoint: 'http://private.example' }],
    ['endpoint', { endpoint: 'http://absent.example' }],
    ['headers', { headers: { 'a b': 'c' } }],
    ['headers', { headers: { Host: 'c' } }],
    ['headers', { headers: { 'X-A': 'b', 'x-a': 'c' } }],
    ['headers', { headers: { 'X-A': 'b\r\nX-B: c' } }],
    ['headers', { headers: { 'X-A': 'b'.repeat(8192) } }],
  ]
  for (const [field, body] of cases) {
    const answer = await create(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.body.message!, new RegExp(`${field}\\b`), JSON.stringify(body))
  }
})

test('names are unique in a project without regard to case and accents, and lists filter', async () => {
  const first = await destination({ name: 'Étoile', endpoint: 'https://public.example/star' })
  const again = await create({ name: 'etoile' })
  assert.equal(again.status, 409)
  assert.equal(again.body.code, 'already_exists')
  const second = await destination({ name: 'Étoile 2' })
  const renamed = await change(second.id, { name: 'ÉTOILE' })
  assert.equal(renamed.status, 409)
  assert.deepEqual(await list('name=ETOILE'), [first.id])
  assert.deepEqual(await list('query=toile'), [second.id, first.id])
  assert.deepEqual(await list('query=etoile%202'), [second.id])
  assert.deepEqual(await list('query=example/star'), [first.id])
  assert.deepEqual(await list(`query=${first.id}`), [first.id])
  assert.deepEqual(await list('query=%25'), [])
  assert.deepEqual(await list('query=toile&limit=1&offset=1'), [first.id])
})

test('a change sets, removes and keeps; running sessions use it at once', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id, name } = await destination({
    endpoint: collector.url,
    headers: { 'X-Kept': 'kept', 'X-Changed': 'old', 'X-Gone': 'gone' },
    description: 'old',
  })
  const session = await sessionTo({ id })
  await act(session)
  await collector.until('the first event', ({ events }) => events.length > 0)
  assert.equal(collector.requests.at(-1)!.headers['x-changed'], 'old')
  const changed = await change(name.toUpperCase(), {
    headers: { 'x-changed': 'new', 'X-GONE': null, 'X-Added': 'added' },
    description: '',
  })
  assert.deepEqual(changed.body.headers, { 'X-Added': '', 'X-Changed': '', 'X-Kept': '' })
  assert.equal(changed.body.description, undefined)
  const before = collector.requests.length
  await act(session)
  await collector.until('another request', ({ requests }) => requests.length > before)
  const { headers, path } = collector.requests.at(-1)!
  assert.deepEqual(
    [headers['x-kept'], headers['x-changed'], headers['x-gone'], headers['x-added']],
    ['kept', 'new', undefined, 'added'],
  )
  assert.equal(path, '/v1/logs')
  assert.equal(headers['content-type'], 'application/x-protobuf')
  assert.equal((await change(id, { headers: { 'X-Kept': '' } })).status, 400)
  assert.equal((await change(id, { headers: { 'X-More': 'x'.repeat(8180) } })).status, 400)
})

test('a session says where it exports, and only with capture in the same request', async () => {
  const { id, name } = await destination()
  const shown = { otlp: { enabled: true, destination: id } }
  const created = await createSession({ enabled: true, export: { otlp: { destination: { name } } } })
  assert.deepEqual(created.body.telemetry!.export, shown)
  const path = `/browsers/${created.body.session_id}`
  const update = async (telemetry: object) => {
    const answer = await send<Exporting>(server, 'PATCH', path, { telemetry })
    return answer.status === 200 ? (answer.body.telemetry?.export ?? null) : answer.body.message
  }
  assert.deepEqual(await update({ browser: { console: on } }), shown, 'it stays')
  assert.equal(await update({ export: { otlp: { enabled: false } } }), null)
  assert.match(JSON.stringify(await update({ export: { otlp: { enabled: true } } })), /needs a destination/)
  assert.match(JSON.stringify(await update({ export: { otlp: { destination: { id } } } })), /same request/)
  assert.deepEqual(await update({ enabled: true, export: { otlp: { destination: { id } } } }), shown)
  assert.deepEqual(await update({ export: { otlp: { enabled: true } } }), shown)
  assert.equal(await update({ enabled: false }), null, 'without capture there is no export')

  for (const [otlp, message] of [
    [{ destination: { id }, enabled: false }, /enabled: false/],
    [{ destination: {} }, /either id or name/],
    [{ destination: { id, name } }, /either id or name/],
    [{ destination: { name: 'nobody' } }, /names no telemetry destination/],
    [{ enabled: true }, /needs a destination/],
  ] as const) {
    const answer = await createSession({ enabled: true, export: { otlp } })
    assert.equal(answer.status, 400, JSON.stringify(otlp))
    assert.match(answer.body.message!, message)
  }
  const silent = await createSession({ export: { otlp: { destination: { id } } } })
  assert.match(silent.body.message!, /same request/)
})

test('a destination in use stays, and one that is deleted is forgotten with its secrets', async () => {
  const { id, name } = await destination({ headers: { 'X-Key': 'secret' } })
  const session = await sessionTo({ name })
  const refused = await remove(id)
  assert.equal(refused.status, 409)
  assert.match(refused.body.message!, /1 browser sessions export to it/)
  await send(server, 'DELETE', `/browsers/${session}`)
  assert.equal((await remove(encodeURIComponent(name))).status, 204)
  assert.equal((await remove(id)).status, 204)
  assert.equal((await send(server, 'GET', `/telemetry/destinations/${id}`)).status, 404)
  assert.equal((await remove(encodeURIComponent(name))).status, 404)
  const rows = await database.run(
    'SELECT sealed_headers, (SELECT count(*)::int FROM telemetry_exports WHERE destination_id = $1) AS waiting FROM telemetry_destinations WHERE id = $1',
    [id],
  )
  assert.deepEqual(rows, [{ sealed_headers: null, waiting: 0 }])
  assert.equal((await create({ name })).status, 201, 'the name is free again')
})

test('an auth connection keeps its destination, and the name that it selects it by', async () => {
  const byName = await destination()
  const byId = await destination()
  for (const [index, ref] of [{ name: byName.name.toUpperCase() }, { id: byId.id }].entries()) {
    const answer = await send(server, 'POST', '/auth/connections', {
      domain: 'example.com',
      profile_name: `exporting-${index}`,
      browser_telemetry: { enabled: true, export: { otlp: { destination: ref } } },
    })
    assert.equal(answer.status, 201, answer.body.message)
  }
  const unknown = await send(server, 'POST', '/auth/connections', {
    domain: 'example.com',
    profile_name: 'exporting-nowhere',
    browser_telemetry: { enabled: true, export: { otlp: { destination: { name: 'nobody' } } } },
  })
  assert.equal(unknown.status, 400)
  assert.match(unknown.body.message!, /names no telemetry destination/)
  for (const { id } of [byName, byId]) assert.equal((await remove(id)).status, 409)
  const renamed = await change(byName.id, { name: 'another name' })
  assert.equal(renamed.status, 409)
  assert.match(renamed.body.message!, /select it by name/)
  assert.equal((await change(byName.id, { description: 'but this' })).status, 200)
  assert.equal((await change(byId.id, { name: 'yet another name' })).status, 200)
})

test('one project neither sees nor uses the destinations of another', async () => {
  const caller = new HttpCaller(owner, server.url)
  const mine = await newTenant(caller, server.key, 'Exporter')
  const theirs = await destination({ name: 'of the default project' })
  const own = await caller.sendJson(mine.key.key, 'POST', '/telemetry/destinations', {
    name: 'of the default project',
    endpoint: NOWHERE,
  })
  assert.equal(own.status, 201, 'the same name in another project')
  const listed = await caller.sendJson(mine.key.key, 'GET', '/telemetry/destinations')
  assert.deepEqual(
    (listed.json as OtlpDestination[]).map(({ id }) => id),
    [(own.json as OtlpDestination).id],
  )
  const used = await caller.sendJson(mine.key.key, 'POST', '/browsers', {
    headless: true,
    telemetry: { enabled: true, export: { otlp: { destination: { id: theirs.id } } } },
  })
  assert.equal(used.status, 400)
  assert.match(used.text, /names no telemetry destination/)
})

test('a project with a destination cannot be deleted', async () => {
  const project = await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'with a destination' })
  const { id } = (await create({}, { 'x-kernel-project-id': project.body.id })).body
  const refused = await send(server, 'DELETE', `/org/projects/${project.body.id}`)
  assert.match(refused.body.message!, /1 telemetry destinations/)
  assert.equal((await remove(id)).status, 204)
  assert.equal((await send(server, 'DELETE', `/org/projects/${project.body.id}`)).status, 204)
})

test('pools refuse an export; a lease exports until it ends', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: collector.url })
  const telemetry = { enabled: true, export: { otlp: { destination: { id } } } }
  const refused = await send(server, 'POST', '/browser_pools', { size: 1, headless: true, telemetry })
  assert.equal(refused.status, 400)
  assert.match(refused.body.message!, /telemetry\.export.*acquire/)
  const pool = await createPool(server, { size: 1 })
  await filled(server, pool, 1)
  const leased = await acquire(server, pool, { telemetry })
  await act(leased.session_id, 3)
  await collector.until('its events', ({ events }) => events.length === 3)
  await release(server, leased)
  await filled(server, pool, 1)
  const next = await acquire(server, pool, { telemetry: { enabled: true } })
  assert.equal(next.session_id, leased.session_id)
  const shown = await send<Exporting>(server, 'GET', `/browsers/${next.session_id}`)
  assert.equal(shown.body.telemetry!.export, undefined)
  await act(next.session_id)
  await eventually('an event of the next lease', async () => (await eventsOf(next.session_id)).length === 4)
  const other = await sessionTo({ id })
  await act(other)
  await collector.until('a later event', () => collector.of(other).length === 1)
  assert.equal(collector.of(leased.session_id).length, 3)
})

test('each event arrives as Berth shows it, also those stored before the session ended', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: `${collector.url}/some/base/` })
  const sessions = [await sessionTo({ id }), await sessionTo({ id })]
  await Promise.all(sessions.map((session) => act(session, 30)))
  await send(server, 'DELETE', `/browsers/${sessions[0]}`)
  for (const session of sessions) {
    const isWhole = async () => collector.of(session).length === (await eventsOf(session)).length
    await collector.until('its events', () => collector.of(session).length >= 30)
    await eventually('all of them', isWhole)
    assert.deepEqual(collector.of(session).map(asSeen), await eventsOf(session))
  }
  assert.equal(collector.requests[0]!.path, '/some/base/v1/logs')
  const count = sessions.reduce((sum, session) => sum + collector.of(session).length, 0)
  assert.equal(collector.events.length, count, 'each once')
  await eventually('it has counted them', async () => (await read(id)).delivery.delivered_events === count)
  const { delivery } = await read(id)
  assert.equal(delivery.backlog_events, 0)
  assert.ok(delivery.last_success_at)
  const isForgotten = async () =>
    (await database.run('SELECT 1 FROM telemetry_exports WHERE session_id = $1', [sessions[0]])).length === 0
  await eventually('nothing is kept of the ended session', isForgotten, 30_000)
  assert.ok((await metric(server, 'berth_telemetry_exported_events_total{result="delivered"}')) >= 60)
})

test('a busy collector is asked again when it says, and all events arrive once', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: collector.url })
  const statuses = [429, 503, 502, 504]
  collector.reply = () => {
    const status = statuses.shift() ?? 200
    return { status, headers: { ...(status === 429 && { 'retry-after': '3' }) } }
  }
  const session = await sessionTo({ id })
  await act(session, 5)
  await collector.until('one refusal', ({ requests }) => requests.length === 1)
  await eventually('the failure shows', async () => (await read(id)).delivery.consecutive_failures === 1)
  const failing = (await read(id)).delivery
  assert.equal(failing.last_error, 'The collector answered 429')
  assert.ok(failing.backlog_events > 0 && failing.last_error_at && failing.next_attempt_at)
  await collector.until('all events', () => collector.of(session).length === 5, 40_000)
  assert.deepEqual(collector.of(session).map(asSeen), await eventsOf(session))
  assert.equal(collector.events.length, 5)
  const [first, second] = collector.requests
  assert.ok(second!.at - first!.at >= 3000, 'not before the time that it asked for')
  await eventually('health is back', async () => (await read(id)).delivery.consecutive_failures === 0)
})

test('events that a collector refuses are counted and not sent again; the next ones are', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: collector.url })
  const session = await sessionTo({ id })
  collector.reply = () => ({ status: 400 })
  await act(session, 2)
  await eventually('they are refused', async () => (await read(id)).delivery.rejected_events === 2)
  assert.match((await read(id)).delivery.last_error!, /answered 400; the events .* not sent again/)
  collector.reply = () => ({ body: partialSuccess(1, 'one is too old') })
  await act(session, 3)
  await eventually('one of three is refused', async () => (await read(id)).delivery.rejected_events === 3)
  assert.equal((await read(id)).delivery.delivered_events, 2)
  assert.deepEqual(
    collector.of(session).map(({ seq }) => seq),
    [3, 4, 5],
  )
})

test('a request that is too large is split', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: collector.url })
  collector.reply = ({ events }) => ({ status: events.length > 3 ? 413 : 200 })
  const session = await sessionTo({ id })
  await act(session, 20)
  await collector.until('all events', () => collector.of(session).length === 20)
  assert.equal(collector.events.length, 20)
  assert.equal((await read(id)).delivery.rejected_events, 0)
})

test('a wrong key loses nothing: deliveries wait until the destination is changed', async () => {
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: collector.url, headers: { 'X-Key': 'wrong' } })
  collector.reply = ({ headers }) => ({ status: headers['x-key'] === 'right' ? 200 : 401 })
  const session = await sessionTo({ id })
  await act(session, 4)
  await eventually('it is refused', async () => (await read(id)).delivery.consecutive_failures === 1)
  const { delivery } = await read(id)
  assert.match(delivery.last_error!, /answered 401; check the endpoint and the headers/)
  assert.ok(Date.parse(delivery.next_attempt_at!) - Date.now() > 60_000)
  await change(id, { headers: { 'x-key': 'right' } })
  await collector.until('all events', () => collector.of(session).length === 4)
  assert.deepEqual(collector.of(session).map(asSeen), await eventsOf(session))
})

test('redirects are not followed, and nothing of the answer is shown', async () => {
  const target = await OtlpCollector.start(owner)
  const collector = await OtlpCollector.start(owner)
  const { id } = await destination({ endpoint: collector.url, headers: { 'X-Key': 'secret' } })
  collector.reply = () => ({
    status: 307,
    headers: { location: `${target.url}/v1/logs` },
    body: Buffer.from('inner secret'),
  })
  await act(await sessionTo({ id }))
  await eventually('it fails', async () => (await read(id)).delivery.last_error !== undefined)
  assert.match((await read(id)).delivery.last_error!, /redirect \(307\)/)
  assert.doesNotMatch(JSON.stringify(await read(id)), /inner secret/)
  assert.equal(target.requests.length, 0)
})

test('an address is judged again at each delivery', async () => {
  const collector = await OtlpCollector.start(owner)
  const { port } = new URL(collector.url)
  const { id } = await destination({ endpoint: `http://moving.example:${port}` })
  names['moving.example'] = ['127.0.0.1']
  await act(await sessionTo({ id }))
  await eventually('it is refused', async () => (await read(id)).delivery.last_error !== undefined)
  assert.match((await read(id)).delivery.last_error!, /moving\.example.*not public|loopback/)
  assert.equal(collector.requests.length, 0)
})

test('a collector that never answers delays no other, of the same project or another', async () => {
  const slow = await OtlpCollector.start(owner)
  slow.reply = () => ({ delayMs: 600_000, isKept: false })
  const fast = await OtlpCollector.start(owner)
  const stuck = await Promise.all(Array.from({ length: 8 }, () => destination({ endpoint: slow.url })))
  const { id } = await destination({ endpoint: fast.url })
  for (const each of stuck) await act(await sessionTo({ id: each.id }))
  await slow.until('they all wait', ({ requests }) => requests.length >= stuck.length)
  const session = await sessionTo({ id })
  const begun = performance.now()
  await act(session)
  await fast.until('the event of the other', ({ events }) => events.length === 1, 5_000)
  assert.ok(performance.now() - begun < 5_000)
  await eventually(
    'it gives up',
    async () => (await read(stuck[0]!.id)).delivery.last_error !== undefined,
    30_000,
  )
  assert.match((await read(stuck[0]!.id)).delivery.last_error!, /longer than 15 s/)
})

test('events that are deleted before they are delivered are counted', async () => {
  const collector = await OtlpCollector.start(owner)
  await collector.stop()
  const { id } = await destination({ endpoint: collector.url })
  const session = await sessionTo({ id })
  await act(session, 6)
  await eventually('they wait', async () => (await read(id)).delivery.backlog_events === 6)
  // As the limit on what a session stores does.
  assert.equal(await dropOldest(connections.db, session, 0), 0)
  await act(session, 2)
  await eventually('the others wait', async () => (await read(id)).delivery.backlog_events >= 2)
  assert.equal((await read(id)).delivery.expired_events, 6)
  await collector.resume()
  await change(id, {})
  await collector.until('the others', () => collector.of(session).length === 2)
  assert.deepEqual(
    collector.events.map(({ seq }) => seq),
    [7, 8],
  )
  await send(server, 'DELETE', `/browsers/${session}`)
  const isForgotten = async () =>
    (await database.run('SELECT 1 FROM telemetry_exports WHERE session_id = $1', [session])).length === 0
  await eventually('the session is forgotten', isForgotten, 30_000)
  const { delivery } = await read(id)
  assert.equal(delivery.expired_events, 6, 'but not what was lost of it')
  assert.equal(delivery.backlog_events, 0)
})
