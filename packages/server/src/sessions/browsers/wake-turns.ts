// Sessions that wake from deep standby need their memory back. While the machine has too little left, they wait in order of
// arrival: a wake must not take memory that working sessions need.
import { pause } from '@berth/kit/pause'

const MB = 2 ** 20
/** Stays free for sessions that work. */
const MIN_LEFT_BYTES = 300 * MB
/** By then a session has taken back what it needs at once. */
const TAKING_MS = 5_000
const LOOK_EVERY_MS = 100
/** A caller who waits longer has most likely given up. */
export const WAKE_TIMEOUT_MS = 15_000

export class NoRoomToWake extends Error {}

export interface WakeTurnsOptions {
  readonly freeBytes: () => Promise<number>
  /** Called while a session waits: moves others into deep standby. Its errors are not ours. */
  readonly makeRoom: () => Promise<void>
  readonly timeoutMs?: number
  readonly now?: () => number
}

export class WakeTurns {
  readonly #options: WakeTurnsOptions
  /** The first is being let in; the others wait behind it. */
  readonly #waiting: object[] = []
  /** What sessions were let in for, and perhaps have not taken yet. */
  #promised: readonly { readonly bytes: number; readonly until: number }[] = []

  constructor(options: WakeTurnsOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves when there is room for so much more. Rejects with NoRoomToWake, or with the reason of the signal. */
  async enter(bytes: number, signal: AbortSignal): Promise<void> {
    const place = {}
    this.#waiting.push(place)
    try {
      await this.#untilRoom(place, bytes, signal)
      this.#promised = [...this.#promised, { bytes, until: this.#now() + TAKING_MS }]
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(place), 1)
    }
  }

  async #untilRoom(place: object, bytes: number, signal: AbortSignal): Promise<void> {
    const { timeoutMs = WAKE_TIMEOUT_MS } = this.#options
    const deadline = this.#now() + timeoutMs
    for (;;) {
      signal.throwIfAborted()
      const isFirst = this.#waiting[0] === place
      if (isFirst && (await this.#leftBytes()) - bytes >= MIN_LEFT_BYTES) return
      if (this.#now() >= deadline) {
        throw new NoRoomToWake(
          `it needs up to ${Math.ceil(bytes / MB)} MB of memory, and the host has too little left`,
        )
      }
      if (isFirst) await this.#options.makeRoom()
      await pause(LOOK_EVERY_MS, signal)
    }
  }

  async #leftBytes(): Promise<number> {
    const now = this.#now()
    this.#promised = this.#promised.filter(({ until }) => until > now)
    const promised = this.#promised.reduce((total, { bytes }) => total + bytes, 0)
    return (await this.#options.freeBytes()) - promised
  }

  #now(): number {
    return (this.#options.now ?? (() => performance.now()))()
  }
}
