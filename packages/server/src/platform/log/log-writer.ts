// Writes log lines to a descriptor, in batches and without waiting. A slow reader loses lines but never
// delays requests; a closed reader loses all lines but never ends the process.
import { write, writeSync } from 'node:fs'

const MAX_BUFFER_BYTES = 1024 * 1024
// Lines are written together, because each write is a round trip to another thread.
const GATHER_BYTES = 8 * 1024
const GATHER_MS = 25
const RETRY_MS = 100
/** How long the ending process waits for a slow reader. */
const FINAL_FLUSH_TIMEOUT_MS = 1_000

export class LogWriter {
  readonly #descriptor: number
  readonly #onDrop: () => void
  #waiting: Buffer[] = []
  #length = 0
  #isWriting = false
  #isReaderGone = false
  #isDue = false

  constructor(descriptor: number, { onDrop }: { onDrop: () => void }) {
    this.#descriptor = descriptor
    this.#onDrop = onDrop
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#isReaderGone || this.#length + bytes.length > MAX_BUFFER_BYTES) return this.#onDrop()
    this.#waiting.push(bytes)
    this.#length += bytes.length
    if (this.#length >= GATHER_BYTES) this.#send()
    else this.#sendIn(GATHER_MS)
  }

  /** Writes all waiting lines, as far as the reader accepts them. For the end of the process. */
  flushSync(): void {
    const giveUpAt = performance.now() + FINAL_FLUSH_TIMEOUT_MS
    let rest = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#length = 0
    while (rest.length > 0 && performance.now() < giveUpAt) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest))
      } catch (error) {
        if (!isBusy(error)) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
      }
    }
  }

  #sendIn(ms: number): void {
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => {
      this.#isDue = false
      this.#send()
    }, ms)
  }

  #send(): void {
    if (this.#isWriting || this.#length === 0) return
    this.#isWriting = true
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#length = 0
    write(this.#descriptor, bytes, (error, written) => {
      this.#isWriting = false
      if (error && !isBusy(error)) {
        this.#isReaderGone = true
        return
      }
      const rest = bytes.subarray(error ? 0 : written)
      if (rest.length > 0) this.#waiting.unshift(rest)
      this.#length += rest.length
      if (this.#length > 0) this.#sendIn(error ? RETRY_MS : 0)
    })
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EAGAIN' || code === 'EBUSY'
}
