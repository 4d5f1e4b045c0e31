import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { newSecret, signatureHeaders } from './secret.ts'

const body = Buffer.from(
  '{"type":"session.ended","timestamp":"2026-11-19T14:05:07.123Z","data":{"name":"ü"}}',
)

test('a signature is what the published library makes of the same', () => {
  const current = newSecret()
  const now = Date.UTC(2026, 10, 19)
  const headers = signatureHeaders({ current, old: undefined }, { id: 'evt_1', body }, now)
  assert.deepEqual(headers, {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now / 1000),
    'webhook-signature': new Webhook(current).sign('evt_1', new Date(now), body.toString()),
  })
})

test('during a rotation, both secrets verify a request, and no other does', () => {
  const [current, old, other] = [newSecret(), newSecret(), newSecret()]
  const headers = signatureHeaders({ current, old }, { id: 'evt_1', body })
  for (const secret of [current, old]) new Webhook(secret).verify(body.toString(), headers)
  assert.throws(() => new Webhook(other).verify(body.toString(), headers))
  assert.throws(() => new Webhook(current).verify(`${body.toString()} `, headers), 'a changed body')
  const late = signatureHeaders({ current, old }, { id: 'evt_1', body }, Date.now() - 600_000)
  assert.throws(() => new Webhook(current).verify(body.toString(), late), 'a repeated request')
})
