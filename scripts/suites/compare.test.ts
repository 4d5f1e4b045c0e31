import assert from 'node:assert/strict'
import test from 'node:test'
import { berthFirst, compare, confirmBare, tryAgain } from './compare.ts'
import type { Outcome, Results } from './result.ts'

const results = (outcomes: Record<string, Outcome>): Results =>
  new Map(Object.entries(outcomes).map(([name, outcome]) => [name, { outcome, selector: `at ${name}` }]))

test('compare puts each test into one group', () => {
  const bare = results({ a: 'passed', b: 'failed', c: 'passed', d: 'failed', e: 'skipped', f: 'skipped' })
  const berth = results({ a: 'passed', b: 'failed', c: 'failed', d: 'passed', e: 'skipped', f: 'failed' })
  assert.deepEqual(compare(bare, berth), {
    passedBoth: ['a'],
    failedBoth: ['b', 'f'],
    onlyBare: ['c'],
    onlyBerth: ['d'],
    skipped: ['e'],
  })
})

test('compare counts a test that was skipped or lost through Berth as one that passes only bare', () => {
  const bare = results({ skipped: 'passed', lost: 'passed' })
  const { onlyBare } = compare(bare, results({ skipped: 'skipped' }))
  assert.deepEqual(onlyBare, ['skipped', 'lost'])
})

test('tryAgain repeats only what passes bare and fails through Berth, until it passes', async () => {
  const bare = results({ steady: 'passed', flaky: 'passed', broken: 'passed', both: 'failed' })
  const berth = results({ steady: 'passed', flaky: 'failed', broken: 'failed', both: 'failed' })
  const asked: string[][] = []
  const last = await tryAgain(bare, berth, {
    tries: 3,
    run: async (selectors) => {
      asked.push([...selectors])
      // The selector brings in others, whose results do not count.
      return results({ flaky: 'passed', broken: 'failed', steady: 'failed' })
    },
  })
  assert.deepEqual(asked, [['at flaky', 'at broken'], ['at broken']])
  assert.deepEqual(compare(bare, last).onlyBare, ['broken'])
  assert.deepEqual(compare(bare, last).passedBoth, ['steady', 'flaky'])
})

test('tryAgain runs nothing when nothing differs', async () => {
  const same = results({ a: 'passed' })
  const again = await tryAgain(same, same, { tries: 3, run: () => assert.fail('nothing was to be run') })
  assert.deepEqual(again, same)
})

test('berthFirst runs bare only what does not pass through Berth', async () => {
  const asked: string[][] = []
  const both = await berthFirst({
    berth: async () => results({ a: 'passed', b: 'failed', c: 'skipped' }),
    bare: async (selectors) => {
      asked.push([...selectors])
      return results({ a: 'failed', b: 'passed', c: 'skipped' })
    },
  })
  assert.deepEqual(asked, [['at b', 'at c']])
  assert.equal(both.notRunBare, 1)
  assert.deepEqual(compare(both.bare, both.berth), {
    passedBoth: [],
    failedBoth: [],
    onlyBare: ['b'],
    onlyBerth: [],
    skipped: ['c'],
  })
})

test('berthFirst runs nothing bare when everything passes', async () => {
  const { notRunBare } = await berthFirst({
    berth: async () => results({ a: 'passed' }),
    bare: () => assert.fail('nothing was to be run'),
  })
  assert.equal(notRunBare, 1)
})

test('a test that fails bare with the same others as through Berth is not of Berth', async () => {
  const asked: string[][] = []
  const bare = results({ lonely: 'passed', broken: 'passed', steady: 'passed' })
  const berth = results({ lonely: 'failed', broken: 'failed', steady: 'passed' })
  const confirmed = await confirmBare(bare, berth, async (selectors) => {
    asked.push([...selectors])
    return results({ lonely: 'failed', broken: 'passed', steady: 'failed' })
  })
  assert.deepEqual(asked, [['at lonely', 'at broken']])
  const { onlyBare, failedBoth, passedBoth } = compare(confirmed, berth)
  assert.deepEqual(
    { onlyBare, failedBoth, passedBoth },
    { onlyBare: ['broken'], failedBoth: ['lonely'], passedBoth: ['steady'] },
  )
})

test('confirmBare runs nothing when nothing differs', async () => {
  const same = results({ a: 'passed' })
  assert.equal(await confirmBare(same, same, () => assert.fail('nothing was to be run')), same)
})
