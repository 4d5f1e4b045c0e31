import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { WakingTime } from './waking-time.ts'

test('it goes on while the process runs, and hardly while it stands still', async () => {
  using time = new WakingTime()
  const [beganAt, began] = [performance.now(), time.now()]
  await delay(1_500)
  const counted = time.now() - began
  // A tick that was late is worth less; none is worth more.
  assert.ok(counted > 500 && counted <= performance.now() - beganAt, `${counted} ms`)

  const before = time.now()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
  const passed = time.now() - before
  // Sums of fractions are not exact.
  assert.ok(passed <= 501, `${passed} ms`)
})
