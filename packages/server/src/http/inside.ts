// Connections from inside an instance to the API itself. They arrive through the instance's egress and get no special
// rights: their key decides what they may do.
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'

const inside = new WeakSet<object>()

/** Whether the caller is inside an instance. It then needs URLs that work from inside. */
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
    // Plain HTTP even if the listener speaks TLS: the same handler serves both.
    const isTls = 'setSecureContext' in this.#server
    this.#server.emit(isTls ? 'secureConnection' : 'connection', connection)
  }
}
