// Feeds broken input to every reader of untrusted bytes. Whatever the input: the reader ends, it fails only with its own
// kind of error, and the result does not depend on how the bytes are cut into pieces. FUZZ_SEED repeats a run, FUZZ_MS
// makes it longer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadInput } from '@berth/kit/bad-input'
import { AdtsError, AdtsReader } from './audio/adts.ts'
import { readCrx } from './crx/read.ts'
import { crxOf } from './crx/write.ts'
import { partsOf } from './form/form.ts'
import { FrameSplitter, toFrame } from './frames/frames.ts'
import { RFB_VERSION, RfbClientMessages, RfbError, setEncodings } from './rfb/client-messages.ts'
import { RfbScreenMessages, rfbEncodings } from './rfb/screen-messages.ts'
import { WrongTar } from './tar/header.ts'
import { membersOf } from './json/members.ts'
import { JsonOutline } from './json/outline.ts'
import { readTar } from './tar/reader.ts'
import { TAR_END, tarHead, tarPadding } from './tar/writer.ts'
import { markUnits, setupUnits } from './video/annex-b.ts'
import { FlvReader } from './video/flv.ts'
import { jpegSize } from './video/jpeg-size.ts'
import { ClientFrames, FrameError } from './websocket/client-frames.ts'
import { FrameReader, frameHead, opcodes } from './websocket/frames.ts'
import { MessageError, MessageReader } from './websocket/messages.ts'
import { readXMessage, XMessageReader } from './x11/messages.ts'
import { contentsOf } from './zip/contents.ts'
import { readDirectory, type ArchiveFile } from './zip/directory.ts'
import { archiveOf } from '../../../tests/fixtures/zip.ts'
import { isFull } from '../../../tests/tiers.ts'

/** Each full run tries other bytes. A change is judged by the same ones each time. */
const seed = Number(process.env['FUZZ_SEED'] ?? (isFull() ? Math.floor(Math.random() * 2 ** 32) : 1))
/** Time for each reader. */
const BUDGET_MS = Number(process.env['FUZZ_MS'] ?? 250)
const never = new AbortController().signal

interface Target {
  readonly name: string
  /** Valid input, which the test then breaks. */
  readonly samples: readonly Buffer[]
  /** The result of the reader, in any form that can be compared. */
  readonly read: (pieces: readonly Buffer[]) => unknown
  readonly errors: readonly (abstract new (...parameters: never[]) => Error)[]
  /** Whether the reader takes bytes in pieces. */
  readonly isStream: boolean
}

const masked = (opcode: number, text: string) =>
  Buffer.concat([frameHead(opcode, text.length, { isMasked: true }), Buffer.from(text)])
const plain = (opcode: number, text: string) =>
  Buffer.concat([frameHead(opcode, text.length), Buffer.from(text)])
const u16 = (...values: number[]) =>
  Buffer.from(values.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]))
const i32 = (value: number) =>
  Buffer.from([value >>> 24, value >>> 16, value >>> 8, value].map((each) => each & 0xff))

const screenOpening = Buffer.concat([
  Buffer.from(RFB_VERSION),
  Buffer.from([1, 1, 0, 0, 0, 0]),
  Buffer.alloc(20),
  i32(5),
  Buffer.from('Berth'),
])
const rectangle = (width: number, height: number, encoding: number) =>
  Buffer.concat([u16(0, 0, width, height), i32(encoding)])
const zip = archiveOf([
  { name: 'manifest.json', content: '{"name":"x"}' },
  { name: 'dir/', mode: 0o040755, isStored: true },
  { name: 'dir/stored', content: 'as it is', isStored: true },
  { name: 'link', content: 'dir/stored', mode: 0o120777 },
])
const tarEntry = (path: string, content: string) =>
  Buffer.concat([
    tarHead({ path, kind: 'file', size: content.length, mtimeSeconds: 1 }),
    Buffer.from(content),
    tarPadding(content.length),
  ])
const BOUNDARY = 'xx-boundary'
const form = Buffer.from(
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"\r\n\r\ntext\r\n--${BOUNDARY}\r\n` +
    `Content-Disposition: form-data; name="file"; filename="b"\r\nContent-Type: text/plain\r\n\r\n` +
    `${'content\r\n'.repeat(20)}\r\n--${BOUNDARY}--\r\n`,
)

const targets: readonly Target[] = [
  {
    name: 'websocket frames, followed',
    samples: [
      Buffer.concat([masked(1, 'text'), masked(9, 'ping'), masked(2, 'x'.repeat(300)), masked(8, '')]),
    ],
    isStream: true,
    errors: [],
    read(pieces) {
      const reader = new FrameReader({ isMasked: true })
      const ends: number[] = []
      let passed = 0
      for (const piece of pieces) {
        for (let at = 0; at < piece.length;) {
          const end = reader.next(piece, at)
          assert.ok(end > at && end <= piece.length, 'a frame ends after it begins')
          assert.ok(reader.payloadStart >= at && reader.payloadStart <= end)
          at = end
          if (reader.isBroken) return { ends, broken: reader.broken }
          if (reader.isBetween) ends.push(passed + at)
        }
        passed += piece.length
      }
      return { ends, messages: reader.messages }
    },
  },
  {
    name: 'websocket frames of a client',
    samples: [
      Buffer.concat([masked(2, 'data'), masked(9, 'ping'), masked(0, 'x'.repeat(300)), masked(8, '')]),
    ],
    isStream: true,
    errors: [FrameError],
    read(pieces) {
      const reader = new ClientFrames()
      const data: Buffer[] = []
      const controls: string[] = []
      for (const piece of pieces) {
        for (const { opcode, bytes } of reader.take(Buffer.from(piece))) {
          if (opcode === opcodes.binary) data.push(bytes)
          else controls.push(`${opcode} ${bytes.toString('hex')}`)
        }
      }
      return { data: Buffer.concat(data).toString('hex'), controls }
    },
  },
  {
    name: 'websocket messages of a server',
    samples: [Buffer.concat([plain(1, 'text'), plain(9, 'ping'), plain(2, 'x'.repeat(300)), plain(8, '')])],
    isStream: true,
    errors: [MessageError],
    read(pieces) {
      const reader = new MessageReader({ maxBytes: 10_000 })
      return pieces.flatMap((piece) =>
        [...reader.take(piece)].map(({ opcode, payload }) => `${opcode} ${payload.toString('hex')}`),
      )
    },
  },
  {
    name: 'our own frames',
    samples: [
      Buffer.concat([
        toFrame(1, Buffer.from('one')),
        toFrame(2, Buffer.alloc(500)),
        toFrame(3, Buffer.alloc(0)),
      ]),
    ],
    isStream: true,
    errors: [Error],
    read(pieces) {
      const splitter = new FrameSplitter({ maxBytes: 10_000 })
      return pieces.flatMap((piece) =>
        splitter.split(piece).map(({ kind, payload }) => `${kind} ${payload.toString('hex')}`),
      )
    },
  },
  {
    name: 'RFB of a viewer',
    samples: [
      Buffer.concat([
        Buffer.from(RFB_VERSION),
        Buffer.from([1, 1]),
        setEncodings([0, 7, -239]),
        Buffer.from([3, 1, 0, 0, 0, 0, 4, 0, 3, 0]),
        Buffer.from([5, 1, 0, 9, 0, 9, 4, 1, 0, 0, 0, 0, 0, 65]),
        Buffer.from([6, 0, 0, 0, 0, 0, 0, 4, 97, 98, 99, 100]),
        Buffer.from([248, 0, 0, 0, 0, 0, 0, 1, 2, 1, 1, 255, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 30]),
      ]),
    ],
    isStream: true,
    errors: [RfbError],
    read(pieces) {
      const reader = new RfbClientMessages()
      return pieces.flatMap((piece) => reader.split(piece).map((message) => message.toString('hex')))
    },
  },
  {
    name: 'RFB of a screen',
    samples: [
      Buffer.concat([
        screenOpening,
        Buffer.from([0, 0]),
        u16(3),
        rectangle(2, 2, rfbEncodings.raw),
        Buffer.alloc(16),
        rectangle(4, 4, rfbEncodings.tight),
        Buffer.from([0, 20]),
        Buffer.alloc(20),
        rectangle(9, 9, rfbEncodings.desktopSize),
        Buffer.from([2, 3, 0, 0, 0, 0, 0, 0, 2, 65, 66, 248, 0, 0, 0, 0, 0, 0, 1, 1, 9]),
      ]),
    ],
    isStream: true,
    errors: [RfbError],
    read(pieces) {
      const found: unknown[] = []
      const reader = new RfbScreenMessages({
        onUpdate: (pixels) => found.push(pixels),
        onResize: () => found.push('resize'),
      })
      for (const piece of pieces) reader.take(piece)
      return [...found, reader.isBetween, reader.isInUpdate]
    },
  },
  {
    name: 'X11',
    samples: [
      Buffer.concat([
        Buffer.from([1, 0, 11, 0, 0, 0, 1, 0, 1, 2, 3, 4]),
        Buffer.from([1, 0, 1, 0, 1, 0, 0, 0, ...Buffer.alloc(28)]),
        Buffer.alloc(32, 22),
        Buffer.from([0, 3, 2, 0, ...Buffer.alloc(28)]),
      ]),
    ],
    isStream: true,
    errors: [],
    read(pieces) {
      const found: unknown[] = []
      let isFirst = true
      const reader = new XMessageReader({
        onMessage: (message) => {
          found.push(isFirst ? message.length : [message.length, readXMessage(message)])
          isFirst = false
        },
        // A long message is read, but into the same memory each time.
        roomFor: (length) => (length <= shared.length ? shared.subarray(0, length) : undefined),
      })
      for (const piece of pieces) {
        for (let at = 0; at < piece.length;) {
          const room = reader.room()
          assert.ok(room.length > 0, 'there is always room for more')
          const length = piece.copy(room, 0, at, Math.min(piece.length, at + room.length))
          at += length
          if (!reader.take(length)) return [...found, 'too long']
        }
      }
      return found
    },
  },
  {
    name: 'FLV',
    samples: [
      Buffer.concat([
        Buffer.from('FLV\x01\x01\0\0\0\x09\0\0\0\0', 'latin1'),
        Buffer.from([9, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0x17, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 19]),
        Buffer.from([9, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0x27, 1, 0, 0, 0, 8, 9, 0, 0, 0, 18]),
      ]),
    ],
    isStream: true,
    errors: [],
    read(pieces) {
      const found: string[] = []
      const reader = new FlvReader({
        onSetup: (record) => found.push(`setup ${record.toString('hex')}`),
        onPicture: (unit, isKey) => found.push(`${isKey} ${unit.toString('hex')}`),
      })
      for (const piece of pieces) reader.take(piece)
      return found
    },
  },
  {
    name: 'ADTS',
    samples: [Buffer.from('fff15080017ffc21100460fff1508001bffc21100460081c', 'hex')],
    isStream: true,
    errors: [AdtsError],
    read(pieces) {
      const reader = new AdtsReader()
      return pieces.flatMap((piece) => reader.take(piece).map((frame) => frame.toString('hex')))
    },
  },
  {
    name: 'H.264 units',
    samples: [
      Buffer.from([1, 100, 0, 31, 255, 225, 0, 3, 103, 100, 0, 1, 0, 2, 104, 1]),
      Buffer.from([0, 0, 0, 2, 101, 1, 0, 0, 0, 1, 65]),
    ],
    isStream: false,
    errors: [],
    read: ([bytes]) => [setupUnits(bytes!).length, markUnits(Buffer.from(bytes!)).length],
  },
  {
    name: 'the size of a JPEG',
    samples: [
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 64, 0, 32, 1, 1, 0x11, 0]),
    ],
    isStream: false,
    errors: [],
    read: ([bytes]) => jpegSize(bytes!),
  },
  {
    name: 'tar',
    samples: [
      Buffer.concat([
        tarEntry('a', 'content'),
        tarEntry(`${'d'.repeat(200)}/${'f'.repeat(150)}`, 'x'),
        TAR_END,
      ]),
    ],
    isStream: true,
    errors: [WrongTar],
    async read(pieces) {
      const found: string[] = []
      for await (const entry of readTar(streamOf(pieces))) {
        const content = await Array.fromAsync(entry.content())
        found.push(`${entry.kind} ${entry.path} ${Buffer.concat(content).toString('hex')}`)
      }
      return found
    },
  },
  {
    name: 'the outline of JSON',
    samples: [Buffer.from('{"a":[1,"\\"[{",null],"b":{"c":"\\u00e9"}}')],
    isStream: true,
    errors: [BadInput],
    read(pieces) {
      const outline = new JsonOutline({ maxDepth: 8, maxValues: 100 })
      for (const piece of pieces) outline.take(piece)
      outline.end()
      // What it refuses is none; what it accepts may still be none.
      return 'like JSON'
    },
  },
  {
    name: 'members of JSON',
    samples: [Buffer.from(JSON.stringify({ one: '"\\', two: [1, { deep: '}' }], three: null, four: {} }))],
    isStream: false,
    errors: [BadInput],
    read: ([bytes]) => membersOf(bytes!.toString(), 0),
  },
  {
    name: 'zip',
    samples: [zip],
    isStream: false,
    errors: [BadInput],
    async read([bytes]) {
      const archive = fileOf(bytes!)
      const { entries, start } = await readDirectory(archive, bytes!.length)
      for (const [index, entry] of entries.entries()) {
        assert.ok(!entry.name.startsWith('/') && !entry.name.split('/').includes('..'), entry.name)
        const next = entries[index + 1]?.offset ?? start
        const content = await Array.fromAsync(contentsOf(archive, entry, { next, signal: never }))
        assert.equal(Buffer.concat(content).length, entry.bytes)
      }
      return entries.length
    },
  },
  {
    name: 'crx',
    samples: [crxOf(zip, 'fuzz').crx],
    isStream: false,
    errors: [BadInput],
    read: ([bytes]) => readCrx(fileOf(bytes!), bytes!.length, never),
  },
  {
    name: 'forms',
    samples: [form],
    isStream: true,
    errors: [BadInput],
    async read(pieces) {
      const found: string[] = []
      for await (const { name, content } of partsOf(
        streamOf(pieces),
        `multipart/form-data; boundary=${BOUNDARY}`,
      )) {
        found.push(`${name} ${Buffer.concat(await Array.fromAsync(content)).toString('hex')}`)
      }
      return found
    },
  },
]

const shared = Buffer.alloc(1024 * 1024)

async function* streamOf(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

function fileOf(bytes: Buffer): ArchiveFile {
  return {
    read: async (buffer, offset, length, position) => ({
      bytesRead: bytes.subarray(position, position + length).copy(buffer, offset),
    }),
  }
}

/** Mulberry32: the same seed gives the same numbers. */
function randomOf(start: number): (below: number) => number {
  let state = start >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Bytes with a meaning in many formats: lengths that are too large, sign bits, end marks. */
const SPECIAL = [0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x0d, 0x0a, 0x2f]

function broken(sample: Buffer, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(sample)
  for (let count = random(4); count >= 0 && bytes.length > 0; count--) {
    const at = random(bytes.length)
    switch (random(6)) {
      case 0:
        bytes[at] = random(256)
        break
      case 1:
        bytes[at] = SPECIAL[random(SPECIAL.length)]!
        break
      case 2:
        bytes = bytes.subarray(0, at)
        break
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(8))])
        break
      case 4:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          bytes.subarray(random(at + 1)),
          Buffer.alloc(random(40), random(256)),
        ])
        break
      default:
        bytes.fill(SPECIAL[random(SPECIAL.length)]!, at, Math.min(bytes.length, at + 1 + random(8)))
    }
  }
  return bytes
}

function cut(bytes: Buffer, random: (below: number) => number): Buffer[] {
  const pieces: Buffer[] = []
  const longest = 1 + random(bytes.length + 1)
  for (let at = 0; at < bytes.length;) {
    const piece = bytes.subarray(at, at + 1 + random(longest))
    pieces.push(piece)
    at += piece.length
  }
  return pieces
}

async function outcomeOf({ read, errors }: Target, pieces: readonly Buffer[]): Promise<unknown> {
  try {
    return await read(pieces)
  } catch (error) {
    const isOwn = errors.some((kind) => error instanceof kind) && !(error instanceof assert.AssertionError)
    const isSystem = error instanceof RangeError || error instanceof TypeError
    if (!isOwn || isSystem) throw error
    return `refused: ${(error as Error).message}`
  }
}

for (const target of targets) {
  test(`${target.name}: broken bytes are refused or read, and never more than that`, async (t) => {
    t.diagnostic(`FUZZ_SEED=${seed}`)
    const random = randomOf(seed)
    const until = performance.now() + BUDGET_MS
    let rounds = 0
    for (; rounds < 20 || performance.now() < until; rounds++) {
      const sample = target.samples[random(target.samples.length)]!
      const bytes = rounds === 0 ? sample : broken(sample, random)
      const context = () => `round ${rounds} of FUZZ_SEED=${seed}: ${bytes.toString('hex')}`
      try {
        const whole = await outcomeOf(target, [bytes])
        if (rounds === 0) assert.ok(!String(whole).startsWith('refused'), 'the sample is good')
        if (target.isStream) assert.deepEqual(await outcomeOf(target, cut(bytes, random)), whole)
      } catch (error) {
        throw new Error(context(), { cause: error })
      }
    }
    t.diagnostic(`${rounds} rounds`)
  })
}
