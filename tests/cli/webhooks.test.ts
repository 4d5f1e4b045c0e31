// Every command of webhooks, against a server with fake instances and a receiver.
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import type {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookTestResult,
  WebhookWithSecret,
} from '@berth/contracts/webhooks'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { isVerified, mayReachReceivers, verify, WebhookReceiver } from '../fixtures/webhook-receiver.ts'
import { berthFor } from './berth.ts'

const owner = { after }
const server = await startServer(owner, { env: mayReachReceivers })
const berth = berthFor(owner, server)

async function json<Answer>(...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await berth(['webhooks', ...args, '-o', 'json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as Answer
}

async function create(t: TestContext, ...args: string[]): Promise<WebhookWithSecret> {
  const made = await json<WebhookWithSecret>('create', ...args)
  t.after(() => send(server, 'DELETE', `/webhooks/${made.id}`))
  return made
}

const remote = async (id: string) => (await send<Webhook>(server, 'GET', `/webhooks/${id}`)).body

test('a webhook is created, listed, shown, changed and deleted', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const types = ['session.started', 'session.ended']
  const { secret, ...made } = await create(
    t,
    receiver.url,
    ...types.flatMap((type) => ['--event', type]),
    '--description',
    'the chat bot',
  )
  assert.match(secret, /^whsec_/)
  assert.deepEqual([made.url, made.event_types, made.description], [receiver.url, types, 'the chat bot'])
  assert.deepEqual(await json('get', made.id), made)
  assert.deepEqual(await json('list'), [made])
  assert.deepEqual(await json('list', '--query', 'chat', '--status', 'enabled'), [made])
  assert.deepEqual(await json('list', '--status', 'disabled'), [])
  const table = await berth(['webhook', 'ls'])
  assert.match(table.stdout, /^ID +URL +STATUS +EVENTS/)
  assert.match(table.stdout, new RegExp(`^${made.id} .*enabled +session.started, session.ended`, 'm'))
  assert.ok(!(await berth(['webhooks', 'get', made.id])).stdout.includes(secret))

  const changed = await json<Webhook>(
    'update',
    made.id,
    '--url',
    `${receiver.url}/new`,
    '--event',
    'pool.empty',
  )
  assert.deepEqual([changed.url, changed.event_types], [`${receiver.url}/new`, ['pool.empty']])
  assert.deepEqual((await json<Webhook>('update', made.id, '--all-events')).event_types, [])
  assert.equal((await json<Webhook>('update', made.id, '--clear-description')).description, undefined)

  assert.equal((await json<Webhook>('disable', made.id)).status, 'disabled')
  assert.equal((await remote(made.id)).disabled_by, 'user')
  assert.equal((await json<Webhook>('enable', made.id)).status, 'enabled')

  const unsure = await berth(['webhooks', 'delete', made.id])
  assert.equal(unsure.code, 2)
  assert.match(unsure.stderr, /Say yes with --yes/)
  const gone = await berth(['webhooks', 'delete', made.id, '--yes'])
  assert.deepEqual([gone.code, gone.stdout, gone.stderr], [0, '', `Deleted ${made.id}\n`])
  assert.equal((await berth(['webhooks', 'get', made.id])).code, 4)
})

test('what cannot be a webhook is refused with its field', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [[], /--url is missing/],
    [['https://10.0.0.1/'], /bad_request: .*url: .*BERTH_WEBHOOK_ALLOW[^]*Request id: /],
    [['https://receiver.invalid', '--event', 'session.exploded'], /session\.exploded/],
  ]
  for (const [args, message] of cases) {
    const { code, stderr, stdout } = await berth(['webhooks', 'create', ...args])
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, message)
  }
})

test('a test shows what the receiver answered, and its exit code says whether that is a success', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const made = await create(t, '--url', receiver.url, '--event', 'pool.empty')
  const good = await json<WebhookTestResult>('test', made.id)
  assert.deepEqual([good.success, good.status], [true, 204])
  verify(made.secret, receiver.requests[0]!)
  receiver.reply = () => 500
  const bad = await berth(['webhooks', 'test', made.id])
  assert.equal(bad.code, 1, bad.stderr)
  assert.match(bad.stdout, /^error +The receiver answered 500$/m)
})

test('a secret is replaced after a question, and the old one is good for a while', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const made = await create(t, receiver.url, '--event', 'pool.empty')
  assert.equal((await berth(['webhooks', 'rotate', made.id])).code, 2)
  const rotated = await json<WebhookWithSecret>('rotate', made.id, '--yes', '--overlap-hours', '2')
  assert.notEqual(rotated.secret, made.secret)
  assert.ok(rotated.old_secret_until)
  await json('test', made.id)
  for (const { secret } of [made, rotated]) verify(secret, receiver.requests[0]!)
  const last = await json<WebhookWithSecret>('rotate', made.id, '--yes', '--overlap-hours', '0')
  await json('test', made.id)
  verify(last.secret, receiver.requests[1]!)
  assert.ok(!isVerified(rotated.secret, receiver.requests[1]!))
})

test('deliveries are listed, shown and sent again', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const made = await create(t, receiver.url, '--event', 'session.started')
  const { session_id: session } = await createSession(server)
  await receiver.until('the event', ({ accepted }) => accepted.length === 1)
  let [delivery]: WebhookDelivery[] = []
  await eventually('its result is stored', async () => {
    ;[delivery] = await json<WebhookDelivery[]>('deliveries', made.id, '--state', 'delivered')
    return delivery !== undefined
  })
  const { id } = delivery!
  assert.deepEqual([delivery!.type, delivery!.subject], ['session.started', session])
  const none = await json('deliveries', made.id, '--type', 'pool.empty')
  assert.deepEqual(none, [])
  const table = await berth(['webhooks', 'deliveries', made.id])
  assert.match(table.stdout, /^ID +TYPE +STATE +ATTEMPTS/)
  assert.match(table.stdout, new RegExp(`^${id} +session.started +delivered +1`, 'm'))
  const details = await json<WebhookDeliveryDetails>('delivery', made.id, id)
  assert.equal((details.event.data as { session_id?: string }).session_id, session)
  assert.deepEqual(
    details.log.map(({ number, status }) => [number, status]),
    [[1, 204]],
  )
  assert.equal((await json<WebhookDelivery>('redeliver', made.id, id)).state, 'pending')
  await receiver.until('it comes again', ({ accepted }) => accepted.length === 2)
  assert.equal(receiver.accepted[1]!.id, id)
  assert.equal((await berth(['webhooks', 'redeliver', made.id, 'absent'])).code, 4)
  await send(server, 'DELETE', `/browsers/${session}`)
})

test('completions offer webhooks for each command that takes one', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const { id } = await create(t, receiver.url)
  for (const verb of ['get', 'test', 'deliveries']) {
    const { stdout } = await berth(['__complete', 'webhooks', verb, id.slice(0, 4)])
    assert.match(stdout, new RegExp(`^${id}\t`, 'm'), verb)
  }
})
