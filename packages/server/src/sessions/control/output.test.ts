import assert from 'node:assert/strict'
import { test } from 'node:test'
import { streamProcessOutput } from '@berth/contracts/processes'
import { toFrame } from '@berth/codecs/frames/frames'
import { eventsOf } from './events.ts'
import { OutputFraming } from './output.ts'

const framing = () => new OutputFraming(eventsOf(streamProcessOutput))

function read(events: readonly Buffer[]): object[] {
  return events.map((event) => {
    const [, json] = /^data: ([^\n]*)\n\n$/.exec(event.toString()) ?? []
    assert.ok(json, event.toString())
    return JSON.parse(json) as object
  })
}
const data = (stream: string, text: string) => ({ stream, data_b64: Buffer.from(text).toString('base64') })

test('frames become events in order, and consecutive small frames become one event', () => {
  const frames = [
    toFrame(1, Buffer.from('a')),
    toFrame(1, Buffer.from('b')),
    toFrame(2, Buffer.from('c')),
    toFrame(1, Buffer.from('\0\n"')),
    toFrame(3, Buffer.from('{"event":"cut","dropped_bytes":7}')),
    toFrame(3, Buffer.from('{"event":"exit","exit_code":0}')),
  ]
  const all = Buffer.concat(frames)
  assert.deepEqual(read(framing().take(all)), [
    data('stdout', 'ab'),
    data('stderr', 'c'),
    data('stdout', '\0\n"'),
    { event: 'cut', dropped_bytes: 7 },
    { event: 'exit', exit_code: 0 },
  ])
})

test('parts of a frame are sent before the rest arrives, and nothing is lost', () => {
  const last = { event: 'exit', exit_code: 0 }
  const all = Buffer.concat([
    toFrame(1, Buffer.from('first')),
    toFrame(1, Buffer.alloc(0)),
    toFrame(2, Buffer.from('\0\n"')),
    toFrame(3, Buffer.from(JSON.stringify(last))),
  ])
  for (const size of [1, 2, 3, 7, all.length]) {
    const one = framing()
    const events: object[] = []
    for (let at = 0; at < all.length; at += size) events.push(...read(one.take(all.subarray(at, at + size))))
    const written = (name: string) =>
      (events as { stream?: string; data_b64: string }[])
        .filter(({ stream }) => stream === name)
        .map(({ data_b64 }) => Buffer.from(data_b64, 'base64').toString('latin1'))
        .join('')
    assert.equal(written('stdout'), 'first', `by ${size}`)
    assert.equal(written('stderr'), '\0\n"', `by ${size}`)
    assert.deepEqual(events.at(-1), last, `by ${size}`)
  }
})

test('the memory of a chunk is released at once', () => {
  const frame = toFrame(1, Buffer.alloc(50_000, 'x'))
  const own = Buffer.from(frame.buffer.slice(frame.byteOffset, frame.byteOffset + frame.length))
  const one = framing()
  const events = one.take(own)
  assert.equal(own.length, 0)
  assert.deepEqual(read(events), [data('stdout', 'x'.repeat(50_000))])
})

test('an event is no larger than a frame may be', () => {
  const half = toFrame(1, Buffer.alloc(40_000))
  assert.equal(framing().take(Buffer.concat([half, half])).length, 2)
})

test('malformed frames are refused', () => {
  for (const frame of [
    toFrame(0, Buffer.from('x')),
    toFrame(4, Buffer.from('x')),
    toFrame(1, Buffer.alloc(65_537)),
    toFrame(3, Buffer.alloc(0)),
    toFrame(3, Buffer.from('no JSON')),
    toFrame(3, Buffer.from('{"event":"other"}')),
    toFrame(3, Buffer.from('{"event":"exit","exit_code":"0\\n\\ndata: {}"}')),
  ]) {
    assert.throws(() => framing().take(frame))
  }
})
