// What a receiver hears of a real browser with a recording.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { webhookEventData } from '@berth/contracts/webhook-events'
import { withCdp } from '../fixtures/cdp.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { createWebhook, mayReachReceivers, verify, WebhookReceiver } from '../fixtures/webhook-receiver.ts'

test('a receiver hears of a start, of standby, of waking, of the end and of the recording', async (t) => {
  const receiver = await WebhookReceiver.start(t)
  const server = await startServer(t, { hasRealInstances: true, env: mayReachReceivers })
  const { secret } = await createWebhook(server, receiver)
  const session = await createSession(server, { standby_after_seconds: 2 })
  const id = session.session_id
  const recording = await send<{ replay_id: string }>(server, 'POST', `/browsers/${id}/replays`, {})
  await withCdp(session.cdp_ws_url, (cdp) => cdp.evaluate('document.body.textContent = "seen"; 0'))
  const replay = recording.body.replay_id
  await send(server, 'POST', `/browsers/${id}/replays/${replay}/stop`)
  await receiver.until('standby', () => receiver.typesOf(id).includes('session.standby'), 30_000)
  await withCdp(session.cdp_ws_url, (cdp) => cdp.evaluate('0'))
  await receiver.until('it wakes', () => receiver.typesOf(id).includes('session.woken'))
  await send(server, 'DELETE', `/browsers/${id}`)
  await receiver.until('the end', () => receiver.typesOf(id).includes('session.ended'))
  await receiver.until('the recording', () => receiver.typesOf(replay).length > 0, 60_000)
  const types = receiver.typesOf(id)
  assert.equal(types[0], 'session.started')
  assert.equal(types.at(-1), 'session.ended')
  for (const event of receiver.accepted) verify(secret, event)
  const ready = receiver.accepted.find(({ type }) => type === 'replay.ready')!
  assert.deepEqual([...Value.Errors(webhookEventData['replay.ready'], ready.data)], [])
  const { session_id: of, size_bytes: size } = ready.data as { session_id: string; size_bytes: number }
  assert.equal(of, id)
  assert.ok(size > 0)
})
