// Records as one gzipped object. The records that go into a chunk depend on nothing but the records, and memory is bounded
// by what is compressed.
import { once } from 'node:events'
import { createGzip } from 'node:zlib'
import { toLine } from '../entry.ts'
import type { ExportedRecord } from './store.ts'
import type { RecordPosition } from './types.ts'

export const MAX_ROWS = 50_000
/** Before compression, so that the end of a chunk does not depend on the compressor. */
export const MAX_BYTES = 16 * 1024 * 1024

export interface Chunk {
  /** Undefined when there is no record. */
  readonly body: Buffer | undefined
  readonly rows: number
  /** The last record in it. */
  readonly last: RecordPosition | undefined
  /** Whether no record comes after it in its window. */
  readonly isLast: boolean
}

/** `read` gives the records after a position, in order; fewer than it was asked for when there are no more. */
export async function buildChunk(
  read: (after: RecordPosition, limit: number) => Promise<readonly ExportedRecord[]>,
  start: RecordPosition,
  { batch, maxRows = MAX_ROWS, maxBytes = MAX_BYTES }: { batch: number; maxRows?: number; maxBytes?: number },
): Promise<Chunk> {
  const gzip = createGzip()
  const pieces: Buffer[] = []
  gzip.on('data', (piece: Buffer) => pieces.push(piece))
  const ended = once(gzip, 'end')
  ended.catch(() => {})
  let last = start
  let rows = 0
  let bytes = 0
  let isLast = false
  let isFull = false
  try {
    while (!isFull && !isLast) {
      const records = await read(last, batch)
      isLast = records.length < batch
      for (const record of records) {
        const line = toLine(record)
        const size = Buffer.byteLength(line)
        isFull = rows === maxRows || (rows > 0 && bytes + size > maxBytes)
        if (isFull) {
          isLast = false
          break
        }
        if (!gzip.write(line)) await once(gzip, 'drain')
        rows++
        bytes += size
        last = { recordedAt: record.recorded_at_exact, id: record.id }
      }
    }
    if (rows === 0) return { body: undefined, rows, last: undefined, isLast }
    gzip.end()
    await ended
    return { body: Buffer.concat(pieces), rows, last, isLast }
  } finally {
    gzip.destroy()
  }
}
