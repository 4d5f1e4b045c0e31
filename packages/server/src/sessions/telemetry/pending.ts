// Queues events until they are numbered and stored. Events that do not fit are counted and leave a gap in the numbers.
import type { EventCategory } from '@berth/contracts/telemetry-events'
import type { SessionEvent } from './event.ts'

export interface PendingEvent {
  /** The event as JSON. */
  readonly text: string
  readonly ts: number
  readonly category: EventCategory
  /** The agent's number of an event from the instance. */
  readonly position?: number
}

/** The number of events that were dropped at this point. */
export interface Gap {
  readonly dropped: number
}

export type PendingItem = PendingEvent | Gap

/** Larger segments would make long statements and slow reads of single events. */
const MAX_SEGMENT_BYTES = 512 * 1024
/** Beyond this, reading from the instance pauses. */
const MAX_BYTES = 1024 * 1024
/** The server's own events cannot be paused, so they have a limit. */
const MAX_OWN_EVENTS = 2_000

export class Pending {
  #items: PendingItem[] = []
  #bytes = 0

  /** A gap alone does not count, because it is stored with the next event. */
  get hasEvents(): boolean {
    return this.#items.length > 1 || (this.#items.length === 1 && 'text' in this.#items[0]!)
  }

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES
  }

  /** Throws when the event cannot be serialised. */
  add(event: SessionEvent, position?: number): void {
    const { ts, category } = event
    const text = JSON.stringify(event).replaceAll(ODD_LINE_ENDS, escaped)
    this.#items.push({ text, ts, category, ...(position !== undefined && { position }) })
    this.#bytes += text.length
  }

  /** Adds an event of the server itself; false when it was dropped. */
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

  /** Takes the oldest events that fit into one segment; a gap only together with the event after it. */
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

/** JSON allows them unescaped, but some readers of server-sent events treat them as line ends. */
const ODD_LINE_ENDS = /[\u0085\u2028\u2029]/g
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const sizeOf = (item: PendingItem) => ('text' in item ? item.text.length : 0)
