// Detects by the first bytes whether an uploaded archive is compressed, and decompresses it. A decoder is bounded in
// its memory and in the time that it may take; how many run at once is bounded by the service.
import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { WrongArchive } from './archive.ts'
import { checkPace } from './pace.ts'

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const GZIP = Buffer.from([0x1f, 0x8b])
/** 8 MiB: what `zstd -19` uses. A decoder holds a whole window, and an archive of a few bytes can ask for 2 GiB. */
const MAX_WINDOW_LOG = 23
const WINDOW_TOO_LARGE = 'ZSTD_error_frameParameter_windowTooLarge'

export interface UnpackOptions {
  /** Called once, before a decoder is made; it is disposed of when the decoder has ended. */
  readonly enter: () => Promise<Disposable>
}

/** Decompresses lazily, so the reader limits the size. */
export async function* unpacked(body: Readable, { enter }: UnpackOptions): AsyncGenerator<Buffer> {
  const { first, all } = await peek(body, ZSTD.length)
  const newDecoder = startsWith(first, ZSTD)
    ? () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } })
    : startsWith(first, GZIP)
      ? () => createGunzip()
      : undefined
  if (!newDecoder) return yield* all
  const turn = await enter()
  try {
    const decoder = newDecoder()
    // Others wait for this turn, so nobody keeps it by sending slowly.
    const paced = checkPace(all, { onSlow: (error) => decoder.destroy(error) })
    pipeline(Readable.from(paced, { objectMode: false }), decoder, () => {})
    yield* decoder as AsyncIterable<Buffer>
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code?.startsWith('Z') !== true) throw error
    throw new WrongArchive(
      code === WINDOW_TOO_LARGE
        ? `body: its zstd window is larger than ${2 ** (MAX_WINDOW_LOG - 20)} MiB; compress it with "zstd -19" or less, without --long and --ultra`
        : 'body: it cannot be decompressed; send the tar itself, or compress it again with zstd or gzip',
      { cause: error },
    )
  } finally {
    turn[Symbol.dispose]()
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
