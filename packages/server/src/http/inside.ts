// Connections from inside an instance to the API itself. They come through the instance's egress and are treated like
// any other connection: what they may do depends on their key.
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'

const inside = new WeakSet<object>()

/** Whether a caller reached us so: what it is told to connect to must be reached in the same way. */
export function isInside(socket: object): boolean {
  return inside.has(socket)
}

export class InsideConnections {
  readonly #server: FastifyInstance['server']

  constructor({ server }: FastifyInstance) {
    this.#server = server
  }

  readonly take = (connection: Duplex): void => {
    if (!this.#server.listening) return void connection.destroy()
    inside.add(connection)
    // Plain HTTP also where the listener itself speaks TLS: what takes in requests is the same.
    const isTls = 'setSecureContext' in this.#server
    this.#server.emit(isTls ? 'secureConnection' : 'connection', connection)
  }
}
