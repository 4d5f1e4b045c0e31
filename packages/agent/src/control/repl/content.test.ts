import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_REPL_IMAGES, MAX_REPL_TEXT_BYTES } from '@berth/contracts/repl'
import { FRAME } from '../playwright/conversation.ts'
import { Content } from './content.ts'

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40)])

function contentOf(...frames: [kind: number, payload: string | Buffer][]): Content {
  const content = new Content()
  for (const [kind, payload] of frames) content.take({ kind, payload: Buffer.from(payload as string) })
  return content
}

test('texts keep their order, and those of one channel are one text', () => {
  const { items, isTruncated } = contentOf(
    [FRAME.stdout, 'a'],
    [FRAME.stdout, 'b'],
    [FRAME.stderr, 'c'],
    [FRAME.image, PNG],
    [FRAME.stdout, 'd'],
    [FRAME.value, '5\n'],
    [FRAME.display, 'e\n'],
  )
  assert.deepEqual(items, [
    { type: 'text', channel: 'stdout', text: 'ab' },
    { type: 'text', channel: 'stderr', text: 'c' },
    { type: 'image', mime_type: 'image/png', data_b64: PNG.toString('base64') },
    { type: 'text', channel: 'stdout', text: 'd' },
    { type: 'text', channel: 'result', text: '5\n' },
    { type: 'text', channel: 'display', text: 'e\n' },
  ])
  assert.equal(isTruncated, false)
})

test('texts are cut after the limit, and not within a character', () => {
  const content = contentOf([FRAME.stdout, `x${'é'.repeat(MAX_REPL_TEXT_BYTES)}`], [FRAME.stderr, 'more'])
  const [item] = content.items
  assert.ok(item?.type === 'text' && content.items.length === 1)
  assert.equal(item.text, `x${'é'.repeat((MAX_REPL_TEXT_BYTES - 2) / 2)}`)
  assert.equal(content.isTruncated, true)
  assert.equal(contentOf([FRAME.stdout, 'x'.repeat(MAX_REPL_TEXT_BYTES)]).isTruncated, false)
})

test('only images pass as images, and not too many', () => {
  const wrong = contentOf([FRAME.image, '<svg></svg>'], [FRAME.image, ''], [99, 'unknown'])
  assert.deepEqual(wrong.items, [])
  assert.equal(wrong.isTruncated, true)
  const many = contentOf(
    ...Array.from({ length: MAX_REPL_IMAGES + 1 }, () => [FRAME.image, PNG] as [number, Buffer]),
  )
  assert.equal(many.items.length, MAX_REPL_IMAGES)
  assert.equal(many.isTruncated, true)
  const large = contentOf([FRAME.image, Buffer.concat([PNG, Buffer.alloc(7 * 1024 * 1024)])])
  assert.deepEqual(large.items, [])
})

test('texts of two channels in turn are not without end', () => {
  const content = new Content()
  for (let count = 0; count < 20_000; count++) {
    content.take({ kind: count % 2 ? FRAME.stdout : FRAME.stderr, payload: Buffer.from('x') })
  }
  assert.equal(content.items.length, 10_000)
  assert.equal(content.isTruncated, true)
})
