// The head of an MP4 file with one H.264 track. It comes before the pictures, so players can start before they have the
// whole file, and seek with range requests.
import { box, fullBox, text, u16, u32, u64, u8 } from './boxes.ts'
import { SAMPLES_PER_CHUNK, type SampleTable } from './sample-table.ts'

/** All times are milliseconds. */
const TIMESCALE = 1000
const SECONDS_FROM_1904_TO_1970 = 2_082_844_800
/** The number of chapters is stored in one byte. */
const MAX_CHAPTERS = 255
const MAX_TITLE_BYTES = 255
/** In units of 100 nanoseconds. */
const CHAPTER_TICKS_PER_MS = 10_000
const IDENTITY = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
const BT_709 = 1

export interface VideoSetup {
  readonly width: number
  readonly height: number
  /** An AVCDecoderConfigurationRecord. */
  readonly decoder: Buffer
}

export interface Chapter {
  readonly timeMs: number
  readonly title: string
}

export interface Movie {
  readonly setup: VideoSetup
  readonly samples: SampleTable
  readonly endMs: number
  readonly createdAt: Date
  readonly chapters: readonly Chapter[]
}

export interface MovieHead {
  readonly bytes: Buffer
  readonly durationMs: number
}

/** The pictures must follow directly, one after another. */
export function movieHead(movie: Movie): MovieHead {
  const durations = movie.samples.durations(movie.endMs)
  const durationMs = durations.reduce((sum, each) => sum + each, 0)
  const kind = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'))
  // Built twice: its length says where the pictures begin, and does not depend on that offset.
  const { length } = moov(movie, { durations, durationMs, firstAt: 0 })
  const firstAt = kind.length + length + 8
  const media = u32(8 + movie.samples.bytes)
  return {
    bytes: Buffer.concat([kind, moov(movie, { durations, durationMs, firstAt }), media, text('mdat')]),
    durationMs,
  }
}

interface Layout {
  readonly durations: Uint32Array
  readonly durationMs: number
  readonly firstAt: number
}

function moov(movie: Movie, layout: Layout): Buffer {
  const { durationMs } = layout
  const created = Math.floor(movie.createdAt.getTime() / 1000) + SECONDS_FROM_1904_TO_1970
  const { width, height } = movie.setup
  const nextTrack = 2
  return box(
    'moov',
    fullBox(
      'mvhd',
      {},
      u32(created, created, TIMESCALE, durationMs, 0x10000),
      u16(0x100, 0),
      u32(0, 0),
      IDENTITY,
      u32(0, 0, 0, 0, 0, 0, nextTrack),
    ),
    box(
      'trak',
      fullBox(
        'tkhd',
        { flags: 3 },
        u32(created, created, 1, 0, durationMs, 0, 0),
        u16(0, 0, 0, 0),
        IDENTITY,
        u32(width << 16, height << 16),
      ),
      box(
        'mdia',
        fullBox('mdhd', {}, u32(created, created, TIMESCALE, durationMs), u16(language('und'), 0)),
        fullBox('hdlr', {}, u32(0), text('vide'), u32(0, 0, 0), text('Video\0')),
        box(
          'minf',
          fullBox('vmhd', { flags: 1 }, u16(0, 0, 0, 0)),
          box('dinf', fullBox('dref', {}, u32(1), fullBox('url ', { flags: 1 }))),
          sampleBoxes(movie, layout),
        ),
      ),
    ),
    ...chapterBoxes(movie.chapters),
  )
}

function sampleBoxes({ setup, samples }: Movie, { durations, firstAt }: Layout): Buffer {
  const sizes = samples.sizes()
  return box(
    'stbl',
    fullBox('stsd', {}, u32(1), avc1(setup)),
    fullBox('stts', {}, runs(durations)),
    fullBox('stss', {}, u32(samples.keys.length), bigEndian(Uint32Array.from(samples.keys))),
    fullBox('stsc', {}, chunkRuns(samples.count)),
    fullBox('stsz', {}, u32(0, sizes.length), bigEndian(sizes)),
    fullBox('stco', {}, chunkOffsets(sizes, firstAt)),
  )
}

function avc1({ width, height, decoder }: VideoSetup): Buffer {
  const resolution = 72 << 16
  return box(
    'avc1',
    u8(0, 0, 0, 0, 0, 0),
    u16(1),
    Buffer.alloc(16),
    u16(width, height),
    u32(resolution, resolution, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    box('avcC', decoder),
    box('colr', text('nclx'), u16(BT_709, BT_709, BT_709), u8(0)),
  )
}

/** Run lengths of equal durations. */
function runs(durations: Uint32Array): Buffer {
  const entries: number[] = []
  for (let index = 0; index < durations.length;) {
    let end = index + 1
    while (end < durations.length && durations[end] === durations[index]) end++
    entries.push(end - index, durations[index]!)
    index = end
  }
  return Buffer.concat([u32(entries.length / 2), bigEndian(Uint32Array.from(entries))])
}

function chunkRuns(count: number): Buffer {
  const whole = Math.floor(count / SAMPLES_PER_CHUNK)
  const rest = count % SAMPLES_PER_CHUNK
  const entries = [
    ...(whole > 0 ? [[1, SAMPLES_PER_CHUNK, 1]] : []),
    ...(rest > 0 ? [[whole + 1, rest, 1]] : []),
  ]
  return u32(entries.length, ...entries.flat())
}

function chunkOffsets(sizes: Uint32Array, firstAt: number): Buffer {
  const offsets = new Uint32Array(Math.ceil(sizes.length / SAMPLES_PER_CHUNK))
  let at = firstAt
  for (let index = 0; index < sizes.length; index++) {
    if (index % SAMPLES_PER_CHUNK === 0) offsets[index / SAMPLES_PER_CHUNK] = at
    at += sizes[index]!
  }
  return Buffer.concat([u32(offsets.length), bigEndian(offsets)])
}

function bigEndian(values: Uint32Array): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (let index = 0; index < values.length; index++) bytes.writeUInt32BE(values[index]!, index * 4)
  return bytes
}

/** Three letters of five bits each. */
function language(code: string): number {
  return Buffer.from(code).reduce((sum, letter) => (sum << 5) | (letter - 0x60), 0)
}

/** Chapters in Nero's format, which most players understand. */
function chapterBoxes(chapters: readonly Chapter[]): Buffer[] {
  if (chapters.length === 0) return []
  const few = chapters.slice(0, MAX_CHAPTERS)
  const entries = few.map(({ timeMs, title }) => {
    const bytes = wholeCharacters(title)
    return Buffer.concat([u64(timeMs * CHAPTER_TICKS_PER_MS), u8(bytes.length), bytes])
  })
  return [box('udta', fullBox('chpl', { version: 1 }, u32(0), u8(few.length), ...entries))]
}

function wholeCharacters(title: string): Buffer {
  const bytes = Buffer.from(title)
  if (bytes.length <= MAX_TITLE_BYTES) return bytes
  let end = MAX_TITLE_BYTES
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
