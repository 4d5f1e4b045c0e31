// Detects by the first bytes whether an uploaded archive is compressed, and decompresses it.
import { pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { WrongArchive } from './archive.ts'

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const GZIP = Buffer.from([0x1f, 0x8b])

/** Decompresses lazily, so the reader limits the size. */
export async function* unpacked(body: Readable): AsyncGenerator<Buffer> {
  const { first, all } = await peek(body, ZSTD.length)
  const decompressor = startsWith(first, ZSTD)
    ? createZstdDecompress()
    : startsWith(first, GZIP)
      ? createGunzip()
      : undefined
  if (!decompressor) return yield* all
  pipeline(Readable.from(all, { objectMode: false }), decompressor, () => {})
  try {
    yield* decompressor as AsyncIterable<Buffer>
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code?.startsWith('Z') !== true) throw error
    throw new WrongArchive('it cannot be decompressed', { cause: error })
  }
}

async function peek(body: Readable, count: number): Promise<{ first: Buffer; all: AsyncGenerator<Buffer> }> {
  // Destroying the body would cut the connection before the client gets the error.
  const iterator = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  const read: Buffer[] = []
  let length = 0
  while (length < count) {
    const { value, done } = await iterator.next()
    if (done) break
    read.push(value)
    length += value.length
  }
  const first = Buffer.concat(read)
  return {
    first,
    all: (async function* () {
      try {
        if (first.length > 0) yield first
        yield* { [Symbol.asyncIterator]: () => iterator }
      } finally {
        await iterator.return?.()
      }
    })(),
  }
}

const startsWith = (bytes: Buffer, start: Buffer) => bytes.subarray(0, start.length).equals(start)
