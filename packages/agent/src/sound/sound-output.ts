// What the session plays, for recordings and viewers. All of them share one connection to the sound server, which exists
// only while somebody listens and the server runs.
import { connect, type Socket } from 'node:net'
import { soundFormat } from './command.ts'

const FRAME_BYTES = 2 * soundFormat.channels
/** Pieces that all came late for so long are late: there was a gap. */
const WINDOW_MS = 1_000
/** So late a piece is after a gap, whatever comes next. */
const GAP_MS = 2_000
/** More sound than there was time for is no sound of ours. What the sound server keeps for us comes at once. */
const MAX_AT_ONCE_MS = 5_000
const FIRST_MS = 500
const RETRY_MS = 500
/** Node reads at most 64 KiB at once. */
const SILENCE = Buffer.alloc(64 * 1024 + FRAME_BYTES)

/** What this needs of the sound server. */
export interface PlayedSound {
  readonly isThere: boolean
  readonly isRunning: boolean
  readonly outputSocket: string
  onRunning(tell: () => void): Disposable
}

export interface SoundPiece {
  /** Whole frames, in soundFormat. */
  readonly samples: Buffer
  /** When it begins to be heard, by performance.now(). */
  readonly at: number
  readonly isSilent: boolean
}

export type SoundListener = (piece: SoundPiece) => void

export class SoundOutput {
  readonly #server: PlayedSound
  readonly #listeners = new Set<SoundListener>()
  #starts: Disposable | undefined
  #socket: Socket | undefined
  #retry: NodeJS.Timeout | undefined
  /** An incomplete frame. */
  #rest: Buffer = Buffer.alloc(0)
  /** When the next piece is expected. */
  #next: number | undefined
  #window = { from: 0, leastLate: Infinity }
  #allowance = { ms: 0, at: 0 }

  constructor(server: PlayedSound) {
    this.#server = server
  }

  /** Whether there can be any sound. */
  get isThere(): boolean {
    return this.#server.isThere
  }

  listen(listener: SoundListener): Disposable {
    this.#listeners.add(listener)
    this.#starts ??= this.#server.onRunning(() => this.#open())
    if (this.#server.isRunning) this.#open()
    return {
      [Symbol.dispose]: () => {
        if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#close()
      },
    }
  }

  #open(): void {
    if (this.#socket || this.#listeners.size === 0) return
    const socket = connect(this.#server.outputSocket)
    this.#socket = socket
    this.#rest = Buffer.alloc(0)
    this.#next = undefined
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => {})
    socket.once('close', () => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      // The server has ended, or has too many connections now.
      this.#retry = setTimeout(() => {
        if (this.#server.isRunning) this.#open()
      }, RETRY_MS)
    })
  }

  #close(): void {
    this.#starts?.[Symbol.dispose]()
    this.#starts = undefined
    clearTimeout(this.#retry)
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }

  #take(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const whole = bytes.length - (bytes.length % FRAME_BYTES)
    this.#rest = Buffer.from(bytes.subarray(whole))
    if (whole === 0) return
    const samples = bytes.subarray(0, whole)
    const at = this.#timeOf(durationOf(whole))
    if (at === undefined) return
    const piece = { samples, at, isSilent: isSilent(samples) }
    for (const listener of this.#listeners) listener(piece)
  }

  /**
   * A piece is heard from the moment at which it is sent. On a busy machine it arrives later, and then others at once. So
   * each piece follows the one before, and only the earliest arrivals tell the time. Undefined for what must be too much.
   */
  #timeOf(durationMs: number): number | undefined {
    const now = performance.now()
    if (this.#next === undefined) {
      this.#next = now
      this.#window = { from: now, leastLate: Infinity }
      this.#allowance = { ms: FIRST_MS, at: now }
    }
    const earned = this.#allowance.ms + now - this.#allowance.at
    this.#allowance = { ms: Math.min(earned, MAX_AT_ONCE_MS), at: now }
    if (durationMs > this.#allowance.ms) return undefined
    this.#allowance.ms -= durationMs
    const late = now - this.#next
    if (late < 0 || late > GAP_MS) this.#move(late, now)
    else {
      this.#window.leastLate = Math.min(this.#window.leastLate, late)
      if (now - this.#window.from > WINDOW_MS) this.#move(this.#window.leastLate, now)
    }
    const at = this.#next
    this.#next += durationMs
    return at
  }

  #move(byMs: number, now: number): void {
    this.#next! += byMs
    this.#window = { from: now, leastLate: Infinity }
  }
}

/** Whole frames. */
export const bytesOf = (durationMs: number): number =>
  Math.trunc((durationMs * soundFormat.rate) / 1000) * FRAME_BYTES

export const durationOf = (bytes: number): number => (bytes / FRAME_BYTES / soundFormat.rate) * 1000

const isSilent = (samples: Buffer) => samples.equals(SILENCE.subarray(0, samples.length))
