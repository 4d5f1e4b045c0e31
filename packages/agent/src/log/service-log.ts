// The recent output of a program that the agent runs.
import type { ServiceLogName } from '@berth/contracts/logs'
import { secrets } from '../secrets/secrets.ts'
import { LineCutter } from './line-cutter.ts'

/** The log of each program that the logs API offers. */
export type ServiceLogs = Readonly<Record<ServiceLogName, ServiceLog>>

const MAX_BYTES = 256 * 1024
const PAGE_TEXT = /CONSOLE|https?:|data:|blob:/i

export interface LogLine {
  readonly at: Date
  readonly message: string
}

export interface ReadOptions {
  readonly follow: boolean
  readonly signal: AbortSignal
}

export class ServiceLog {
  readonly #cutter = new LineCutter()
  #lines: LogLine[] = []
  /** Number of the first line that is kept, counting all lines ever added. */
  #firstNumber = 0
  #bytes = 0
  readonly #waiting = new Set<() => void>()

  append(chunk: Buffer): void {
    for (const message of this.#cutter.take(chunk)) this.add(message)
  }

  /** Adds a complete line. */
  add(line: string): void {
    // A page can have Chromium log what it likes.
    const message = secrets.isTyped && PAGE_TEXT.test(line) ? '[redacted]' : secrets.redact(line)
    this.#lines.push({ at: new Date(), message })
    this.#bytes += message.length
    while (this.#bytes > MAX_BYTES) {
      this.#bytes -= this.#lines.shift()!.message.length
      this.#firstNumber++
    }
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Yields the kept lines or, with `follow`, the new ones until the signal fires. */
  async *read({ follow, signal }: ReadOptions): AsyncGenerator<LogLine> {
    let number = follow ? this.#firstNumber + this.#lines.length : this.#firstNumber
    while (!signal.aborted) {
      if (number < this.#firstNumber) {
        const missed = this.#firstNumber - number
        yield { at: new Date(), message: `[berth: ${missed} lines are missing here]` }
        number = this.#firstNumber
      }
      const line = this.#lines[number - this.#firstNumber]
      if (line) {
        number++
        yield line
      } else if (follow) await this.#more(signal)
      else return
    }
  }

  async #more(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    this.#waiting.delete(resolve)
  }
}
