import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { RunningTime } from './running-time.ts'

test('RunningTime advances while the process runs, and hardly while it is stopped', async () => {
  using time = new RunningTime()
  const [beganAt, began] = [performance.now(), time.now()]
  await delay(1_500)
  const counted = time.now() - began
  // A late tick counts for less, never for more.
  assert.ok(counted > 500 && counted <= performance.now() - beganAt, `${counted} ms`)

  const before = time.now()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
  const passed = time.now() - before
  // Floating-point sums are not exact.
  assert.ok(passed <= 501, `${passed} ms`)
})
