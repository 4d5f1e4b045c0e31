// Reads the encoder's output. FLV is the simplest format that tells where a picture ends, whether it is a key frame and
// how to set up a decoder, all in the form that MP4 uses. Adobe FLV 10.1, annex E.
import { ByteQueue } from '../bytes/byte-queue.ts'

const FILE_HEAD_BYTES = 13
const TAG_HEAD_BYTES = 11
const TAG_TAIL_BYTES = 4
const VIDEO = 9
const AVC = 7
const KEY_FRAME = 1
const SETUP = 0
const PICTURE = 1
/** Kind of frame, kind of packet, and a time that is always 0. */
const VIDEO_HEAD_BYTES = 5

export interface FlvEvents {
  /** An AVCDecoderConfigurationRecord. */
  readonly onSetup: (record: Buffer) => void
  readonly onPicture: (unit: Buffer, isKey: boolean) => void
}

export class FlvReader {
  readonly #events: FlvEvents
  readonly #queue = new ByteQueue()
  #isBegun = false

  constructor(events: FlvEvents) {
    this.#events = events
  }

  take(chunk: Buffer): void {
    const queue = this.#queue
    queue.push(chunk)
    if (!this.#isBegun) {
      if (queue.length < FILE_HEAD_BYTES) return
      queue.skip(FILE_HEAD_BYTES)
      this.#isBegun = true
    }
    while (queue.length >= TAG_HEAD_BYTES) {
      const length = TAG_HEAD_BYTES + queue.peek(4).readUIntBE(1, 3) + TAG_TAIL_BYTES
      if (queue.length < length) break
      this.#tag(queue.take(length))
    }
  }

  #tag(bytes: Buffer): void {
    const body = bytes.subarray(TAG_HEAD_BYTES, -TAG_TAIL_BYTES)
    if (bytes[0] !== VIDEO || body.length < VIDEO_HEAD_BYTES || (body[0]! & 0x0f) !== AVC) return
    const content = body.subarray(VIDEO_HEAD_BYTES)
    if (body[1] === SETUP) this.#events.onSetup(content)
    if (body[1] === PICTURE) this.#events.onPicture(content, body[0]! >> 4 === KEY_FRAME)
  }
}
