// The server's end of an instance's link. The agent listens on a socket that it inherited, and no path inside the
// instance leads there, so only a server reaches it. Each connection serves one purpose, named on its first line.
// What the agent answers is still untrusted.
import { connect, type Socket } from 'node:net'
import type { LinkPurpose } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'

/** How long to wait while an agent that is stopped has as many waiting connections as the kernel keeps for it. */
const FULL_QUEUE_MS = 20

export interface LinkOptions {
  readonly id: string
  /** Of the socket on the host. */
  readonly path: string
}

export class Link {
  readonly #options: LinkOptions
  readonly #used = new Set<Socket>()
  readonly #closing = new AbortController()

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Resolves at once, also before the agent runs and while it is frozen: it answers when it can. */
  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Socket> {
    const over = AbortSignal.any([signal, this.#closing.signal])
    for (;;) {
      over.throwIfAborted()
      try {
        const socket = await this.#dial(over)
        socket.write(`${purpose}\n`)
        return socket
      } catch (error) {
        over.throwIfAborted()
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw this.#noMore(error)
      }
      await pause(FULL_QUEUE_MS, over)
    }
  }

  close(): void {
    this.#closing.abort(this.#noMore())
    for (const socket of this.#used) socket.destroy()
  }

  #dial(signal: AbortSignal): Promise<Socket> {
    const socket = connect(this.#options.path)
    this.#used.add(socket)
    socket.once('close', () => this.#used.delete(socket))
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        socket.destroy()
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      // Stays: a failing connection also closes, and its user notices that.
      socket.on('error', (error) => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      })
      socket.once('connect', () => {
        signal.removeEventListener('abort', onAbort)
        resolve(socket)
      })
    })
  }

  #noMore(cause?: unknown): Error {
    const message = `Cannot connect to instance "${this.#options.id}": it has ended, or this server released it`
    return new Error(message, { cause })
  }
}
