import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nowNs, toNanosecondTime } from './clock.ts'

test('times follow the clock and have nine decimal digits', () => {
  assert.equal(toNanosecondTime(0n), '1970-01-01T00:00:00.000000000Z')
  assert.equal(toNanosecondTime(1_700_000_000_123_456_789n), '2023-11-14T22:13:20.123456789Z')
  const drift = Number(nowNs() / 1_000_000n) - Date.now()
  assert.ok(Math.abs(drift) <= 3, String(drift))
  const [one, other] = [nowNs(), nowNs()]
  assert.ok(other >= one)
})
