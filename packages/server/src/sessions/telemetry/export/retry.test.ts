import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryDelayMs } from './retry.ts'

const busy = { kind: 'busy', reason: 'x' } as const

test('the delay doubles up to a bound, with a random part', () => {
  const delays = [0, 1, 2, 5, 6, 1000].map((failures) => retryDelayMs(busy, failures, () => 1))
  assert.deepEqual(delays, [1000, 2000, 4000, 32_000, 60_000, 60_000])
  assert.equal(
    retryDelayMs(busy, 3, () => 0),
    4000,
  )
})

test('a collector that names a time is not asked before it', () => {
  const asked = { ...busy, afterMs: 30_000 }
  for (const random of [0, 0.5, 1]) {
    const delay = retryDelayMs(asked, 7, () => random)
    assert.ok(delay >= 30_000 && delay <= 33_000, String(delay))
  }
  assert.ok(retryDelayMs({ ...busy, afterMs: 0 }, 0, () => 0) >= 1000)
})

test('a destination that is configured wrongly is asked seldom', () => {
  assert.equal(
    retryDelayMs({ kind: 'closed', reason: 'x' }, 0, () => 1),
    300_000,
  )
})
