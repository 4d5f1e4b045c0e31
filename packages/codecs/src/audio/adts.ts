// Reads what an AAC encoder writes: ADTS frames (ISO 14496-3, 1.A.2). Each begins with a head that tells its length.
import { ByteQueue } from '../bytes/byte-queue.ts'

const HEAD_BYTES = 7
const CHECKSUM_BYTES = 2

export class AdtsError extends Error {}

export class AdtsReader {
  readonly #queue = new ByteQueue()

  /** Returns the frames that are complete now, without their heads. */
  take(chunk: Buffer): Buffer[] {
    const queue = this.#queue
    queue.push(chunk)
    const frames: Buffer[] = []
    while (queue.length >= HEAD_BYTES) {
      const head = queue.peek(HEAD_BYTES)
      if (head[0] !== 0xff || (head[1]! & 0xf0) !== 0xf0) throw new AdtsError('an ADTS frame has no head')
      const hasChecksum = (head[1]! & 1) === 0
      const headBytes = HEAD_BYTES + (hasChecksum ? CHECKSUM_BYTES : 0)
      const length = ((head[3]! & 3) << 11) | (head[4]! << 3) | (head[5]! >> 5)
      if (length <= headBytes) throw new AdtsError('an ADTS frame is empty')
      if (queue.length < length) break
      frames.push(Buffer.from(queue.take(length).subarray(headBytes)))
    }
    queue.compact()
    return frames
  }
}
