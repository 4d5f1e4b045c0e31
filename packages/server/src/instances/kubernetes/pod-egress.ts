// The way out for the instance of a Pod: connections that this server opens and that wait there until the instance uses
// one. As many wait as were used lately, so that a page with many connections does not wait for each. When none waits, the
// Pod asks for one, so an instance without traffic has none.
import type { TLSSocket } from 'node:tls'
import { pause } from '@berth/kit/pause'
import type { EgressListener } from '../egress/listener.ts'
import { EGRESS_BEGINS } from '../pod/protocol.ts'

/** After the first use. */
const MIN_READY = 4
const MAX_READY = 16
const AGAIN_MS = 200
const MAX_AGAIN_MS = 5_000

export interface PodEgressOptions {
  readonly dial: (signal: AbortSignal) => Promise<TLSSocket>
  readonly listener: EgressListener
  /** After so long without use, none waits. */
  readonly calmMs: number
  /** Asks the Pod to close those that wait and that nobody wants. */
  readonly unpark: () => void
}

export class PodEgress {
  readonly #options: PodEgressOptions
  readonly #closing = new AbortController()
  readonly #ready = new Set<TLSSocket>()
  #dialling = 0
  #wanted = 0
  #calm: NodeJS.Timeout | undefined

  constructor(options: PodEgressOptions) {
    this.#options = options
  }

  /** A connection of the instance waits. */
  demand(): void {
    if (this.#closing.signal.aborted) return
    this.#want(Math.max(1, this.#wanted))
  }

  close(): void {
    clearTimeout(this.#calm)
    this.#closing.abort(new Error('The egress of the instance is closed'))
    for (const socket of this.#ready) socket.destroy()
  }

  #fill(): void {
    while (!this.#closing.signal.aborted && this.#ready.size + this.#dialling < this.#wanted) void this.#add()
  }

  async #add(): Promise<void> {
    this.#dialling++
    try {
      const socket = await this.#dialPatiently()
      if (socket) this.#wait(socket)
    } finally {
      this.#dialling--
    }
    this.#fill()
  }

  async #dialPatiently(): Promise<TLSSocket | undefined> {
    const { signal } = this.#closing
    for (let againMs = AGAIN_MS; !signal.aborted; againMs = Math.min(2 * againMs, MAX_AGAIN_MS)) {
      try {
        return await this.#options.dial(signal)
      } catch {
        // Whoever holds the Pod finds out whether it is gone.
        await pause(againMs, signal)
      }
    }
    return undefined
  }

  #wait(socket: TLSSocket): void {
    if (this.#closing.signal.aborted) return void socket.destroy()
    this.#ready.add(socket)
    const onOver = () => {
      this.#ready.delete(socket)
      socket.off('readable', onReadable)
      socket.destroy()
      // A Pod that is ending, or one that another server holds now, refuses them all: not at once again.
      setTimeout(() => this.#fill(), AGAIN_MS).unref()
    }
    const onReadable = () => {
      const begins = socket.read(1) as Buffer | null
      if (begins === null) return
      socket.off('readable', onReadable)
      socket.off('end', onOver)
      socket.off('close', onOver)
      this.#ready.delete(socket)
      if (begins[0] === EGRESS_BEGINS) this.#options.listener.take(socket)
      else socket.destroy()
      this.#used()
    }
    socket.on('readable', onReadable)
    socket.once('end', onOver)
    socket.once('close', onOver)
  }

  #used(): void {
    this.#want(Math.min(MAX_READY, Math.max(MIN_READY, this.#wanted * 2)))
  }

  #want(wanted: number): void {
    this.#wanted = wanted
    this.#awaitCalm()
    this.#fill()
  }

  #awaitCalm(): void {
    clearTimeout(this.#calm)
    this.#calm = setTimeout(() => {
      this.#wanted = 0
      // Some may be on their way.
      if (this.#ready.size + this.#dialling === 0) return
      this.#options.unpark()
      this.#awaitCalm()
    }, this.#options.calmMs)
    this.#calm.unref()
  }
}
