import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyLength, headersOfBody, mergedHeaders, passable } from './headers.ts'

const own = { 'User-Agent': 'browser', Accept: 'text/html', 'sec-ch-ua': 'x' }

test('requested headers replace those of the browser, whatever their case', () => {
  const merged = mergedHeaders(
    own,
    [
      ['user-agent', 'mine'],
      ['X-New', '1'],
      ['HOST', 'elsewhere'],
    ],
    {
      isSameOrigin: true,
    },
  )
  assert.deepEqual(merged, [
    ['Accept', 'text/html'],
    ['sec-ch-ua', 'x'],
    ['user-agent', 'mine'],
    ['X-New', '1'],
  ])
})

test('credentials are not sent to another origin', () => {
  const wanted = [
    ['Authorization', 'secret'],
    ['Cookie', 'a=1'],
    ['X-Kept', '1'],
  ] as const
  const names = (isSameOrigin: boolean) => mergedHeaders({}, wanted, { isSameOrigin }).map(([name]) => name)
  assert.deepEqual(names(true), ['Authorization', 'Cookie', 'X-Kept'])
  assert.deepEqual(names(false), ['X-Kept'])
})

test('only headers that are true of the body and valid in HTTP are passed on', () => {
  const given = [
    ['content-encoding', 'br'],
    ['content-length', '9'],
    ['keep-alive', 'x'],
    ['x-kept', '1'],
  ] as const
  assert.deepEqual(headersOfBody(given), [['x-kept', '1']])
  assert.deepEqual(headersOfBody(given.slice(1)), [given[1], given[3]])
  const odd = [
    ['bad name', 'x'],
    ['x-nul', 'a\0b'],
    ['x-tab', 'a\tb'],
    ['x-far', '漢'],
  ] as const
  assert.deepEqual(passable(odd), [
    ['x-tab', 'a\tb'],
    ['x-far', Buffer.from('漢').toString('latin1')],
  ])
})

test('the length of a body is known only if nothing was decoded', () => {
  assert.equal(bodyLength([['content-length', '12']]), 12)
  assert.equal(
    bodyLength([
      ['content-length', '12'],
      ['content-encoding', 'gzip'],
    ]),
    undefined,
  )
  assert.equal(bodyLength([['content-length', 'many']]), undefined)
  assert.equal(bodyLength([]), undefined)
})
