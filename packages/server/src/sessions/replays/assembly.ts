// Assembles a recording: turns the records in its journal into a video in the blob store.
import { Readable } from 'node:stream'
import type { RecordingMarker } from '@berth/contracts/recording'
import type { Blob, Blobs } from '../../platform/blobs/blobs.ts'
import { ContentSealer, type ContentLock } from '../../platform/blobs/sealed-content.ts'
import type { Journal } from './journal.ts'
import { movieHead, type Chapter } from '@berth/codecs/mp4/movie'
import { SampleTable } from '@berth/codecs/mp4/sample-table'
import { newSplitter, RecordReader, WrongRecord, type Numbered } from './records.ts'

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
  options: { blobs: Blobs; lock: ContentLock; createdAt: Date; maxBytes: number; signal: AbortSignal },
): Promise<Assembled | undefined> {
  const samples = new SampleTable()
  const chapters: Chapter[] = []
  const reader = new RecordReader()
  let lostMs = 0
  for await (const record of recordsOf(journal, reader)) {
    if (record.kind === 'sample') {
      samples.add({ timeMs: record.timeMs, bytes: record.unit.length, isKey: record.isKey })
    } else if (record.kind === 'gap') lostMs += record.lostMs
    else if (record.kind === 'marker') chapters.push({ timeMs: record.timeMs, title: titleOf(record.marker) })
  }
  const { setup, lastMs } = reader
  if (!setup || samples.count === 0) return undefined
  const head = movieHead({ setup, samples, chapters, endMs: lastMs, createdAt: options.createdAt })
  const sizeBytes = head.bytes.length + samples.bytes
  const { blobs, lock, signal } = options
  const content = Readable.from(videoOf(journal, head.bytes), { objectMode: false })
  const sealer = new ContentSealer(lock)
  content.once('error', (error) => sealer.destroy(error))
  // Sealing adds a few bytes.
  const blob = await blobs.put(content.pipe(sealer), {
    maxBytes: sizeBytes + (sizeBytes >> 8) + 1024,
    signal,
  })
  return { blob, sizeBytes, durationMs: head.durationMs, lostMs, chapters }
}

async function* videoOf(journal: Journal, head: Buffer): AsyncIterable<Buffer> {
  yield head
  for await (const record of recordsOf(journal, new RecordReader())) {
    if (record.kind === 'sample') yield record.unit
  }
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
