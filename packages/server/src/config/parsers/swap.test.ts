import assert from 'node:assert/strict'
import { test } from 'node:test'
import { swapPlace } from './swap.ts'

test('swap is a kind that the server makes, or a list of devices', () => {
  for (const kind of ['auto', 'zram', 'file', 'off']) assert.equal(swapPlace(kind), kind)
  assert.deepEqual(swapPlace('/dev/sda2, /swap file'), ['/dev/sda2', '/swap file'])
  for (const wrong of ['', 'yes', 'zram,/dev/sda2', 'sda2']) {
    assert.throws(() => swapPlace(wrong), new RegExp(`must be auto, zram, file, off.*but is "${wrong}"`))
  }
})
