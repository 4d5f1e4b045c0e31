// The server's end of an instance's link. The agent keeps a few connections open; each serves one
// purpose, which the server names on the first line. The other end may be the tenant, so it is untrusted.
import { createServer, type Server, type Socket } from 'node:net'
import type { LinkPurpose } from '@berth/contracts/link'

/** An agent keeps two; this limits the server's memory when a tenant dials too. */
export const MAX_SPARES = 64

interface Waiter {
  readonly take: (socket: Socket) => void
  readonly reject: (reason: Error) => void
}

export class Link {
  readonly #server: Server
  readonly #id: string
  readonly #spares = new Set<Socket>()
  readonly #waiters = new Set<Waiter>()
  readonly #used = new Set<Socket>()
  #isClosed = false

  private constructor(id: string) {
    this.#id = id
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async listen({ id, path }: { id: string; path: string }): Promise<Link> {
    const link = new Link(id)
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject)
      link.#server.listen({ path, backlog: MAX_SPARES }, resolve)
    })
    // For example no free file descriptors; the agent dials again.
    link.#server.on('error', () => {})
    return link
  }

  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted()
    const socket = this.#takeSpare() ?? (await this.#next(signal))
    socket.write(`${purpose}\n`)
    return socket
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const waiter of this.#waiters) waiter.reject(this.#noMore())
    for (const socket of [...this.#spares, ...this.#used]) socket.destroy()
    await closed
  }

  #accept(socket: Socket): void {
    // A failing connection also closes, and its user notices that.
    socket.on('error', () => {})
    if (this.#isClosed) {
      socket.destroy()
      return
    }
    const [waiter] = this.#waiters
    if (waiter) {
      this.#use(socket)
      waiter.take(socket)
      return
    }
    if (this.#spares.size >= MAX_SPARES) {
      socket.destroy()
      return
    }
    this.#spares.add(socket)
    // Detects when a spare closes. Does not use 'data' and pause(): the next user would have to resume the
    // socket. This way it flows as soon as somebody listens.
    socket.on('readable', lookAtSpare)
    socket.once('close', () => this.#spares.delete(socket))
  }

  #takeSpare(): Socket | undefined {
    for (const socket of this.#spares) {
      this.#spares.delete(socket)
      if (socket.destroyed || socket.readableEnded) continue
      socket.off('readable', lookAtSpare)
      this.#use(socket)
      return socket
    }
    return undefined
  }

  #use(socket: Socket): void {
    this.#used.add(socket)
    socket.once('close', () => this.#used.delete(socket))
  }

  #next(signal: AbortSignal): Promise<Socket> {
    if (this.#isClosed) return Promise.reject(this.#noMore())
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#waiters.delete(waiter)
        signal.removeEventListener('abort', onAbort)
      }
      const waiter: Waiter = {
        take: (socket) => {
          settle()
          resolve(socket)
        },
        reject: (reason) => {
          settle()
          reject(reason)
        },
      }
      const onAbort = () => waiter.reject(signal.reason as Error)
      this.#waiters.add(waiter)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  #noMore(): Error {
    return new Error(`Cannot connect to instance "${this.#id}": it has ended, or this server released it`)
  }
}

/** read() closes the socket at its end. An agent never sends first, so any data is an error. */
function lookAtSpare(this: Socket): void {
  if (this.read() !== null) this.destroy()
}
