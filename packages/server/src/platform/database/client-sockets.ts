// The sockets of database clients. A client that ends waits until PostgreSQL has closed the connection: for ever, if
// PostgreSQL or the network to it hangs. A server must be able to stop all the same.
import { Socket } from 'node:net'

/** PostgreSQL takes milliseconds. */
const ENDS_WITHIN_MS = 5_000

export class ClientSockets {
  readonly #open = new Set<Socket>()

  /** For the setting of this name of a client or a pool. */
  readonly stream = (): Socket => {
    const socket = new Socket()
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    return socket
  }

  /** Waits for `end`, and cuts the connections that are still open after a while. */
  async endOrCut(end: () => Promise<unknown>): Promise<void> {
    const late = setTimeout(() => {
      for (const socket of this.#open) socket.destroy()
    }, ENDS_WITHIN_MS)
    try {
      await end()
    } finally {
      clearTimeout(late)
    }
  }
}
