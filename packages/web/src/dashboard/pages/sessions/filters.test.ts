import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packTags, parseTag, unpackTags } from './filters.ts'

test('tags of any text go into the address and come back', () => {
  const tags = { team: 'a&b=c', 'x y': '', ümlaut: '%20+#' }
  assert.deepEqual(unpackTags(packTags(tags)!), tags)
  assert.equal(packTags({}), undefined)
})

test('a tag is typed as name=value', () => {
  assert.deepEqual(parseTag(' team = a=b '), ['team', 'a=b'])
  assert.deepEqual(parseTag('team'), ['team', ''])
  assert.equal(parseTag(' =x'), undefined)
})
