import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followSse } from './sse-follow.ts'
import { sseComment, sseEvent, sseEventOfJson } from './sse.ts'

const TEXT =
  sseComment('listening') +
  sseEvent({ message: 'data: {}\n\ndata: {}\r\r ü \u2028' }) +
  sseEventOfJson('{"seq":7}', 7)

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const all = async (body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>) =>
  Array.fromAsync(followSse(body, { maxLength: 200 }))

test('events are written as the standard says', () => {
  assert.equal(
    TEXT,
    ': listening\n\ndata: {"message":"data: {}\\n\\ndata: {}\\r\\r ü \u2028"}\n\nid: 7\ndata: {"seq":7}\n\n',
  )
})

test('what is written is followed, wherever the bytes are cut', async () => {
  for (let size = 1; size <= TEXT.length; size++) {
    const [first, second, ...others] = await all(inPieces(TEXT, size))
    assert.deepEqual(JSON.parse(first!.data), { message: 'data: {}\n\ndata: {}\r\r ü \u2028' })
    assert.deepEqual([second!.id, second!.data], ['7', '{"seq":7}'])
    assert.deepEqual(others, [])
  }
})

test('an answer of fetch() is followed, and is ended by who stops', async () => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(TEXT)),
    cancel: () => cancel(),
  })
  for await (const { data } of followSse(body, { maxLength: 200 })) if (data === '{"seq":7}') break
  await cancelled
})

test('an event without an end is refused', async () => {
  await assert.rejects(all(inPieces(`data: ${'x'.repeat(1_000)}`, 64)), /Cannot follow the events/)
  await assert.rejects(all(inPieces('data: xxxxxxxxxx\n'.repeat(100), 64)), /Cannot follow the events/)
})
