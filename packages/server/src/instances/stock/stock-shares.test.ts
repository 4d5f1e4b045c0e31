import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StockShares } from './stock-shares.ts'

test('a project that is alone takes all there are', () => {
  const shares = new StockShares()
  assert.deepEqual(
    [2, 1, 0, 0, 1].map((count) => shares.mayTake('a', count)),
    [true, true, false, false, true],
  )
})

test('what comes next is for the projects that found none, in turn, however often another asks', () => {
  const shares = new StockShares(() => 0)
  const ask = (projects: string, count: number) =>
    projects.split('').filter((id) => shares.mayTake(id, count))
  assert.deepEqual(ask('abc', 0), [])
  assert.deepEqual(ask('bccbbbcba', 1), ['a'])
  // The busy project is behind those that wait.
  assert.deepEqual(ask('aaab', 1), ['b'])
  assert.deepEqual(ask('aaac', 1), ['c'])
  assert.deepEqual(ask('da', 1), ['a'])
  // There is one for each.
  assert.deepEqual(ask('ad', 2), ['a', 'd'])
})

test('nothing is kept for long for a project that does not come back', () => {
  let now = 0
  const shares = new StockShares(() => now)
  assert.equal(shares.mayTake('b', 0), false)
  assert.equal(shares.mayTake('a', 1), false)
  now += 5_000
  assert.equal(shares.mayTake('a', 1), true)
})
