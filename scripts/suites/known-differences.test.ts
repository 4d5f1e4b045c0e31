import assert from 'node:assert/strict'
import test from 'node:test'
import { explain, knownDifferences } from './known-differences.ts'

const list = [
  { suite: 'page', test: /^goto\.spec\.ts › .*file:/, reason: 'the file is on another disk' },
  { suite: 'page', test: /^gone\.spec\.ts/, reason: 'was so once' },
  { suite: 'page', test: /^not-run\.spec\.ts/, reason: 'unknown today' },
  { suite: 'bidi', test: /./, reason: 'of another suite' },
] as const

test('explain separates listed tests, and names the entries that are not needed', () => {
  const sorted = explain(
    {
      suite: 'page',
      onlyBare: ['goto.spec.ts › opens a file: address', 'goto.spec.ts › opens a page'],
      passed: ['gone.spec.ts › works'],
    },
    list,
  )
  assert.deepEqual(sorted, {
    unexplained: ['goto.spec.ts › opens a page'],
    explained: [{ name: 'goto.spec.ts › opens a file: address', reason: 'the file is on another disk' }],
    outdated: [list[1]],
  })
})

test('every known difference has a reason, and names no whole suite', () => {
  for (const { test: pattern, reason } of knownDifferences) {
    assert.ok(reason.length > 20, `${pattern} has no reason`)
    assert.ok(!pattern.test(''), `${pattern} matches everything`)
  }
})
