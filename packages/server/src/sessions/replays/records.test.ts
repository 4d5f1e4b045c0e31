import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { recordKinds } from '@berth/contracts/recording'
import { RecordReader, WrongRecord } from './records.ts'

const decoder = Buffer.from([
  1, 0x42, 0xc0, 0x28, 0xff, 0xe1, 0, 4, 0x67, 0x42, 0xc0, 0x28, 1, 0, 2, 0x68, 0xce,
])
const setup = Buffer.concat([Buffer.from([2, 0, 1, 0]), decoder])
const nal = (type: number, length: number) => {
  const bytes = Buffer.alloc(4 + length, 0x55)
  bytes.writeUInt32BE(length)
  bytes[4] = 0x60 | type
  return bytes
}
const sample = (isKey: boolean, ...nals: Buffer[]) => Buffer.concat([Buffer.from([isKey ? 1 : 0]), ...nals])
const keyFrame = sample(true, nal(6, 20), nal(5, 300))
const nextFrame = sample(false, nal(1, 90))

function record(kind: number, number: number, timeMs: number, content: Buffer = Buffer.alloc(0)) {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(number)
  head.writeUInt32BE(timeMs, 4)
  return { kind, payload: Buffer.concat([head, content]) }
}
type Given = ReturnType<typeof record>

const good = (): Given[] => [
  record(recordKinds.config, 1, 0, setup),
  record(recordKinds.sample, 2, 0, keyFrame),
  record(recordKinds.marker, 3, 400, Buffer.from('{"kind":"navigation","text":"a.example/b"}')),
  record(recordKinds.sample, 4, 200, nextFrame),
  record(recordKinds.time, 5, 2_200),
  record(recordKinds.gap, 6, 3_000, Buffer.from([0, 0, 1, 0])),
  record(recordKinds.sound, 7, 3_500, Buffer.from([0x21, 0x10, 4])),
  record(recordKinds.end, 8, 4_000, Buffer.from('stopped')),
]

function read(records: readonly Given[], elapsedMs?: number) {
  const reader = new RecordReader()
  const taken = records.map((each) => reader.take(each, elapsedMs))
  return { reader, taken }
}

test('records are read in order, and a repeated record is skipped', () => {
  const { reader, taken } = read(good())
  assert.deepEqual(
    taken.map((each) => each!.kind),
    ['config', 'sample', 'marker', 'sample', 'time', 'gap', 'sound', 'end'],
  )
  assert.deepEqual(reader.setup, { width: 512, height: 256, decoder })
  assert.equal(reader.lastMs, 4_000)
  assert.ok(reader.isOver)
  const again = new RecordReader()
  again.take(good()[0]!)
  assert.equal(again.take(good()[0]!), undefined)
  assert.equal(again.take(good()[1]!)?.kind, 'sample')
})

test('malformed records are refused', () => {
  const begun = good().slice(0, 2)
  const next = (kind: number, content?: Buffer, timeMs = 10) => [...begun, record(kind, 3, timeMs, content)]
  const { sample: SAMPLE, config: CONFIG, marker: MARKER, end: END, gap: GAP } = recordKinds
  const longer = nal(1, 50)
  longer.writeUInt32BE(51)
  const huge = nal(1, 50)
  huge.writeUInt32BE(0xffffffff)
  const other = Buffer.from(setup)
  other[8]! ^= 1
  const cases: Record<string, Given[]> = {
    'a number left out': [good()[0]!, record(SAMPLE, 3, 0, keyFrame)],
    'a picture before its decoder': [record(SAMPLE, 1, 0, keyFrame)],
    'a first picture that needs another': [good()[0]!, record(SAMPLE, 2, 0, nextFrame)],
    'a picture without anything': next(SAMPLE, sample(false)),
    'a NAL unit that is longer than its picture': next(SAMPLE, sample(false, longer)),
    'one that is as long as can be said': next(SAMPLE, sample(false, huge)),
    'an empty one': next(SAMPLE, sample(false, nal(1, 5), Buffer.alloc(4))),
    'bytes after the last': next(SAMPLE, sample(false, nal(1, 5), Buffer.alloc(3))),
    'a key frame that is not one': next(SAMPLE, sample(true, nal(1, 50))),
    'one that is a key frame and does not say so': next(SAMPLE, sample(false, nal(5, 50))),
    'time that goes back': [...next(SAMPLE, nextFrame, 500), record(SAMPLE, 4, 499, nextFrame)],
    'another decoder': next(CONFIG, other),
    'a decoder record of no version': next(CONFIG, Buffer.concat([setup.subarray(0, 4), Buffer.alloc(20)])),
    'one that is too long': next(CONFIG, Buffer.concat([setup, Buffer.alloc(2000)])),
    'one that is too short': [record(CONFIG, 1, 0, setup.subarray(0, 6))],
    'a picture of no size': [record(CONFIG, 1, 0, Buffer.concat([Buffer.alloc(4), decoder]))],
    'a marker that is not JSON': next(MARKER, Buffer.from('{')),
    'a marker of no kind': next(MARKER, Buffer.from('{"kind":"advert","text":"x"}')),
    'a marker without text': next(MARKER, Buffer.from('{"kind":"crash","text":7}')),
    'a marker of null': next(MARKER, Buffer.from('null')),
    'a marker that is a book': next(MARKER, Buffer.alloc(5000, 0x20)),
    'an end without a reason': next(END, Buffer.from('bored')),
    'a gap without a length': next(GAP),
    'a kind that there is not': next(99),
    'anything after the end': [...good(), record(recordKinds.time, 9, 5_000)],
    'sound without anything': next(recordKinds.sound),
    'sound that is too long': next(recordKinds.sound, Buffer.alloc(2_049)),
    'no head at all': [{ kind: 1, payload: Buffer.alloc(7) }],
  }
  for (const [what, records] of Object.entries(cases)) {
    assert.throws(() => read(records), WrongRecord, what)
  }
  assert.throws(() => read([good()[0]!, record(SAMPLE, 2, 60_000, keyFrame)], 1_000), WrongRecord)
})

test('the text of a marker has no control characters', () => {
  const text = JSON.stringify({ kind: 'crash', text: 'a\u0000b\n<c>\ud800' })
  const { taken } = read([record(recordKinds.marker, 1, 0, Buffer.from(text))])
  const [first] = taken
  assert.ok(first?.kind === 'marker')
  assert.equal(first.marker.text.replaceAll(/[a-c<> �]/g, ''), '')
})

test('random bytes are either read or refused as malformed', () => {
  for (let round = 0; round < 3_000; round++) {
    const records = good()
    const victim = records[round % records.length]!
    const bytes = Buffer.from(victim.payload)
    const count = 1 + (round % 4)
    for (const [index, value] of randomBytes(count).entries()) {
      bytes[(value * 7 + round * 13 + index) % bytes.length] = randomBytes(1)[0]!
    }
    const cut = round % 5 === 0 ? bytes.subarray(0, round % (bytes.length + 1)) : bytes
    records[round % records.length] = { ...victim, payload: cut }
    try {
      read(records)
    } catch (error) {
      assert.ok(error instanceof WrongRecord, String(error))
    }
  }
})
