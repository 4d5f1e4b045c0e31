import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST_UID, Uids } from './uids.ts'

test('never gives a uid twice at once, nor one that an earlier server uses', () => {
  const uids = new Uids({ taken: [FIRST_UID + 1, FIRST_UID + 10], seed: 0 })
  assert.deepEqual([uids.take(), uids.take(), uids.take()], [FIRST_UID + 4, FIRST_UID + 12, FIRST_UID + 16])
})

test('does not reuse a returned uid while there are others', () => {
  const uids = new Uids({ taken: [], seed: 65_535 })
  const first = uids.take()
  assert.equal(first, FIRST_UID + 4 * 65_535)
  uids.giveBack(first)
  assert.equal(uids.take(), FIRST_UID)
})
