import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutLimit, offsetHeaders, toPage } from './paging.ts'

const headersFor = (version: string | undefined, hasMore = true, language = 'js') =>
  offsetHeaders(
    { items: [], hasMore },
    {
      limit: 10,
      offset: 30,
      request: version ? { 'x-stainless-lang': language, 'x-stainless-package-version': version } : {},
    },
  )

test('the next offset is right for clients before and after 0.68', () => {
  assert.equal(headersFor('0.55.0')['x-next-offset'], '30')
  assert.equal(headersFor('0.67.9')['x-next-offset'], '30')
  assert.equal(headersFor('0.68.0')['x-next-offset'], '40')
  assert.equal(headersFor('0.84.0')['x-next-offset'], '40')
  assert.equal(headersFor('1.2.0')['x-next-offset'], '40')
  assert.equal(headersFor(undefined)['x-next-offset'], '40')
  assert.equal(headersFor('0.84.0', false)['x-next-offset'], '0')
  assert.equal(headersFor('0.55.0', false)['x-has-more'], 'false')
})

test('old Python clients count like old npm ones, and Go clients never do', () => {
  assert.equal(headersFor('0.55.0', true, 'python')['x-next-offset'], '30')
  assert.equal(headersFor('0.68.0', true, 'python')['x-next-offset'], '40')
  assert.equal(headersFor('0.28.0', true, 'go')['x-next-offset'], '40')
  assert.equal(headersFor('0.28.0', false, 'go')['x-next-offset'], '0')
})

test('a limit is cut to the largest page', () => {
  for (const [limit, cut] of [
    [1, 1],
    [100, 100],
    [101, 100],
    [1_000_000, 100],
  ]) {
    const query = { limit: limit! }
    cutLimit(query)
    assert.equal(query.limit, cut)
  }
})

test('toPage() reports another page when there is one row more than the limit', () => {
  assert.deepEqual(toPage([1, 2, 3], 2), { items: [1, 2], hasMore: true })
  assert.deepEqual(toPage([1, 2], 2), { items: [1, 2], hasMore: false })
})
