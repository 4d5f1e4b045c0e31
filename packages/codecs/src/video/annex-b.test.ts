import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markUnits, setupUnits } from './annex-b.ts'

test('lengths become marks, and the parameter sets are read from the record', () => {
  const picture = Buffer.from([0, 0, 0, 2, 6, 5, 0, 0, 0, 3, 0x65, 1, 2])
  assert.deepEqual([...markUnits(picture)], [0, 0, 0, 1, 6, 5, 0, 0, 0, 1, 0x65, 1, 2])
  const record = Buffer.from([1, 0x42, 0xc0, 0x28, 0xff, 0xe1, 0, 3, 0x67, 0x42, 0xc0, 1, 0, 2, 0x68, 0xce])
  assert.deepEqual([...setupUnits(record)], [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0, 0, 0, 1, 0x68, 0xce])
})
