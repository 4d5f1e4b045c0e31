// Turns the output of a process into events. The agent sends binary frames, which is faster than text that must be
// checked, and the content of each event is always valid base64.
import { MAX_OUTPUT_FRAME_BYTES, outputFrames } from '@berth/contracts/link'
import { FRAME_HEAD_BYTES } from '@berth/codecs/frames/frames'
import { freeBuffer } from '@berth/kit/free-buffer'
import type { Framing, ToEvent } from './events.ts'

/** Larger parts are not copied to join two events. */
const SMALL_BYTES = 4 * 1024
const beginnings = new Map([
  [outputFrames.stdout, Buffer.from('data: {"stream":"stdout","data_b64":"')],
  [outputFrames.stderr, Buffer.from('data: {"stream":"stderr","data_b64":"')],
] as readonly (readonly [number, Buffer])[])
const ENDING = '"}\n\n'

/** Buffers as little as possible: parts of a frame become events, too. */
export class OutputFraming implements Framing {
  readonly #toEvent: ToEvent
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES)
  #headLength = 0
  /** Bytes left of the current frame. */
  #left = 0
  #json: Buffer[] = []

  constructor(toEvent: ToEvent) {
    this.#toEvent = toEvent
  }

  /** Releases the chunk's memory; nobody may use the chunk afterwards. */
  take(chunk: Buffer): Buffer[] {
    const runs: Run[] = []
    for (let at = 0; at < chunk.length;) {
      if (this.#headLength < FRAME_HEAD_BYTES) {
        at += this.#readHead(chunk, at)
        continue
      }
      const part = chunk.subarray(at, at + this.#left)
      at += part.length
      this.#left -= part.length
      if (this.#left === 0) this.#headLength = 0
      this.#add(runs, part)
    }
    const events = runs.map(({ kind, parts }) => {
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      const beginning = beginnings.get(kind)
      return beginning ? dataEvent(beginning, bytes) : this.#toEvent(bytes)
    })
    freeBuffer(chunk)
    return events
  }

  get #kind(): number {
    return this.#head[0]!
  }

  #readHead(chunk: Buffer, at: number): number {
    const read = chunk.copy(this.#head, this.#headLength, at, at + FRAME_HEAD_BYTES - this.#headLength)
    this.#headLength += read
    if (this.#headLength < FRAME_HEAD_BYTES) return read
    if (this.#kind !== outputFrames.event && !beginnings.has(this.#kind)) {
      throw new Error(`The agent sent a frame of kind ${this.#kind}`)
    }
    this.#left = this.#head.readUInt32BE(1)
    if (this.#left > MAX_OUTPUT_FRAME_BYTES) throw new Error(`A frame of ${this.#left} bytes is too long`)
    if (this.#left === 0 && this.#kind === outputFrames.event)
      throw new Error('The agent sent an empty event')
    if (this.#left === 0) this.#headLength = 0
    return read
  }

  #add(runs: Run[], part: Buffer): void {
    const kind = this.#kind
    if (kind !== outputFrames.event) return join(runs, kind, part)
    if (this.#left === 0) {
      runs.push({ kind, parts: [...this.#json, part], length: part.length })
      this.#json = []
    } else this.#json.push(Buffer.from(part))
  }
}

/** The parts of one event. */
interface Run {
  readonly kind: number
  readonly parts: Buffer[]
  length: number
}

/** Joins small writes of a program into one event. */
function join(runs: Run[], kind: number, part: Buffer): void {
  const last = runs.at(-1)
  const isWorthIt = last && Math.min(last.length, part.length) <= SMALL_BYTES
  if (isWorthIt && last.kind === kind && last.length + part.length <= MAX_OUTPUT_FRAME_BYTES) {
    last.parts.push(part)
    last.length += part.length
  } else runs.push({ kind, parts: [part], length: part.length })
}

function dataEvent(beginning: Buffer, payload: Buffer): Buffer {
  const text = payload.toString('base64')
  const event = Buffer.allocUnsafe(beginning.length + text.length + ENDING.length)
  beginning.copy(event)
  event.write(text, beginning.length, 'latin1')
  event.write(ENDING, beginning.length + text.length, 'latin1')
  return event
}
