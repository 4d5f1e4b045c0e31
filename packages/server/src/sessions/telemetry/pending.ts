// Events that wait for their number and their place in the database, in order. What does not fit is counted, and
// leaves a gap in the numbers.
import type { EventCategory } from '@berth/contracts/telemetry-events'
import type { SessionEvent } from './event.ts'

export interface PendingEvent {
  /** As JSON. */
  readonly text: string
  readonly ts: number
  readonly category: EventCategory
  /** Of an event from the instance: its number there. */
  readonly position?: number
}

/** As many events as were dropped there. */
export interface Gap {
  readonly dropped: number
}

export type PendingItem = PendingEvent | Gap

/** Of one segment: more would make a long statement, and much to read for one event of it. */
const MAX_SEGMENT_BYTES = 512 * 1024
/** Of what is held back from the instance. */
const MAX_BYTES = 1024 * 1024
/** Of what cannot be held back. */
const MAX_OWN_EVENTS = 2_000

export class Pending {
  #items: PendingItem[] = []
  #bytes = 0

  /** A gap alone is not worth a place: it shows with the next event. */
  get hasEvents(): boolean {
    return this.#items.length > 1 || (this.#items.length === 1 && 'text' in this.#items[0]!)
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES
  }

  /** Throws for what cannot be written. */
  add(event: SessionEvent, position?: number): void {
    const { ts, category } = event
    const text = JSON.stringify(event).replaceAll(ODD_LINE_ENDS, escaped)
    this.#items.push({ text, ts, category, ...(position !== undefined && { position }) })
    this.#bytes += text.length
  }

  /** Of the server's own. False: there was no room for it. */
  addOwn(event: SessionEvent): boolean {
    if (this.#items.length < MAX_OWN_EVENTS) {
      this.add(event)
      return true
    }
    this.drop(1)
    return false
  }

  drop(count: number): void {
    const last = this.#items.at(-1)
    const before = last && 'dropped' in last ? last.dropped : 0
    if (before > 0) this.#items.pop()
    this.#items.push({ dropped: before + count })
  }

  /** The oldest, as many as go into one segment; a gap only together with the event after it. */
  take(): PendingItem[] {
    let bytes = 0
    let count = 0
    for (const item of this.#items) {
      bytes += sizeOf(item)
      if (count > 0 && bytes > MAX_SEGMENT_BYTES) break
      count++
    }
    if (count > 0 && 'dropped' in this.#items[count - 1]!) count--
    const taken = this.#items.splice(0, count)
    this.#bytes -= taken.reduce((sum, item) => sum + sizeOf(item), 0)
    return taken
  }

  giveBack(items: readonly PendingItem[]): void {
    this.#items.unshift(...items)
    this.#bytes += items.reduce((sum, item) => sum + sizeOf(item), 0)
  }
}

/** JSON may have them as they are, and some readers of server-sent events take them for the end of a line. */
const ODD_LINE_ENDS = /[\u0085\u2028\u2029]/g
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const sizeOf = (item: PendingItem) => ('text' in item ? item.text.length : 0)
