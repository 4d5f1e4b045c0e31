// The head of an MP4 file with a track of H.264, and one of AAC if there is sound. It comes before the pictures, so players
// can start before they have the whole file, and seek with range requests.
import { box, fullBox, text, u16, u32, u64, u8 } from './boxes.ts'
import type { Chunks } from './chunks.ts'
import type { SampleTable } from './sample-table.ts'
import type { SoundTable } from './sound-table.ts'
import { soundFormat } from './sound-timeline.ts'

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
  readonly sound?: SoundTable
  readonly endMs: number
  readonly createdAt: Date
  readonly chapters: readonly Chapter[]
}

export interface MovieHead {
  readonly bytes: Buffer
  readonly durationMs: number
}

/** Pictures and sound must follow directly, at the offsets that the tables have. */
export function movieHead(movie: Movie): MovieHead {
  const durations = movie.samples.durations(movie.endMs)
  const durationMs = durations.reduce((sum, each) => sum + each, 0)
  const kind = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'))
  // Built twice: its length says where the pictures begin, and does not depend on that offset.
  const { length } = moov(movie, { durations, durationMs, firstAt: 0 })
  const firstAt = kind.length + length + 8
  const media = u32(8 + movie.samples.bytes + (movie.sound?.bytes ?? 0))
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
  const nextTrack = movie.sound ? 3 : 2
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
    ...(movie.sound ? [soundTrack(movie.sound, { ...layout, created })] : []),
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
    ...placeBoxes(samples.chunks, sizes, firstAt),
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

/** How large the samples are, and where in the file. */
function placeBoxes(chunks: Chunks, sizes: Uint32Array, firstAt: number): Buffer[] {
  const offsets = chunks.offsets.all().map((offset) => firstAt + offset)
  return [
    fullBox('stsc', {}, chunkRuns(chunks.counts.all())),
    fullBox('stsz', {}, u32(0, sizes.length), bigEndian(sizes)),
    fullBox('stco', {}, u32(offsets.length), bigEndian(offsets)),
  ]
}

/** Where the number of samples in a chunk changes. */
function chunkRuns(counts: Uint32Array): Buffer {
  const entries: number[] = []
  for (const [index, count] of counts.entries()) {
    if (count !== counts[index - 1]) entries.push(index + 1, count, 1)
  }
  return Buffer.concat([u32(entries.length / 3), bigEndian(Uint32Array.from(entries))])
}

function soundTrack(
  sound: SoundTable,
  { created, durationMs, firstAt }: Layout & { created: number },
): Buffer {
  const { rate, frameSamples } = soundFormat
  const sizes = sound.sizes()
  const track = 2
  const fullVolume = 0x100
  return box(
    'trak',
    fullBox(
      'tkhd',
      { flags: 3 },
      u32(created, created, track, 0, durationMs, 0, 0),
      u16(0, 0, fullVolume, 0),
      IDENTITY,
      u32(0, 0),
    ),
    box(
      'mdia',
      fullBox('mdhd', {}, u32(created, created, rate, sound.count * frameSamples), u16(language('und'), 0)),
      fullBox('hdlr', {}, u32(0), text('soun'), u32(0, 0, 0), text('Sound\0')),
      box(
        'minf',
        fullBox('smhd', {}, u16(0, 0)),
        box('dinf', fullBox('dref', {}, u32(1), fullBox('url ', { flags: 1 }))),
        box(
          'stbl',
          fullBox('stsd', {}, u32(1), mp4a()),
          fullBox('stts', {}, u32(1, sound.count, frameSamples)),
          ...placeBoxes(sound.chunks, sizes, firstAt),
        ),
      ),
    ),
  )
}

/** ISO 14496-14; the descriptors are those of ISO 14496-1. */
function mp4a(): Buffer {
  const { rate, channels, setup } = soundFormat
  const AAC = 0x40
  const AUDIO_STREAM = (5 << 2) | 1
  const noBuffer = u8(0, 0, 0)
  const anyRate = u32(0, 0)
  return box(
    'mp4a',
    u8(0, 0, 0, 0, 0, 0),
    u16(1),
    u32(0, 0),
    u16(channels, 16, 0, 0),
    u32(rate << 16),
    fullBox(
      'esds',
      {},
      descriptor(
        3,
        u16(0),
        u8(0),
        descriptor(4, u8(AAC, AUDIO_STREAM), noBuffer, anyRate, descriptor(5, setup)),
        descriptor(6, u8(2)),
      ),
    ),
  )
}

/** Shorter than 128 bytes, so its length is one byte. */
function descriptor(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  return Buffer.concat([u8(tag, bytes.length), bytes])
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
