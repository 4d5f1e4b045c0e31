import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimOf, leaseIdOf } from './lease-claim.ts'

// Its second lease, whose release was begun and interrupted twice.
const leased = { id: 'abc', lease_number: 6, lease_started: 4, lease_keys: { first: 1, second: 4 } }
const by = (keyId: string, leaseId?: string) => ({ keyId, leaseId })

test('the lease that is named counts, whoever names it', () => {
  assert.equal(leaseIdOf(leased), 'abc-4')
  assert.equal(claimOf(leased, by('first', 'abc-4')), 'current')
  assert.equal(claimOf(leased, by('second', 'abc-1')), 'over')
  for (const id of ['abc-7', 'abd-4', 'abc-', 'abc-0', 'abc-04', '4', 'abc-4x', `abc-${'9'.repeat(20)}`]) {
    assert.equal(claimOf(leased, by('second', id)), 'none', id)
  }
})

test('without a name, the last lease of the key counts', () => {
  assert.equal(claimOf(leased, by('second')), 'current')
  assert.equal(claimOf(leased, by('first')), 'over')
  assert.equal(claimOf(leased, by('stranger')), 'unknown')
})

test('a lease from an earlier version of the server belongs to whoever releases it', () => {
  const unrecorded = { ...leased, lease_number: 9, lease_started: 0 }
  assert.equal(leaseIdOf(unrecorded), 'abc-9')
  assert.equal(claimOf(unrecorded, by('stranger')), 'current')
  assert.equal(claimOf(unrecorded, by('second')), 'current')
  assert.equal(claimOf(unrecorded, by('second', 'abc-9')), 'current')
  assert.equal(claimOf(unrecorded, by('second', 'abc-4')), 'over')
})
