// Tracks which connections are busy. Node closes idle connections only after their first request, so an
// unused one would delay every shutdown for the whole grace period.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export class Connections {
  readonly #server: Server
  readonly #requestsOf = new Map<Socket, number>()
  #isClosing = false

  constructor(server: Server) {
    this.#server = server
    // On an HTTPS server, requests know the sockets of the second event.
    const event = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(event, (socket: Socket) => {
      this.#requestsOf.set(socket, 0)
      // Node caches the address only if it is read while the connection is open.
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

  /** Closes idle connections now and as they become idle, and all of them after the grace period. */
  closeWithin(graceMs: number): Disposable {
    this.#isClosing = true
    for (const [socket, requests] of this.#requestsOf) if (requests === 0) socket.destroy()
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs)
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  }
}
