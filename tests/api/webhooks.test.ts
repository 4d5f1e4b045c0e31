// Webhooks over the API: their rules, who may have which, what is told, and how deliveries go. Instances are fake.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Value } from 'typebox/value'
import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import { webhookEventTypes, type WebhookEventType } from '@berth/contracts/webhook-event-types'
import { webhookEventData } from '@berth/contracts/webhook-events'
import type {
  Webhook,
  WebhookDelivery,
  WebhookTestResult,
  WebhookWithSecret,
} from '@berth/contracts/webhooks'
import { newKey, newProject, newTenant } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { formBody } from '../conformance/form-body.ts'
import { newApp } from '../conformance/resources.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { NOWHERE, UNASSIGNED } from '../fixtures/addresses.ts'
import { begin, connect, reaches, submit } from '../fixtures/auth-connections.ts'
import { ChangeFollower } from '../fixtures/changes.ts'
import { startDnsServer } from '../fixtures/dns-server.ts'
import { eventually } from '../fixtures/host.ts'
import { acquire, createPool, filled, release } from '../fixtures/pools.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import {
  createWebhook,
  deliveriesOf,
  isVerified,
  mayReachReceivers,
  readDelivery,
  verify,
  WebhookReceiver,
} from '../fixtures/webhook-receiver.ts'
import { holds } from '../hostile/secret-search.ts'

const owner = { after }
const MAX_DELIVERIES = 100
const dns = await startDnsServer(owner, {
  names: { 'public.example': [UNASSIGNED], 'private.example': ['10.1.2.3'], 'absent.example': [] },
  ttl: 0,
})
const server = await startServer(owner, {
  env: {
    ...mayReachReceivers,
    BERTH_DNS_SERVERS: dns.address,
    BERTH_WEBHOOK_MAX_DELIVERIES: String(MAX_DELIVERIES),
  },
})
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)

const read = async (id: string) => (await send<Webhook>(server, 'GET', `/webhooks/${id}`)).body
const change = (id: string, body: object) => send<Webhook>(server, 'PATCH', `/webhooks/${id}`, body)
const remove = (id: string) => send(server, 'DELETE', `/webhooks/${id}`)
const endSession = (id: string) => send(server, 'DELETE', `/browsers/${id}`)

test('a webhook is created, listed, changed and deleted, and its secret is shown once', async () => {
  const created = await createWebhook(
    server,
    { url: 'https://public.example/berth?key=1' },
    { description: 'the chat bot', event_types: ['session.ended', 'replay.ready'] },
  )
  const { secret, ...shown } = created
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(shown.url, 'https://public.example/berth?key=1')
  assert.equal(shown.status, 'enabled')
  assert.deepEqual(shown.event_types, ['session.ended', 'replay.ready'])
  assert.deepEqual(await read(shown.id), shown)
  const rows = (await database.dump())['webhooks']!.join('\n')
  assert.ok(!holds(rows, secret), 'sealed at rest')
  assert.ok(!server.output().includes(secret))

  const list = async (search: string) =>
    (await send<Webhook[]>(server, 'GET', `/webhooks?${search}`)).body.map(({ id }) => id)
  assert.deepEqual(await list('query=CHAT'), [shown.id])
  assert.deepEqual(await list(`query=${shown.id}`), [shown.id])
  assert.deepEqual(await list('query=nothing-like-it'), [])

  const changed = await change(shown.id, { description: '', event_types: [], status: 'disabled' })
  assert.equal(changed.status, 200)
  assert.equal(changed.body.description, undefined)
  assert.deepEqual(changed.body.event_types, [])
  assert.equal(changed.body.disabled_by, 'user')
  assert.deepEqual(await list('status=disabled'), [shown.id])
  assert.equal((await change(shown.id, { status: 'enabled' })).body.disabled_by, undefined)

  assert.equal((await remove(shown.id)).status, 204)
  assert.equal((await remove(shown.id)).status, 204, 'deleting twice succeeds')
  assert.equal((await send(server, 'GET', `/webhooks/${shown.id}`)).status, 404)
  assert.equal((await remove('absent')).status, 404)
})

test('what cannot be a webhook is refused by the name of its field', async () => {
  const cases: [field: string, body: object][] = [
    ['url', { url: 'receiver.example' }],
    ['url', { url: 'ftp://public.example' }],
    ['url', { url: 'https://u:p@public.example' }],
    ['url', { url: 'https://public.example/#a' }],
    ['url: must be https', { url: 'http://public.example/' }],
    ['url: must be https', { url: `http://[${UNASSIGNED}]/` }],
    ['url: .*BERTH_WEBHOOK_ALLOW', { url: 'https://10.0.0.1/' }],
    ['url: .*BERTH_WEBHOOK_ALLOW', { url: 'https://[::ffff:10.0.0.1]/' }],
    ['url: .*BERTH_WEBHOOK_ALLOW', { url: 'http://169.254.169.254/latest' }],
    ['url: .*BERTH_WEBHOOK_ALLOW', { url: 'https://private.example/' }],
    ['url: .*not listed in BERTH_WEBHOOK_ALLOW', { url: 'http://host.berth.internal:4100/' }],
    ['url', { url: 'https://absent.example/' }],
    ['url', { url: 'https://public.example:25/' }],
    ['event_types', { url: NOWHERE, event_types: ['session.exploded'] }],
    ['event_types', { url: NOWHERE, event_types: ['session.ended', 'session.ended'] }],
  ]
  for (const [message, body] of cases) {
    const answer = await send(server, 'POST', '/webhooks', body)
    assert.equal(answer.status, 400, JSON.stringify([body, answer.body]))
    assert.match(answer.body.message!, new RegExp(message), JSON.stringify(body))
  }
  const { id } = await createWebhook(server, { url: NOWHERE })
  assert.equal((await change(id, { url: 'https://10.0.0.1' })).status, 400)
  await remove(id)
})

test('a name that leads to a private address by now gets nothing', async (t) => {
  const { id } = await createWebhook(server, { url: 'https://public.example' })
  t.after(() => remove(id))
  await query(server, "UPDATE webhooks SET url = 'http://private.example:8080/' WHERE id = $1", [id])
  const { body } = await send<WebhookTestResult>(server, 'POST', `/webhooks/${id}/test`)
  assert.equal(body.success, false)
  assert.equal(body.status, null)
  assert.match(body.error!, /private\.example.*not public/)
})

test('a project has at most 20 webhooks, and is not deleted while it has one', async () => {
  const project = await newProject(caller, server.key, 'many webhooks')
  const inProject = { 'x-kernel-project-id': project.id }
  const made: string[] = []
  for (let count = 0; count < 20; count++) {
    made.push((await createWebhook(server, { url: NOWHERE }, {}, inProject)).id)
  }
  const more = await send(server, 'POST', '/webhooks', { url: NOWHERE }, inProject)
  assert.equal(more.status, 409)
  assert.match(more.body.message!, /20 already; delete one/)
  const refused = await send(server, 'DELETE', `/org/projects/${project.id}`)
  assert.equal(refused.status, 409)
  assert.match(refused.body.message!, /20 webhooks/)
  for (const id of made) await remove(id)
  assert.equal((await send(server, 'DELETE', `/org/projects/${project.id}`)).status, 204)
})

test('a key makes no webhook for events that it may not read, and sees none of other projects', async () => {
  const tenant = await newTenant(caller, server.key, 'own webhooks')
  const ask = (key: string, method: string, path: string, body?: object) =>
    caller.sendJson(key, method, path, body)
  const { key } = await newKey(caller, server.key, {
    name: 'limited',
    project_id: tenant.project.id,
    scopes: ['webhooks:write', 'browsers:read'],
  })
  const url = NOWHERE
  const all = await ask(key, 'POST', '/webhooks', { url })
  assert.equal(all.status, 403)
  assert.match(all.text, /lacks apps:read, logins:read, api_keys:read, projects:read; choose event_types/)
  const others = await ask(key, 'POST', '/webhooks', { url, event_types: ['login.failed', 'session.ended'] })
  assert.equal(others.status, 403)
  assert.match(others.text, /lacks logins:read; leave their event_types out/)
  const created = await ask(key, 'POST', '/webhooks', { url, event_types: ['session.ended'] })
  assert.equal(created.status, 201)
  const { id } = created.json as { id: string }
  assert.equal((await ask(key, 'PATCH', `/webhooks/${id}`, { event_types: [] })).status, 403)
  assert.equal((await ask(key, 'PATCH', `/webhooks/${id}`, { description: 'mine' })).status, 200)

  const reader = await newKey(caller, server.key, {
    name: 'reader',
    project_id: tenant.project.id,
    scopes: ['webhooks:read'],
  })
  assert.equal((await ask(reader.key, 'GET', `/webhooks/${id}`)).status, 200)
  for (const [method, path] of [
    ['POST', `/webhooks/${id}/test`],
    ['POST', `/webhooks/${id}/rotate`],
    ['DELETE', `/webhooks/${id}`],
  ] as const) {
    assert.equal((await ask(reader.key, method, path)).status, 403, path)
  }
  // The webhook of all events is enabled again only by a key that may read all.
  const wide = await createWebhook(server, { url }, {}, { 'x-kernel-project-id': tenant.project.id })
  await change(wide.id, { status: 'disabled' })
  assert.equal((await ask(key, 'PATCH', `/webhooks/${wide.id}`, { status: 'enabled' })).status, 403)
  assert.equal((await ask(key, 'PATCH', `/webhooks/${wide.id}`, { url: `${NOWHERE}/elsewhere` })).status, 403)

  const stranger = await newTenant(caller, server.key, 'strange webhooks')
  assert.equal((await ask(stranger.key.key, 'GET', `/webhooks/${id}`)).status, 404)
  assert.equal((await ask(stranger.key.key, 'DELETE', `/webhooks/${id}`)).status, 404)
  assert.deepEqual((await ask(stranger.key.key, 'GET', '/webhooks')).json, [])
  for (const each of [id, wide.id]) await remove(each)
})

test('every kind of event arrives signed, as the contract describes it', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const webhook = await createWebhook(server, receiver)
  t.after(() => remove(webhook.id))
  const arrives = (type: string, about: string) =>
    receiver.until(`${type} of ${about}`, ({ accepted }) =>
      accepted.some((event) => event.type === type && event.about === about),
    )

  const { session_id: id } = await createSession(server, { name: 'told', tags: { run: '7' } })
  await arrives('session.started', id)
  await query(server, "UPDATE browsers SET state = 'standby' WHERE id = $1", [id])
  await query(server, "UPDATE browsers SET state = 'ready' WHERE id = $1", [id])
  const recording = await send<{ replay_id: string }>(server, 'POST', `/browsers/${id}/replays`, {})
  await endSession(id)
  await arrives('session.ended', id)
  assert.deepEqual(receiver.typesOf(id), [
    'session.started',
    'session.standby',
    'session.woken',
    'session.ended',
  ])
  const ended = receiver.accepted.find(({ type, about }) => type === 'session.ended' && about === id)!
  assert.deepEqual(
    { ...ended.data, created_at: undefined, project_id: undefined },
    {
      session_id: id,
      name: 'told',
      tags: { run: '7' },
      pool_id: null,
      reason: 'deleted',
      created_at: undefined,
      project_id: undefined,
    },
  )
  const replay = recording.body.replay_id
  await makeReady(replay)
  await arrives('replay.ready', replay)

  const { deployments, invocations } = await newApp(caller, server.key)
  await arrives('invocation.succeeded', invocations)
  // Only the events of one subject have an order.
  await arrives('deployment.running', deployments)
  assert.deepEqual(receiver.typesOf(invocations), [
    'invocation.queued',
    'invocation.running',
    'invocation.succeeded',
  ])
  assert.deepEqual(receiver.typesOf(deployments), [
    'deployment.queued',
    'deployment.in_progress',
    'deployment.running',
  ])

  const { version } = (await send<{ version: string }>(server, 'GET', `/invocations/${invocations}`)).body
  const thrown = await caller.sendJson(server.key, 'POST', '/invocations', {
    app_name: 'sample',
    action_name: 'sample',
    version,
    payload: '"fail"',
  })
  assert.equal(thrown.status, 200, thrown.text)
  const { id: failed } = thrown.json as { id: string }
  await arrives('invocation.failed', failed)
  assert.deepEqual(receiver.typesOf(failed), ['invocation.queued', 'invocation.running', 'invocation.failed'])
  const second = await deployAgain(version)
  await arrives('deployment.failed', second)
  assert.deepEqual(receiver.typesOf(second), [
    'deployment.queued',
    'deployment.in_progress',
    'deployment.failed',
  ])
  assert.equal((await send(server, 'DELETE', `/deployments/${deployments}`)).status, 204)
  await arrives('deployment.stopped', deployments)

  const { id: connection } = await connect(server, 'told')
  await begin(server, connection)
  await reaches(server, connection, 'AWAITING_INPUT')
  await submit(server, connection, { field_values: { email: 'me@site.example', password: 'right' } })
  await reaches(server, connection, 'SUCCESS')
  await query(server, "UPDATE auth_connections SET status = 'NEEDS_AUTH' WHERE id = $1", [connection])
  await receiver.until('the second need', () => receiver.typesOf(connection).length >= 3)
  assert.deepEqual(receiver.typesOf(connection), ['login.needed', 'login.succeeded', 'login.needed'])
  const failing = await connect(server, 'captcha')
  await begin(server, failing.id)
  await arrives('login.failed', failing.id)

  const pool = await createPool(server, { size: 1 })
  await filled(server, pool, 1)
  const lease = await acquire(server, pool)
  const leased = lease.session_id
  await arrives('pool.empty', pool.id)
  await release(server, lease)
  await arrives('session.ended', leased)
  assert.deepEqual(receiver.typesOf(leased), ['session.started', 'session.ended'], 'only while it is leased')
  await send(server, 'DELETE', `/browser_pools/${pool.id}`, { force: true })

  const soonOver = { name: 'soon over', days_to_expire: 3 }
  const ofAll = await newKey(caller, server.key, soonOver)
  const key = await newKey(caller, server.key, { ...soonOver, project_id: webhook.project_id })
  await query(server, "UPDATE webhook_watch SET looked_at = '-infinity'")
  await arrives('api_key.expiring', key.id)
  assert.deepEqual(receiver.typesOf(ofAll.id), [], 'keys of the organisation are told to nobody')
  await send(server, 'PATCH', `/org/projects/${webhook.project_id}/limits`, { max_concurrent_sessions: 1 })
  const last = await createSession(server)
  await query(server, "UPDATE webhook_watch SET looked_at = '-infinity'")
  await arrives('quota.near', webhook.project_id)
  await send(server, 'PATCH', `/org/projects/${webhook.project_id}/limits`, { max_concurrent_sessions: 0 })
  await endSession(last.session_id)

  for (const event of receiver.requests) {
    verify(webhook.secret, event)
    assert.equal(event.headers['content-type'], 'application/json')
    assert.match(event.id, /^evt_[0-9a-f]{32}$/)
    const data = webhookEventData[event.type as WebhookEventType]
    const problems = [...Value.Errors(data, event.data)]
    assert.deepEqual(problems, [], event.body)
    assert.deepEqual(Object.keys(event.data).toSorted(), propertiesOf(data), event.type)
  }
  const told = new Set(receiver.accepted.map(({ type }) => type))
  assert.deepEqual(
    webhookEventTypes.filter((type) => !told.has(type)),
    [],
  )
})

/** The build fails, because the version is taken and nothing is forced. */
async function deployAgain(version: string): Promise<string> {
  const form = formBody({ entrypoint_rel_path: 'index.js', version, file: 'an archive' })
  const created = await caller.sendAs(server.key, { method: 'POST', path: '/deployments', ...form })
  assert.equal(created.status, 201, created.text)
  return (created.json as { id: string }).id
}

/** Fake instances record nothing, so their recordings fail; tests/e2e/webhooks.test.ts has a real one. */
async function makeReady(replay: string): Promise<void> {
  await eventually('the recording is over', async () => {
    const [row] = await query<{ state: string }>(server, 'SELECT state FROM replays WHERE id = $1', [replay])
    return row!.state === 'failed'
  })
  await query(server, "INSERT INTO blobs (id, kind, sha256, size_bytes) VALUES ($1, 'replay', '', 1)", [
    replay,
  ])
  await query(
    server,
    "UPDATE replays SET state = 'ready', blob_id = id, size_bytes = 1, duration_ms = 1 WHERE id = $1",
    [replay],
  )
}

const propertiesOf = (schema: object) => Object.keys((schema as { properties: object }).properties).toSorted()

test('only chosen events are sent, and none to a disabled webhook', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const chosen = await createWebhook(server, receiver, { event_types: ['session.ended'] })
  const other = await createWebhook(server, { url: `${receiver.url}/other` }, { event_types: ['pool.empty'] })
  t.after(() => Promise.all([remove(chosen.id), remove(other.id)]))
  const first = await createSession(server)
  await endSession(first.session_id)
  await receiver.until('the end', ({ accepted }) => accepted.length === 1)
  await change(chosen.id, { status: 'disabled' })
  await endSession((await createSession(server)).session_id)
  await change(chosen.id, { status: 'enabled' })
  const third = await createSession(server)
  await endSession(third.session_id)
  await receiver.until('the next end', ({ accepted }) => accepted.length === 2)
  assert.deepEqual(
    receiver.requests.map(({ type, about }) => [type, about]),
    [
      ['session.ended', first.session_id],
      ['session.ended', third.session_id],
    ],
  )
})

test('two webhooks of a project get the same event, each with its own signature', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const one = await createWebhook(
    server,
    { url: `${receiver.url}/one` },
    { event_types: ['session.started'] },
  )
  const two = await createWebhook(server, { url: `${receiver.url}/two?a=b` }, { event_types: [] })
  t.after(() => Promise.all([remove(one.id), remove(two.id)]))
  const { session_id: id } = await createSession(server)
  await receiver.until('both', ({ accepted }) => accepted.length === 2)
  const [first, second] = receiver.accepted.toSorted((a, b) => a.path.localeCompare(b.path))
  assert.equal(first!.path, '/one')
  assert.equal(second!.path, '/two?a=b')
  assert.equal(first!.id, second!.id)
  assert.equal(first!.body, second!.body)
  verify(one.secret, first!)
  verify(two.secret, second!)
  assert.ok(!isVerified(one.secret, second!))
  await endSession(id)
})

test('a test sends an event and returns what the receiver said', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const webhook = await createWebhook(server, receiver)
  t.after(() => remove(webhook.id))
  const run = async () => (await send<WebhookTestResult>(server, 'POST', `/webhooks/${webhook.id}/test`)).body
  receiver.reply = () => (response) => response.writeHead(201).end('thank you\u0000\u0007!')
  const good = await run()
  assert.deepEqual(
    { ...good, duration_ms: 0, delivery_id: '' },
    { success: true, delivery_id: '', duration_ms: 0, status: 201, answer: 'thank you!', error: null },
  )
  verify(webhook.secret, receiver.requests[0]!)
  assert.equal(receiver.requests[0]!.type, 'webhook.test')
  assert.equal(receiver.requests[0]!.id, good.delivery_id)
  receiver.reply = () => 500
  const bad = await run()
  assert.equal(bad.success, false)
  assert.equal(bad.error, 'The receiver answered 500')
  await receiver.stop()
  const away = await run()
  assert.equal(away.status, null)
  assert.match(away.error!, /^Cannot connect to "127.0.0.1:\d+": ECONNREFUSED$/)
  // A test says nothing of the webhook's own events, and is not tried again.
  assert.equal((await read(webhook.id)).consecutive_failures, 0)
  const tests = await deliveriesOf(server, webhook, 'type=webhook.test')
  assert.deepEqual(
    tests.map(({ state, attempts }) => [state, attempts]),
    [
      ['failed', 1],
      ['failed', 1],
      ['delivered', 1],
    ],
  )
  await change(webhook.id, { status: 'disabled' })
  await receiver.resume()
  receiver.reply = () => 204
  assert.equal((await run()).success, true, 'also while it is disabled')
})

test('after a rotation, requests are signed with both secrets for a while', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const webhook = await createWebhook(server, receiver)
  t.after(() => remove(webhook.id))
  const rotate = async (body: object) =>
    (await send<WebhookWithSecret>(server, 'POST', `/webhooks/${webhook.id}/rotate`, body)).body
  const sent = async () => {
    await send(server, 'POST', `/webhooks/${webhook.id}/test`)
    return receiver.requests.at(-1)!
  }
  const rotated = await rotate({ overlap_hours: 2 })
  assert.notEqual(rotated.secret, webhook.secret)
  assert.ok(Date.parse(rotated.old_secret_until!) > Date.now() + 3_600_000)
  const both = await sent()
  verify(webhook.secret, both)
  verify(rotated.secret, both)
  await query(server, 'UPDATE webhooks SET old_secret_until = now() WHERE id = $1', [webhook.id])
  const later = await sent()
  verify(rotated.secret, later)
  assert.ok(!isVerified(webhook.secret, later), 'its time is over')
  assert.equal((await read(webhook.id)).old_secret_until, undefined)
  const third = await rotate({ overlap_hours: 0 })
  const alone = await sent()
  verify(third.secret, alone)
  assert.ok(!isVerified(rotated.secret, alone), 'at once')
})

test('a failed event is tried again, and holds back only its own session', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const webhook = await createWebhook(server, receiver, { event_types: ['session.started', 'session.ended'] })
  t.after(() => remove(webhook.id))
  const bad = await createSession(server)
  let isBroken = true
  receiver.reply = ({ about }) => (isBroken && about === bad.session_id ? 503 : 204)
  await receiver.until('the first attempt', ({ requests }) => requests.length > 0)
  await endSession(bad.session_id)
  const good = await createSession(server)
  await endSession(good.session_id)
  await receiver.until('the other session', () => receiver.typesOf(good.session_id).length === 2)
  let waiting: WebhookDelivery[] = []
  await eventually('both results are stored', async () => {
    waiting = await deliveriesOf(server, webhook, 'state=pending')
    return waiting.length === 2 && waiting[1]!.attempts > 0
  })
  assert.deepEqual(
    waiting.map(({ type, subject }) => [type, subject]),
    [
      ['session.ended', bad.session_id],
      ['session.started', bad.session_id],
    ],
  )
  assert.ok(
    receiver.requests.every(({ type, about }) => about !== bad.session_id || type === 'session.started'),
  )
  const [, failed] = waiting
  const details = await readDelivery(server, webhook, failed!.id)
  assert.equal(details.event.type, 'session.started')
  assert.equal(details.log.at(-1)!.status, 503)
  assert.equal(details.log.at(-1)!.error, 'The receiver answered 503')
  assert.ok(Date.parse(details.next_attempt_at!) > Date.now() - 1000)
  assert.equal((await read(webhook.id)).last_error, 'The receiver answered 503')

  isBroken = false
  await change(webhook.id, {})
  await receiver.until('both, in order', () => receiver.typesOf(bad.session_id).length === 2)
  assert.deepEqual(receiver.typesOf(bad.session_id), ['session.started', 'session.ended'])
  const ids = receiver.requests.filter(({ about }) => about === bad.session_id).map(({ id }) => id)
  assert.equal(new Set(ids).size, 2, 'an event keeps its id')
  await eventually('it works again', async () => {
    const { consecutive_failures: failures, failing_since: since } = await read(webhook.id)
    return failures === 0 && since === undefined
  })
})

test('a delivery is sent again on request, under the same id', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const webhook = await createWebhook(server, receiver, { event_types: ['session.started'] })
  t.after(() => remove(webhook.id))
  const { session_id: id } = await createSession(server)
  await eventually(
    'it is delivered',
    async () => (await deliveriesOf(server, webhook, 'state=delivered')).length === 1,
  )
  const [delivery] = await deliveriesOf(server, webhook)
  const path = `/webhooks/${webhook.id}/deliveries/${delivery!.id}/redeliver`
  const again = await send<WebhookDelivery>(server, 'POST', path)
  assert.equal(again.status, 202)
  assert.equal(again.body.state, 'pending')
  await receiver.until('it comes again', ({ accepted }) => accepted.length === 2)
  assert.deepEqual(receiver.accepted[0]!.body, receiver.accepted[1]!.body)
  assert.equal(receiver.accepted[0]!.id, receiver.accepted[1]!.id)
  await eventually('both attempts are logged', async () => {
    const { log, state } = await readDelivery(server, webhook, delivery!.id)
    return state === 'delivered' && log.length === 2
  })
  assert.equal((await send(server, 'POST', path.replace(delivery!.id, 'absent'))).status, 404)
  await change(webhook.id, { status: 'disabled' })
  const refused = await send(server, 'POST', path)
  assert.equal(refused.status, 409)
  assert.match(refused.body.message!, /disabled; enable it first/)
  await endSession(id)
})

test('after days of failures a webhook is disabled, and so is one whose receiver is gone', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  receiver.reply = ({ path }) => (path === '/gone' ? 410 : 500)
  const types = { event_types: ['session.started'] }
  const failing = await createWebhook(server, receiver, types)
  const gone = await createWebhook(server, { url: `${receiver.url}/gone` }, types)
  t.after(() => Promise.all([remove(failing.id), remove(gone.id)]))
  const start = new Date(Date.now() - 60_000).toISOString()
  await query(
    server,
    "UPDATE webhooks SET failing_since = now() - interval '6 days', consecutive_failures = 40 WHERE id = $1",
    [failing.id],
  )
  const { session_id: id } = await createSession(server)
  await eventually('both are disabled', async () => {
    const all = await Promise.all([read(failing.id), read(gone.id)])
    return all.map(({ disabled_by: by }) => by).join() === 'failures,receiver'
  })
  const end = new Date(Date.now() + 60_000).toISOString()
  const path = `/audit-logs?start=${start}&end=${end}&auth_strategy=system`
  const { body: audit } = await send<AuditLogEntry[]>(server, 'GET', path)
  assert.deepEqual(
    new Map(audit.map((entry) => [entry.path, entry.user_agent])),
    new Map([
      [`/webhooks/${failing.id}`, 'disabled: every delivery failed for days'],
      [`/webhooks/${gone.id}`, 'disabled: the receiver answered 410'],
    ]),
  )
  await endSession(id)
})

test('an event that nobody took for a day is given up, and the next of its session comes', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const webhook = await createWebhook(server, receiver, { event_types: ['session.started', 'session.ended'] })
  t.after(() => remove(webhook.id))
  receiver.reply = ({ type }) => (type === 'session.started' ? 500 : 204)
  const { session_id: id } = await createSession(server)
  await receiver.until('the first attempt', ({ requests }) => requests.length > 0)
  await endSession(id)
  await query(
    server,
    "UPDATE webhook_deliveries SET tried_from = now() - interval '25 hours' WHERE webhook_id = $1 AND event_type = 'session.started'",
    [webhook.id],
  )
  await change(webhook.id, {})
  await receiver.until('the next event', ({ accepted }) => accepted.length > 0)
  const states = (await deliveriesOf(server, webhook)).map(({ type, state }) => [type, state])
  assert.deepEqual(states[1], ['session.started', 'failed'])
})

const numbered = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

test('a webhook keeps so many deliveries: the oldest finished ones go first, then the oldest that wait', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  receiver.reply = () => 500
  const webhook = await createWebhook(server, receiver, { event_types: ['pool.empty'] })
  t.after(() => remove(webhook.id))
  const add = (state: string, from: number, count: number) =>
    query(
      server,
      `INSERT INTO webhook_deliveries (webhook_id, event_id, event_type, subject, data, state, next_attempt_at, finished_at)
      SELECT $1, 'evt_' || number, 'pool.empty', 'pool-' || number, '{}', $2, now() + interval '1 hour',
        CASE WHEN $2 <> 'pending' THEN now() END
      FROM generate_series($3::int, $3::int + $4::int - 1) AS number`,
      [webhook.id, state, from, count],
    )
  const stored = async () => {
    const rows = await query<{ number: number; state: string }>(
      server,
      `SELECT substr(event_id, 5)::int AS number, state FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY seq`,
      [webhook.id],
    )
    const numbers = (wanted: string) =>
      rows.filter(({ state }) => state === wanted).map(({ number }) => number)
    return { waiting: numbers('pending'), finished: numbers('delivered'), all: rows.length }
  }
  const trimmed = async () => {
    await query(server, "UPDATE webhook_watch SET looked_at = '-infinity'")
    await eventually('it is trimmed', async () => (await stored()).all === MAX_DELIVERIES)
  }

  await add('pending', 0, 40)
  await add('delivered', 40, 70)
  await trimmed()
  const first = await stored()
  assert.deepEqual(first.waiting, numbered(0, 40), 'what waits stays')
  assert.deepEqual(first.finished, numbered(50, 60))
  assert.equal((await read(webhook.id)).dropped_events, 0)

  await add('pending', 110, 80)
  await trimmed()
  const second = await stored()
  assert.deepEqual(second.finished, [])
  assert.deepEqual(second.waiting, [...numbered(20, 20), ...numbered(110, 80)])
  const shown = await read(webhook.id)
  assert.equal(shown.dropped_events, 20)
  assert.ok(Date.parse(shown.last_dropped_at!) > Date.now() - 60_000)
  await eventually('the log says so', () =>
    Promise.resolve(/BERTH_WEBHOOK_MAX_DELIVERIES/.test(server.output())),
  )
})

test('followers of changes hear of webhooks', async (t) => {
  const follower = await ChangeFollower.open(t, server)
  const { id } = await createWebhook(server, { url: NOWHERE }, { event_types: ['pool.empty'] })
  await follower.hears('webhook', id)
  let from = follower.seen.length
  await change(id, { status: 'disabled' })
  await follower.hears('webhook', id, from)
  from = follower.seen.length
  await remove(id)
  await follower.hears('webhook', id, from)
})
