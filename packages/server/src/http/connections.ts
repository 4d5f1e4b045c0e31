// Which connections are at work. Node closes idle ones only after their first request, so one that
// was opened and never used would hold up every shutdown for the whole grace period.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export class Connections {
  readonly #server: Server
  readonly #requestsOf = new Map<Socket, number>()
  #isClosing = false

  constructor(server: Server) {
    this.#server = server
    // Of the two, an HTTPS server hands out the sockets that requests know in the second.
    const event = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(event, (socket: Socket) => {
      this.#requestsOf.set(socket, 0)
      // Node remembers the address only if it was asked for before the connection is gone.
      void socket.remoteAddress
      socket.once('close', () => this.#requestsOf.delete(socket))
    })
  }

  requestStarted(socket: Socket): void {
    this.#requestsOf.set(socket, (this.#requestsOf.get(socket) ?? 0) + 1)
  }

  requestEnded(socket: Socket): void {
    const left = (this.#requestsOf.get(socket) ?? 1) - 1
    if (socket.destroyed) return
    this.#requestsOf.set(socket, left)
    if (this.#isClosing && left === 0) socket.end()
  }

  /** Closes what does nothing, now and from now on; everything once the grace is over. */
  closeWithin(graceMs: number): Disposable {
    this.#isClosing = true
    for (const [socket, requests] of this.#requestsOf) if (requests === 0) socket.destroy()
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  }
}
