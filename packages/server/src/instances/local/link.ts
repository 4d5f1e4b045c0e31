// The server's end of an instance's link. The agent keeps a few connections dialled; each carries one
// purpose, which the server names on its first line. Whoever dials is the tenant for all we know.
import { createServer, type Server, type Socket } from 'node:net'
import type { LinkPurpose } from '@berth/contracts/link'

/** An agent keeps two; a tenant that dials by itself gets no more of the server's memory than this. */
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
    // Such as no more file descriptors: the agent dials again.
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
    // A failing connection is one that closes: whoever uses it sees that.
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
    // Looked at, to notice when it closes. Not by 'data' and pause(): whoever gets a paused socket has
    // to know that it must be resumed, and after this it flows when somebody listens.
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
    return new Error(`Cannot connect to instance "${this.#id}": it has ended or this server let go of it`)
  }
}

/** At the end read() has it closed; and an agent says nothing before it is asked. */
function lookAtSpare(this: Socket): void {
  if (this.read() !== null) this.destroy()
}
