import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRange } from './ranges.ts'

test('parses one byte range, with or without its start or end', () => {
  const cases: [string | undefined, { start: number; end: number } | undefined][] = [
    [undefined, undefined],
    ['bytes=0-', { start: 0, end: 99 }],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=10-19', { start: 10, end: 19 }],
    ['Bytes=99-', { start: 99, end: 99 }],
    ['bytes=50-999999999999999', { start: 50, end: 99 }],
    ['bytes=-1', { start: 99, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['bytes=0-1,5-6', undefined],
    ['pages=1-2', undefined],
  ]
  for (const [header, range] of cases) assert.deepEqual(readRange(header, 100), range, header)
})

test('refuses a malformed range and one outside the content', () => {
  const wrong = [
    '100-',
    '100-200',
    '5-4',
    '-0',
    '-',
    '',
    '0-1e18',
    '1.5-2',
    'x-y',
    '--1',
    `0-${'9'.repeat(40)}`,
  ]
  for (const range of wrong) {
    assert.throws(() => readRange(`bytes=${range}`, 100), {
      code: 'range_not_satisfiable',
      headers: { 'content-range': 'bytes */100' },
    })
  }
})
