// Stores a watch's events; every reader gets all of them. The log is bounded: a reader that is too slow or
// too late gets an overflow event in place of the dropped ones.
import type { FileEvent } from './file-event.ts'

const MAX_EVENTS = 8_192
const MAX_BYTES = 4 * 1024 * 1024
const EVENT_BYTES = 100

export class EventLog {
  readonly #path: string
  #events: FileEvent[] = []
  #bytes = 0
  /** Number of the first stored event. */
  #first = 0
  #isOver = false
  readonly #waiting = new Set<() => void>()

  constructor(path: string) {
    this.#path = path
  }

  add(events: readonly FileEvent[]): void {
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += bytesOf(event)
    }
    if (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES) this.#forget()
    this.#wake()
  }

  /** Readers get the remaining events, then the end. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  async *read(signal: AbortSignal): AsyncGenerator<FileEvent> {
    for (let next = 0; !signal.aborted;) {
      if (next < this.#first) {
        yield { type: 'OVERFLOW', path: this.#path, is_dir: true }
        next = this.#first
      } else if (next < this.#first + this.#events.length) {
        yield this.#events[next++ - this.#first]!
      } else if (this.#isOver) return
      else await this.#more(signal)
    }
  }

  /** Drops many events at once; otherwise each new event would shift all the others. */
  #forget(): void {
    let count = 0
    while (this.#events.length - count > MAX_EVENTS * 0.75 || this.#bytes > MAX_BYTES * 0.75) {
      this.#bytes -= bytesOf(this.#events[count++]!)
    }
    this.#events = this.#events.slice(count)
    this.#first += count
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }
}

const bytesOf = ({ path, name = '' }: FileEvent) => EVENT_BYTES + path.length + name.length
