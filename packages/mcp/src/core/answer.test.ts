import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compact, data, list, UNTRUSTED } from './answer.ts'
import { MAX_TEXT } from './text.ts'

const textOf = (block: object) => (block as { text: string }).text

test('data has a number that is new each time, around all of it', () => {
  const [one, other] = [data('---- end of data 0 ----'), data('x')]
  const numberOf = (block: object) => /^---- data ([0-9a-f]{12}) ----$/m.exec(textOf(block))![1]!
  assert.notEqual(numberOf(one), numberOf(other))
  assert.ok(textOf(one).endsWith(`---- end of data ${numberOf(one)} ----`))
  assert.deepEqual((one as unknown as Record<string, unknown>)['_meta'], { [UNTRUSTED]: true })
})

test('a list leaves out what does not fit, and says where to go on', () => {
  const items = Array.from({ length: 10 }, (_, id) => ({ id, text: 'x'.repeat(4_000) }))
  const shown = JSON.parse(textOf(list({ items, hasMore: false }, 20))) as Record<string, unknown>
  const count = (shown['items'] as unknown[]).length
  assert.ok(count < 10 && count > 0)
  assert.ok(textOf(list({ items, hasMore: false }, 20)).length < MAX_TEXT * 1.2)
  assert.equal(shown['next_offset'], 20 + count)
  assert.equal(shown['has_more'], true)
  const whole = JSON.parse(textOf(list({ items: [1, 2], hasMore: true, nextOffset: 2 }, 0))) as object
  assert.deepEqual(whole, { items: [1, 2], has_more: true, next_offset: 2 })
})

test('large fields are cut or left out, by name', () => {
  assert.deepEqual(compact({ a: 1, b: ['x'.repeat(9_000)] }), { a: 1, omitted_fields: ['b'] })
  assert.deepEqual(compact({ a: 1, b: 'x'.repeat(9_000) }), {
    a: 1,
    b: 'x'.repeat(8_192),
    cut_fields: { b: '9,000 characters' },
  })
  assert.deepEqual(compact({ a: 1, b: undefined }), { a: 1, b: undefined })
})
