// Every event arrives at least once, in order and signed, whatever is killed, away or slow: compared with what the
// database says happened. Instances are fake.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Webhook } from '@berth/contracts/webhooks'
import { newFleet } from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, metric, query, send } from '../fixtures/sessions.ts'
import {
  createWebhook,
  deliveriesOf,
  mayReachReceivers,
  verify,
  WebhookReceiver,
} from '../fixtures/webhook-receiver.ts'

const types = { event_types: ['session.started', 'session.ended'] }
const end = (server: TestServer, id: string) => send(server, 'DELETE', `/browsers/${id}`)

/** Sessions whose creation was answered. */
const answered = new Set<string>()

async function createAndEnd(server: TestServer): Promise<string> {
  const { session_id: id } = await createSession(server)
  answered.add(id)
  await end(server, id)
  return id
}

interface SessionRow {
  readonly id: string
  readonly state: string
  readonly end_reason: string | null
}

/** Each session that could be used was told to start, and then to end if it has ended, and nothing else. */
function isToldRight(receiver: WebhookReceiver, { id, state, end_reason: reason }: SessionRow): boolean {
  const told = receiver.typesOf(id).join()
  if (state === 'starting') return false
  // Nobody could use it: its create broke off.
  if (told === '' && !answered.has(id) && (reason === 'start_failed' || reason === 'lost')) return true
  const hasEnded = state === 'ending' || state === 'ended'
  return told === ['session.started', ...(hasEnded ? ['session.ended'] : [])].join()
}

async function isComplete(server: TestServer, receiver: WebhookReceiver, withinMs: number): Promise<void> {
  let wrong: SessionRow[] = []
  await eventually(
    () => `everything has come; ${JSON.stringify(wrong.map((row) => [row, receiver.typesOf(row.id)]))}`,
    async () => {
      const rows = await query<SessionRow>(server, 'SELECT id, state, end_reason FROM browsers')
      wrong = rows.filter((row) => !isToldRight(receiver, row))
      return wrong.length === 0
    },
    withinMs,
  )
}

test('a receiver that fails, hangs, restarts and cuts connections hears everything in order', async (t) => {
  const server = await startServer(t, { env: mayReachReceivers })
  const receiver = await WebhookReceiver.start(t)
  const { id, secret } = await createWebhook(server, receiver, types)
  let turn = 0
  // One of three attempts succeeds. One that hangs is cut only by the outage, or after 15 seconds.
  receiver.reply = () => {
    turn++
    if (turn % 17 === 0) return () => {}
    if (turn % 3 === 0) return 204
    return turn % 3 === 1 ? 500 : (response) => response.destroy()
  }
  const made: string[] = []
  for (let count = 0; count < 12; count++) made.push(await createAndEnd(server))
  await receiver.until('some', ({ accepted }) => accepted.length > 3, 30_000)
  await receiver.stop()
  for (let count = 0; count < 4; count++) made.push(await createAndEnd(server))
  await receiver.resume()
  // What waits for its next attempt gets it now.
  const nudge = setInterval(() => void send(server, 'PATCH', `/webhooks/${id}`, {}).catch(() => {}), 1_000)
  t.after(() => clearInterval(nudge))
  await isComplete(server, receiver, 90_000)
  clearInterval(nudge)
  assert.equal(made.length, 16)
  for (const event of receiver.requests) verify(secret, event)
  await eventually(
    'nothing waits',
    async () => (await deliveriesOf(server, { id }, 'state=pending')).length === 0,
    30_000,
  )
})

test('a server that is killed between the commit and the delivery loses nothing: another one delivers', async (t) => {
  const start = await newFleet(t, { env: mayReachReceivers })
  const receiver = await WebhookReceiver.start(t)
  const [first, second] = [await start(), await start()]
  const { secret } = await createWebhook(first, receiver, types)
  const sessions = await Promise.all(Array.from({ length: 5 }, () => createSession(first)))
  await first.stop('SIGKILL')
  const early = receiver.accepted.length
  assert.ok(early < 5, `${early} were delivered before the kill`)
  await receiver.until(
    'all starts',
    () => sessions.every(({ session_id: id }) => receiver.typesOf(id)[0] === 'session.started'),
    60_000,
  )
  // Nobody serves them any more, and the other server says so.
  await isComplete(second, receiver, 90_000)
  for (const event of receiver.requests) verify(secret, event)
})

test('a server that is killed after a delivery, before it is written down, delivers again under the same id', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const first = await startServer(t, { env: { ...mayReachReceivers, BERTH_CRASH_AT: 'webhook-sent' } })
  await createWebhook(first, receiver, types)
  const session = await createSession(first)
  await receiver.until('the first delivery', ({ accepted }) => accepted.length > 0)
  await first.stop()
  const second = await startServer(t, { env: mayReachReceivers, dataDir: first.dataDir })
  await receiver.until('it comes again', ({ accepted }) => accepted.length > 1)
  const [one, other] = receiver.accepted
  assert.equal(one!.id, other!.id)
  assert.equal(one!.body, other!.body)
  assert.equal(one!.about, session.session_id)
  await isComplete(second, receiver, 60_000)
})

test('two servers share the work through kills, and every event comes in order', async (t) => {
  const start = await newFleet(t, { env: mayReachReceivers })
  const receiver = await WebhookReceiver.start(t)
  let turn = 0
  receiver.reply = () => (++turn % 5 === 0 ? 500 : 204)
  const stays = await start()
  const { id, secret } = await createWebhook(stays, receiver, types)
  for (let round = 0; round < 3; round++) {
    const killed = await start()
    const work = async (server: TestServer) => {
      for (let count = 0; count < 8; count++) await createAndEnd(server)
    }
    const alone = work(killed).catch(() => {})
    const steady = work(stays)
    const before = receiver.accepted.length
    await receiver.until('some events of this round', ({ accepted }) => accepted.length > before + 4, 30_000)
    await killed.stop('SIGKILL')
    await Promise.all([alone, steady])
  }
  const nudge = setInterval(() => void send(stays, 'PATCH', `/webhooks/${id}`, {}).catch(() => {}), 1_000)
  t.after(() => clearInterval(nudge))
  await isComplete(stays, receiver, 90_000)
  for (const event of receiver.requests) verify(secret, event)
  assert.ok(receiver.accepted.length >= 48)
})

test('a receiver that hangs delays no other, not even in its own project', async (t) => {
  const server = await startServer(t, { env: mayReachReceivers })
  const hanging = await WebhookReceiver.start(t)
  const quick = await WebhookReceiver.start(t)
  hanging.reply = () => () => {}
  const webhooks = []
  for (let count = 0; count < 5; count++) webhooks.push(await createWebhook(server, hanging, types))
  await createWebhook(server, quick, types)
  for (let count = 0; count < 20; count++) {
    const before = performance.now()
    const id = await createAndEnd(server)
    await quick.until('both events', () => quick.typesOf(id).length === 2, 10_000)
    const ms = performance.now() - before
    assert.ok(ms < 5_000, `${Math.round(ms)} ms`)
  }
  // Each webhook has its own few places.
  const underWay = await metric(server, 'berth_webhook_deliveries_under_way')
  assert.ok(underWay > 0 && underWay <= 6 * 8, String(underWay))
  for (const { id } of webhooks) {
    const { body } = await send<Webhook>(server, 'GET', `/webhooks/${id}`)
    assert.equal(body.status, 'enabled')
    await send(server, 'DELETE', `/webhooks/${id}`)
  }
})

test('a project without webhooks stores no event', async (t) => {
  const server = await startServer(t, { env: mayReachReceivers })
  const receiver = await WebhookReceiver.start(t)
  const off = await createWebhook(server, receiver)
  await send(server, 'PATCH', `/webhooks/${off.id}`, { status: 'disabled' })
  await createAndEnd(server)
  assert.deepEqual(await query(server, 'SELECT seq FROM webhook_deliveries'), [])
})
