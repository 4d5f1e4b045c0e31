import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeBuffer } from './free-buffer.ts'

const MB = 1024 * 1024

test('release frees the memory of a chunk at once', () => {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let count = 0; count < 200; count++) {
    const piece = Buffer.allocUnsafeSlow(MB)
    freeBuffer(piece)
    assert.equal(piece.length, 0)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  assert.ok(most <= 2 * MB, `${most} bytes`)
})

test('release keeps memory that is shared', () => {
  const whole = Buffer.from(new ArrayBuffer(10)).fill('whole')
  freeBuffer(whole.subarray(0, 5))
  freeBuffer(whole.subarray(5))
  const pooled = Buffer.from('of a pool')
  freeBuffer(pooled)
  assert.equal(whole.toString(), 'wholewhole')
  assert.equal(pooled.toString(), 'of a pool')
})
