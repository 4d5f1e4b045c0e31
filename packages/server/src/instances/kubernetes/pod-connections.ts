// Connections to the agent in one Pod. One is opened in advance, because its handshake takes a few round trips; not for a
// session that rests, because a server has hundreds of them.
import type { TLSSocket } from 'node:tls'
import type { PodDialer } from './pod-dialer.ts'

export interface PodConnectionsOptions {
  readonly dialer: PodDialer
  /** Without a new connection for so long, a session rests. */
  readonly calmMs: number
  /** Nobody uses the instance yet. The create that finds it must not wait. */
  readonly isWarm: () => boolean
}

export class PodConnections {
  readonly #options: PodConnectionsOptions
  readonly #closing = new AbortController()
  readonly #open = new Set<TLSSocket>()
  readonly #calm: NodeJS.Timeout
  #spare: Promise<TLSSocket> | undefined

  constructor(options: PodConnectionsOptions) {
    this.#options = options
    this.#calm = setTimeout(() => this.#dropSpare(), options.calmMs).unref()
  }

  async connect(firstLine: string, signal: AbortSignal): Promise<TLSSocket> {
    const over = AbortSignal.any([signal, this.#closing.signal])
    const spare = this.#spare
    this.#spare = undefined
    this.stir()
    try {
      const ready = await spare?.catch(() => undefined)
      over.throwIfAborted()
      const isUsable = ready && !ready.destroyed && ready.writable
      const socket = isUsable ? ready : this.#keep(await this.#options.dialer.dial(over))
      socket.write(`${firstLine}\n`)
      return socket
    } finally {
      this.dialAhead()
    }
  }

  dialAhead(): void {
    const { signal } = this.#closing
    if (this.#spare || signal.aborted) return
    const spare = this.#options.dialer.dial(signal).then((socket) => this.#keep(socket))
    spare.catch(() => {})
    this.#spare = spare
  }

  /** The calm begins anew. */
  stir(): void {
    if (!this.#closing.signal.aborted) this.#calm.refresh()
  }

  close(): void {
    clearTimeout(this.#calm)
    this.#closing.abort(new Error('The connections of the instance are closed'))
    for (const socket of this.#open) socket.destroy()
  }

  #dropSpare(): void {
    const spare = this.#spare
    if (!spare || this.#options.isWarm()) return
    this.#spare = undefined
    spare.then(
      (socket) => socket.destroy(),
      () => {},
    )
  }

  #keep(socket: TLSSocket): TLSSocket {
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    if (this.#closing.signal.aborted) socket.destroy()
    return socket
  }
}
