// Assembles a recording: turns the records in its journal into a video in the blob store.
import { Readable } from 'node:stream'
import type { RecordingMarker } from '@berth/contracts/recording'
import type { Blob, Blobs } from '../../platform/blobs/blobs.ts'
import { ContentSealer, type ContentLock } from '../../platform/blobs/sealed-content.ts'
import type { Journal } from './journal.ts'
import { movieHead, type Chapter } from '@berth/codecs/mp4/movie'
import { SampleTable } from '@berth/codecs/mp4/sample-table'
import { SoundTable } from '@berth/codecs/mp4/sound-table'
import { silentFrame, SoundTimeline } from '@berth/codecs/mp4/sound-timeline'
import { MAX_SOUND_FRAMES, newSplitter, RecordReader, WrongRecord, type Numbered } from './records.ts'

/** Half a second. */
const FRAMES_TOGETHER = 24
const NO_FRAMES: readonly Buffer[] = []

export interface Assembled {
  readonly blob: Blob
  readonly sizeBytes: number
  readonly durationMs: number
  readonly lostMs: number
  readonly chapters: readonly Chapter[]
}

/** Undefined if the journal contains no picture. */
export async function assemble(
  journal: Journal,
  options: {
    hasSound: boolean
    blobs: Blobs
    lock: ContentLock
    createdAt: Date
    maxBytes: number
    signal: AbortSignal
  },
): Promise<Assembled | undefined> {
  const samples = new SampleTable()
  const sound = options.hasSound ? new SoundTable() : undefined
  const chapters: Chapter[] = []
  const reader = new RecordReader()
  let lostMs = 0
  let offset = 0
  for await (const { record, frames } of mediaOf(journal, reader, options)) {
    for (const { length } of frames) {
      sound!.add({ bytes: length, offset })
      offset += length
    }
    if (record?.kind === 'sample') {
      samples.add({ timeMs: record.timeMs, bytes: record.unit.length, isKey: record.isKey, offset })
      offset += record.unit.length
    } else if (record?.kind === 'gap') lostMs += record.lostMs
    else if (record?.kind === 'marker')
      chapters.push({ timeMs: record.timeMs, title: titleOf(record.marker) })
  }
  const { setup, lastMs } = reader
  if (!setup || samples.count === 0) return undefined
  const { blobs, lock, signal, createdAt } = options
  const head = movieHead({ setup, samples, ...(sound && { sound }), chapters, endMs: lastMs, createdAt })
  const sizeBytes = head.bytes.length + offset
  const content = Readable.from(videoOf(journal, head.bytes, options), { objectMode: false })
  const sealer = new ContentSealer(lock)
  content.once('error', (error) => sealer.destroy(error))
  // Sealing adds a few bytes.
  const blob = await blobs.put(content.pipe(sealer), {
    maxBytes: sizeBytes + (sizeBytes >> 8) + 1024,
    signal,
  })
  return { blob, sizeBytes, durationMs: head.durationMs, lostMs, chapters }
}

async function* videoOf(
  journal: Journal,
  head: Buffer,
  options: { hasSound: boolean },
): AsyncIterable<Buffer> {
  yield head
  for await (const { record, frames } of mediaOf(journal, new RecordReader(), options)) {
    if (frames.length > 0) yield Buffer.concat(frames)
    if (record?.kind === 'sample') yield record.unit
  }
}

interface Media {
  readonly record?: Numbered
  /** What comes in the file before the record. */
  readonly frames: readonly Buffer[]
}

/**
 * The records in order, and the sound between them: silent where there is none, and half a second at a time, so that
 * players read it together.
 */
async function* mediaOf(
  journal: Journal,
  reader: RecordReader,
  { hasSound }: { hasSound: boolean },
): AsyncIterable<Media> {
  const timeline = new SoundTimeline({ maxFrames: MAX_SOUND_FRAMES })
  let waiting: Buffer[] = []
  function* silence(count: number): Iterable<Media> {
    for (let left = count; left > 0; left--) {
      waiting.push(silentFrame)
      if (waiting.length >= FRAMES_TOGETHER) {
        yield { frames: waiting }
        waiting = []
      }
    }
  }
  for await (const record of recordsOf(journal, reader)) {
    if (record.kind !== 'sound') {
      yield { record, frames: waiting.length >= FRAMES_TOGETHER ? waiting : NO_FRAMES }
      if (waiting.length >= FRAMES_TOGETHER) waiting = []
      continue
    }
    if (!hasSound) continue
    const { silent, isUsed } = timeline.take(record.timeMs)
    yield* silence(silent)
    // A copy, because it outlives the piece of the journal.
    if (isUsed) waiting.push(Buffer.from(record.frame))
  }
  if (!hasSound) return
  yield* silence(timeline.end(reader.lastMs))
  yield { frames: waiting }
}

/** Stops at the first malformed record. Records were checked before they were written, so the rest is damaged. */
async function* recordsOf(journal: Journal, reader: RecordReader): AsyncIterable<Numbered> {
  const splitter = newSplitter()
  for await (const piece of journal.read()) {
    for (const frame of splitter.split(piece)) {
      let record: Numbered | undefined
      try {
        record = reader.take(frame)
      } catch (error) {
        if (error instanceof WrongRecord) return
        throw error
      }
      if (record) yield record
    }
  }
}

const titleOf = ({ kind, text }: RecordingMarker) => (kind === 'crash' ? `⚠ ${text}` : text)
