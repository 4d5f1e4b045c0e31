// Content that is encrypted at rest and can be read from any offset: pieces of equal size, each sealed
// separately. A piece's number is authenticated, so pieces cannot be swapped; the number of pieces
// follows from the size, which is stored elsewhere.
//
//   a piece: 12 iv | 16 tag | ciphertext, as long as the piece
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Readable, Transform, type TransformCallback } from 'node:stream'
import { AppError } from '../errors/app-error.ts'
import { BlobStoreFailure } from './store.ts'

const IV_BYTES = 12
const TAG_BYTES = 16
const OVERHEAD = IV_BYTES + TAG_BYTES
export const CONTENT_KEY_BYTES = 32
export const PIECE_BYTES = 64 * 1024

export interface ContentLock {
  readonly key: Buffer
  /** The owner of the content; it opens in no other context. */
  readonly context: string
}

export function sealPiece(plain: Buffer, { key, context }: ContentLock, number: number): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(`${context}/${number}`))
  const text = cipher.update(plain)
  // Returns no bytes, but the tag exists only after this call.
  cipher.final()
  return Buffer.concat([iv, cipher.getAuthTag(), text])
}

/** Throws if the piece was not sealed with this key, context and number. */
export function openPiece(sealed: Buffer, { key, context }: ContentLock, number: number): Buffer {
  if (sealed.length < OVERHEAD) throw new Error('Not a sealed piece')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(`${context}/${number}`))
  decipher.setAuthTag(sealed.subarray(IV_BYTES, OVERHEAD))
  const plain = decipher.update(sealed.subarray(OVERHEAD))
  // Returns no bytes, but throws if the tag is wrong.
  decipher.final()
  return plain
}

/** Cuts the stream into pieces and seals each. */
export class ContentSealer extends Transform {
  readonly #lock: ContentLock
  #number = 0
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(lock: ContentLock) {
    super()
    this.#lock = lock
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < PIECE_BYTES) return done()
    let bytes = Buffer.concat(this.#held)
    while (bytes.length >= PIECE_BYTES) {
      this.#seal(bytes.subarray(0, PIECE_BYTES))
      bytes = bytes.subarray(PIECE_BYTES)
    }
    this.#held = [bytes]
    this.#heldBytes = bytes.length
    done()
  }

  override _flush(done: TransformCallback): void {
    if (this.#heldBytes > 0) this.#seal(Buffer.concat(this.#held))
    done()
  }

  #seal(piece: Buffer): void {
    this.push(sealPiece(piece, this.#lock, this.#number++))
  }
}

export interface ContentRange {
  /** Size of the whole content before sealing. */
  readonly sizeBytes: number
  readonly start: number
  /** The last byte, inclusive. */
  readonly end: number
}

/** Returns the bytes of a range; `read` reads the sealed content. */
export function openContent(
  read: (range: { start: number; end: number }) => Promise<Readable>,
  lock: ContentLock,
  range: ContentRange,
): Readable {
  return Readable.from(piecesOf(read, lock, range), { objectMode: false, highWaterMark: PIECE_BYTES })
}

async function* piecesOf(
  read: (range: { start: number; end: number }) => Promise<Readable>,
  lock: ContentLock,
  { sizeBytes, start, end }: ContentRange,
): AsyncIterable<Buffer> {
  const first = Math.floor(start / PIECE_BYTES)
  const last = Math.floor(end / PIECE_BYTES)
  const sealedSize = sizeBytes + Math.ceil(sizeBytes / PIECE_BYTES) * OVERHEAD
  const stride = PIECE_BYTES + OVERHEAD
  const source = await read({ start: first * stride, end: Math.min(sealedSize, (last + 1) * stride) - 1 })
  let number = first
  /** The start of a piece whose end has not arrived yet. */
  let rest: Buffer = Buffer.alloc(0)
  const lengthOf = (piece: number) => Math.min(stride, sealedSize - piece * stride)
  const opened = (sealed: Buffer, piece: number): Buffer => {
    const plain = openPiece(sealed, lock, piece)
    const at = piece * PIECE_BYTES
    return plain.subarray(Math.max(0, start - at), Math.min(plain.length, end + 1 - at))
  }
  try {
    for await (let chunk of source as AsyncIterable<Buffer>) {
      if (number > last) break
      // Copies only the pieces that chunks cut in two.
      if (rest.length > 0) {
        const missing = lengthOf(number) - rest.length
        rest = Buffer.concat([rest, chunk.subarray(0, missing)])
        chunk = chunk.subarray(missing)
        if (rest.length < lengthOf(number)) continue
        yield opened(rest, number++)
        rest = Buffer.alloc(0)
      }
      for (; number <= last && chunk.length >= lengthOf(number); number++) {
        const length = lengthOf(number)
        yield opened(chunk.subarray(0, length), number)
        chunk = chunk.subarray(length)
      }
      rest = chunk
    }
  } catch (error) {
    if (error instanceof BlobStoreFailure) throw error
    throw new AppError('invalid_state', 'Cannot read a stored blob: it was changed or cut', { cause: error })
  }
  if (number <= last) throw new AppError('invalid_state', 'Cannot read a stored blob: it was cut')
}
