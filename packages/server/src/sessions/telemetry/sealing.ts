// Seals stored events: JSON lines, compressed, then encrypted with the key of their session. The master key seals that
// key, so a rotation rewrites only one small record per session. Session and position are authenticated, so a segment
// that was moved elsewhere does not open.
//
//   12 bytes iv | 16 tag | ciphertext of zstd
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
/** Limits decompression; no segment is made larger than this. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024
/** To pass so little to another thread costs more than to decompress it. */
const MAX_SMALL_BYTES = 32 * 1024
const MAX_SMALL_TEXT_BYTES = 512 * 1024
/** Most small segments fit into one piece; zlib's own size takes four for a usual one. */
const PIECE_BYTES = 64 * 1024

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

export interface Place {
  readonly sessionId: string
  readonly firstSeq: number
}

export class SegmentSeal {
  readonly #key: Buffer

  private constructor(key: Buffer) {
    this.#key = key
  }

  /** Creates the sealed key of a session, before its first event. */
  static make(box: SealedBox, sessionId: string): Buffer {
    return box.seal(randomBytes(KEY_BYTES).toString('base64'), contextOf(sessionId))
  }

  static open(box: SealedBox, sessionId: string, sealedKey: Buffer): SegmentSeal {
    return new SegmentSeal(Buffer.from(box.open(sealedKey, contextOf(sessionId)), 'base64'))
  }

  async seal(lines: readonly string[], place: Place): Promise<Buffer> {
    const packed = await compress(Buffer.from(lines.join('\n')))
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    cipher.setAAD(aadOf(place))
    const text = Buffer.concat([cipher.update(packed), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), text])
  }

  async open(sealed: Buffer, place: Place): Promise<string[]> {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(aadOf(place))
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    const packed = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
    const text = smallText(packed) ?? (await decompress(packed, { maxOutputLength: MAX_TEXT_BYTES }))
    return text.toString().split('\n')
  }
}

/** Undefined for what would hold up everybody else: a page can write much that packs into little. */
function smallText(packed: Buffer): Buffer | undefined {
  if (packed.length > MAX_SMALL_BYTES) return undefined
  try {
    return zstdDecompressSync(packed, { maxOutputLength: MAX_SMALL_TEXT_BYTES, chunkSize: PIECE_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

const contextOf = (sessionId: string) => `telemetry_sessions/sealed_key/${sessionId}`

const aadOf = ({ sessionId, firstSeq }: Place) =>
  Buffer.from(`telemetry_segments/payload/${sessionId}/${firstSeq}`)
