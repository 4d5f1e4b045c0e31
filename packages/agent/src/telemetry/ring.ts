// Keeps events until they are read and a while longer, so that a restarted server continues where the last one stopped.
// Every event has a number. When the ring is full, the oldest events are dropped; events beyond the rate limit are only
// counted. Either way their numbers are missing, so the reader knows how many were dropped.
import { MAX_EVENT_LENGTH } from '@berth/contracts/link'
import { categoryOfType, type EventType } from '@berth/contracts/telemetry-events'
import type { Secrets } from '../secrets/secrets.ts'
import { withoutTexts } from './without-texts.ts'

const MAX_LINES = 8_192
const MAX_BYTES = 8 * 1024 * 1024
/** Maximum length of one chunk. */
const MAX_TEXT = 256 * 1024

export interface Event {
  readonly type: EventType
  readonly source: {
    readonly kind: 'cdp' | 'local_process'
    readonly event?: string
    readonly metadata?: Readonly<Record<string, string>>
  }
  readonly data?: object
  readonly truncated?: boolean
  /** Microseconds since 1970; defaults to now. */
  readonly ts?: number
}

interface Whole extends Pick<Event, 'source'> {
  readonly data: object | undefined
}

interface Line {
  readonly number: number
  readonly text: string
}

export const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000)

export class Ring {
  #lines: Line[] = []
  /** Index of the oldest event; earlier entries are gone. */
  #head = 0
  #bytes = 0
  #number = 0
  readonly #waiting = new Set<() => void>()
  readonly #secrets: Pick<Secrets, 'redactAll' | 'isTyped' | 'isInUse'>

  constructor(secrets: Pick<Secrets, 'redactAll' | 'isTyped' | 'isInUse'>) {
    this.#secrets = secrets
  }

  emit({ ts = nowUs(), type, source, data, truncated }: Event): void {
    const number = ++this.#number
    const told = this.#secrets.isInUse ? this.#redacted({ source, data }) : { source, data }
    const event = { ts, type, category: categoryOfType[type], ...told, ...(truncated && { truncated }) }
    const text = `${JSON.stringify({ n: number, event })}\n`
    if (text.length > MAX_EVENT_LENGTH) return
    this.#lines.push({ number, text })
    this.#bytes += text.length
    this.#shrink()
    for (const wake of this.#waiting) wake()
  }

  /** The names of an event's own fields stay: a secret may be a word such as `url`. Names below them may be a page's. */
  #redacted(whole: Whole): Whole {
    const { isTyped } = this.#secrets
    const { source, data } = isTyped ? withoutTexts(whole) : whole
    const { metadata } = source
    return {
      source: { ...source, ...(metadata && { metadata: this.#secrets.redactAll(metadata) }) },
      data:
        data &&
        Object.fromEntries(
          Object.entries(data).map(([name, value]) => [name, this.#secrets.redactAll(value as unknown)]),
        ),
    }
  }

  /** Counts events that are not recorded. */
  drop(count = 1): void {
    this.#number += count
  }

  /** Some events after that number, and the number of the last of them. */
  after(position: number): { text: string; last: number } {
    let text = ''
    let last = position
    for (let index = this.#find(position); index < this.#lines.length; index++) {
      const line = this.#lines[index]!
      text += line.text
      last = line.number
      if (text.length > MAX_TEXT) break
    }
    return { text, last }
  }

  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  /** Index of the first line after that number. */
  #find(position: number): number {
    let low = this.#head
    let high = this.#lines.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#lines[middle]!.number > position) high = middle
      else low = middle + 1
    }
    return low
  }

  #shrink(): void {
    while (this.#lines.length - this.#head > MAX_LINES || this.#bytes > MAX_BYTES) {
      this.#bytes -= this.#lines[this.#head]!.text.length
      this.#head++
    }
    if (this.#head < MAX_LINES) return
    this.#lines = this.#lines.slice(this.#head)
    this.#head = 0
  }
}
