import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRetryAfter, retryDelaysMs } from './retry.ts'

test('a delivery is tried again soon, then later and later, and many times in a day', () => {
  const delays = retryDelaysMs({}, () => 1)
  assert.deepEqual(delays.slice(0, 4), [5_000, 15_000, 30_000, 60_000])
  assert.deepEqual(
    delays,
    delays.toSorted((one, other) => one - other),
  )
  assert.equal(delays.at(-1), 2 * 3_600_000)
  const early = retryDelaysMs({}, () => 0)
  assert.ok(early.every((delay, index) => delay === delays[index]! * 0.8))
})

test('a receiver may ask for more time, up to an hour', () => {
  assert.equal(retryDelaysMs({ retryAfterMs: 120_000 })[0], 120_000)
  assert.equal(retryDelaysMs({ retryAfterMs: 1e12 })[0], 3_600_000)
  assert.equal(retryDelaysMs({ retryAfterMs: 1 }, () => 1)[0], 5_000)
  const now = Date.UTC(2026, 10, 19)
  assert.equal(readRetryAfter('120', now), 120_000)
  assert.equal(readRetryAfter('Thu, 19 Nov 2026 00:01:00 GMT', now), 60_000)
  assert.equal(readRetryAfter('Thu, 19 Nov 2020 00:01:00 GMT', now), 0)
  assert.equal(readRetryAfter('soon', now), undefined)
  assert.equal(readRetryAfter(undefined, now), undefined)
})
