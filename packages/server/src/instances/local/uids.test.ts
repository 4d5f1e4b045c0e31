import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_UID_BASE as FIRST_UID, Uids } from './uids.ts'

test('never gives a uid twice at once, nor one that an earlier server uses', () => {
  const uids = new Uids({ base: FIRST_UID, taken: [FIRST_UID + 1, FIRST_UID + 10], seed: 0 })
  assert.deepEqual([uids.take(), uids.take(), uids.take()], [FIRST_UID + 4, FIRST_UID + 12, FIRST_UID + 16])
})

test('does not reuse a returned uid while there are others', () => {
  const uids = new Uids({ base: FIRST_UID, taken: [], seed: 65_535 })
  const first = uids.take()
  assert.equal(first, FIRST_UID + 4 * 65_535)
  uids.giveBack(first)
  assert.equal(uids.take(), FIRST_UID)
})

test('are outside of what /etc/subuid and containers use', () => {
  const uids = new Uids({ base: FIRST_UID, taken: [], seed: 0 })
  // Up to SUB_UID_MAX of Debian, and up to the last of systemd-nspawn; below what signed numbers hold.
  assert.ok(uids.take() > 0x6fffffff)
  assert.ok(FIRST_UID + 4 * 65_536 < 0x7fffffff)
})
