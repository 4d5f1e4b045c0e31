import assert from 'node:assert/strict'
import { test } from 'node:test'
import { briefly } from './brief.ts'

const lineOf = (data: object | undefined, more: object = {}) =>
  JSON.stringify({ seq: 7, event: { ts: 1, type: 'console_log', ...(data && { data }), ...more } })
const dataOf = (line: string) => (JSON.parse(line) as { event: { data: object } }).event.data

test('large parts are left out, wherever they are, and all else stays as it is', () => {
  const kept = { url: 'http://x/"\\', list: [{ body: 'stays' }], number: 1, nothing: null }
  for (const data of [
    { headers: { a: '"}' }, ...kept },
    { ...kept, body: '{"url":"other"}' },
    { args: [1], ...kept, png: 'x', stack_trace: { frames: [] } },
    kept,
  ]) {
    const line = briefly(lineOf(data, { truncated: true }))
    assert.equal(line, lineOf(kept, { truncated: true }))
  }
  assert.equal(briefly(lineOf({ body: 'x' })), lineOf({}))
  assert.equal(briefly(lineOf({})), lineOf({}))
  assert.equal(briefly(lineOf(undefined)), lineOf(undefined))
})

test('long texts are cut, also those that are mostly escapes', () => {
  const cut = (text: string) => (dataOf(briefly(lineOf({ text }))) as { text: string }).text
  assert.equal(cut('x'.repeat(300)), 'x'.repeat(300))
  assert.equal(cut('x'.repeat(301)), `${'x'.repeat(300)}…`)
  assert.equal(cut('\\'.repeat(300)), '\\'.repeat(300))
  assert.equal(cut('"'.repeat(5_000)), `${'"'.repeat(300)}…`)
  assert.deepEqual(dataOf(briefly(lineOf({ text: '\ud83d'.repeat(301) }))), {
    text: `${'\ud83d'.repeat(300)}…`,
  })
})
