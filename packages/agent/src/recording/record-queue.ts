// Numbered records of one recording, kept until the server asks for later ones.
import {
  MAX_ANSWER_BYTES,
  MAX_KEPT_BYTES,
  RECORD_HEAD_BYTES,
  RECORDS_WAIT_MS,
  recordKinds,
} from '@berth/contracts/recording'
import { FRAME_HEAD_BYTES, frameHead } from '@berth/codecs/frames/frames'

/** Records are sent after this time, or as soon as there are so many bytes. */
const GATHER_MS = 250
const ENOUGH_BYTES = 512 * 1024

interface Kept {
  readonly number: number
  readonly pieces: readonly Buffer[]
  readonly bytes: number
}

export class RecordQueue {
  readonly #kept: Kept[] = []
  #bytes = 0
  #lastNumber = 0
  #isOver = false
  readonly #waiting = new Set<() => void>()
  readonly #onRoom: () => void

  constructor({ onRoom }: { onRoom: () => void }) {
    this.#onRoom = onRoom
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_KEPT_BYTES
  }

  add(kind: keyof typeof recordKinds, timeMs: number, ...content: readonly Buffer[]): void {
    const number = ++this.#lastNumber
    const length = content.reduce((sum, piece) => sum + piece.length, RECORD_HEAD_BYTES)
    const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES + RECORD_HEAD_BYTES)
    frameHead(recordKinds[kind], length).copy(head)
    head.writeUInt32BE(number, FRAME_HEAD_BYTES)
    head.writeUInt32BE(timeMs, FRAME_HEAD_BYTES + 4)
    const bytes = FRAME_HEAD_BYTES + length
    this.#kept.push({ number, pieces: [head, ...content], bytes })
    this.#bytes += bytes
    if (kind === 'end') this.#isOver = true
    this.#wake()
  }

  /** Records after the last number that the server has; empty after a timeout. */
  async after(number: number, signal: AbortSignal): Promise<Buffer[]> {
    this.#forget(number)
    const onGone = () => this.#wake()
    signal.addEventListener('abort', onGone)
    try {
      await this.#until(() => this.#kept.length > 0 || signal.aborted, RECORDS_WAIT_MS)
      await this.#until(
        () => this.#isOver || this.#bytes >= ENOUGH_BYTES || this.#kept.length === 0 || signal.aborted,
        GATHER_MS,
      )
    } finally {
      signal.removeEventListener('abort', onGone)
    }
    const taken: Buffer[] = []
    let bytes = 0
    for (const record of this.#kept) {
      if (taken.length > 0 && bytes + record.bytes > MAX_ANSWER_BYTES) break
      taken.push(...record.pieces)
      bytes += record.bytes
    }
    return taken
  }

  #forget(number: number): void {
    const wasFull = this.isFull
    while (this.#kept[0] && this.#kept[0].number <= number) this.#bytes -= this.#kept.shift()!.bytes
    if (wasFull && !this.isFull) this.#onRoom()
  }

  #wake(): void {
    for (const check of this.#waiting) check()
  }

  async #until(isTrue: () => boolean, maxMs: number): Promise<void> {
    if (isTrue()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const check = () => {
      if (isTrue()) resolve()
    }
    const timer = setTimeout(resolve, maxMs)
    this.#waiting.add(check)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(check)
  }
}
