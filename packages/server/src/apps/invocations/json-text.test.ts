import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkJson } from './json-text.ts'

const good = [
  'null',
  '0',
  '-1.5e300',
  '1e-400',
  '"text \\" \\\\ \\u00e9 \\ud83d\\ude42 🙂"',
  '{"a":[1,{"b":[]}],"1e999":"1e999"}',
  `${'['.repeat(500)}${']'.repeat(500)}`,
  ' [ true , false ] ',
]
for (const text of good) {
  test(`takes ${text.slice(0, 40)}`, () => checkJson('payload', text))
}

const bad: [string, RegExp][] = [
  ['', /must be JSON/],
  ['{', /must be JSON/],
  ['"', /must be JSON/],
  ['"\\', /must be JSON/],
  ['undefined', /must be JSON/],
  ['01', /must be JSON/],
  ['1e400', /too large/],
  ['[1,-1e999]', /too large/],
  ['9'.repeat(400), /too large/],
  [`[${'[],'.repeat(500_000)}1]`, /more than 500000 values/],
  ['"\\ud800"', /surrogate/],
  ['"\\ude42\\ud83d"', /surrogate/],
  ['"\\ud83d \\ude42"', /surrogate/],
  ['"\ud800"', /surrogate/],
  [`${'['.repeat(501)}${']'.repeat(501)}`, /deeper than 500/],
  ['['.repeat(1_000_000), /deeper than 500/],
  [JSON.stringify('x'.repeat(4_500_000)), /more than 4500000 bytes/],
]
for (const [text, message] of bad) {
  test(`refuses ${JSON.stringify(text).slice(0, 40)}`, () => {
    assert.throws(() => checkJson('payload', text), message)
  })
}
