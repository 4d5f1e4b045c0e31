import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../platform/errors/app-error.ts'
import { RateLimit } from './rate-limit.ts'

test('RateLimit counts down, refuses with the time to wait, and starts again', () => {
  let now = 1_000
  const rate = new RateLimit(2, () => now)
  assert.deepEqual(rate.take('a'), { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' })
  now += 20_000
  assert.deepEqual(rate.take('a'), { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '0' })
  assert.throws(
    () => rate.take('a'),
    (error: AppError) => {
      assert.equal(error.code, 'too_many_requests')
      assert.equal(error.headers?.['retry-after'], '40')
      return true
    },
  )
  now += 40_000
  assert.ok(rate.take('a'))
})

test('a RateLimit of 0 means no limit', () => {
  assert.equal(new RateLimit(0).take('a'), undefined)
})

test('each project has its own share, and so have requests without a project', () => {
  const rate = new RateLimit(1, () => 0)
  for (const share of ['a', 'b', null]) {
    assert.equal(rate.take(share)?.['x-ratelimit-remaining'], '0')
    assert.throws(() => rate.take(share), AppError)
  }
})
