// What the session plays, for recordings and viewers. All of them share one connection to the sound server, which exists
// only while somebody listens and the server runs.
import { connect, type Socket } from 'node:net'
import { soundFormat } from './command.ts'

const FRAME_BYTES = 2 * soundFormat.channels
/** Pieces that come so much later than those before them end leave a gap. */
const GAP_MS = 150
/** More sound than there was time for is no sound of ours. */
const MAX_AHEAD_MS = 500
/** How far each piece corrects the clock. */
const CORRECTION = 0.02
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
   * A piece is heard from the moment at which it arrives. But arrivals are irregular and sound is not, so each piece
   * follows the one before, and only the average of the arrivals counts. Undefined for what must be too much.
   */
  #timeOf(durationMs: number): number | undefined {
    const now = performance.now()
    const late = this.#next === undefined ? Infinity : now - this.#next
    if (late < -MAX_AHEAD_MS) return undefined
    const at = late > GAP_MS ? now : this.#next! + late * CORRECTION
    this.#next = at + durationMs
    return at
  }
}

export const durationOf = (bytes: number): number => (bytes / FRAME_BYTES / soundFormat.rate) * 1000

const isSilent = (samples: Buffer) => samples.equals(SILENCE.subarray(0, samples.length))
