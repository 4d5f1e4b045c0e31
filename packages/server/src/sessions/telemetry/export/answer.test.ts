import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verdictOn, type CollectorAnswer } from './answer.ts'

const answer = (status: number, rest: Partial<CollectorAnswer> = {}) =>
  verdictOn(
    { status, retryAfter: undefined, contentType: 'application/x-protobuf', body: new Uint8Array(), ...rest },
    Date.parse('2026-01-01T00:00:00Z'),
  )

test('success, with events that the collector refused', () => {
  assert.deepEqual(answer(200), { kind: 'accepted', rejected: 0 })
  assert.deepEqual(answer(202), { kind: 'accepted', rejected: 0 })
  // partial_success { rejected_log_records: 3, error_message: "no" }
  const body = Uint8Array.from([0x0a, 0x06, 0x08, 0x03, 0x12, 0x02, 0x6e, 0x6f])
  assert.deepEqual(answer(200, { body }), { kind: 'accepted', rejected: 3 })
  const json = { contentType: 'application/json; charset=utf-8' }
  for (const [text, rejected] of [
    ['{"partialSuccess":{"rejectedLogRecords":"7"}}', 7],
    ['{"partialSuccess":{"rejectedLogRecords":7}}', 7],
    ['{"partialSuccess":{"rejectedLogRecords":"-7"}}', 0],
    ['{}', 0],
    ['null', 0],
    ['<html>', 0],
  ] as const) {
    assert.deepEqual(answer(200, { ...json, body: Buffer.from(text) }), { kind: 'accepted', rejected })
  }
  for (const bytes of [[0x0a, 0x7f], [0xff], [0x0a, 0x02, 0x08]]) {
    assert.deepEqual(answer(200, { body: Uint8Array.from(bytes) }), { kind: 'accepted', rejected: 0 })
  }
})

const after = (retryAfter: string) => (answer(503, { retryAfter }) as { afterMs?: number }).afterMs

test('four statuses are tried again, when the collector says', () => {
  for (const status of [429, 502, 503, 504]) assert.equal(answer(status).kind, 'busy')
  assert.equal(after('7'), 7000)
  assert.equal(after('Thu, 01 Jan 2026 00:00:30 GMT'), 30_000)
  assert.equal(after('Wed, 31 Dec 2025 00:00:00 GMT'), 0)
  assert.equal(after('999999999'), 3_600_000)
  assert.equal(after('soon'), undefined)
})

test('others are about the data, or about the destination', () => {
  for (const status of [400, 408, 422, 500, 501]) assert.equal(answer(status).kind, 'refused', String(status))
  for (const status of [301, 307, 401, 403, 404, 405, 415])
    assert.equal(answer(status).kind, 'closed', String(status))
  assert.equal(answer(413).kind, 'too-large')
})
