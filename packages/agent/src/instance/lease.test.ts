import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lease } from './lease.ts'

test('time spent frozen hardly counts against the lease', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  let isLapsed = false
  new Lease({ seconds: 10, onLapsed: () => (isLapsed = true) })
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(500)
  }
  pass(500)
  pass(3_600_000)
  assert.equal(isLapsed, false)
  for (let tick = 0; tick < 14; tick++) pass(500)
  assert.equal(isLapsed, false)
  pass(500)
  assert.equal(isLapsed, true)
})
