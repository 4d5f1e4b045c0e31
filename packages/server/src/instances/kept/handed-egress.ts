// The keeper's side of egress: it makes an instance's socket, because only root can give it to the instance's uid, and
// hands it to the server while it listens, and so with the one in the instance's network. Root reads nothing from there.
import type { SendHandle } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { EGRESS_QUEUE, type Egress, type EgressListener } from '../local/egress.ts'

export class HandedEgress implements Egress {
  readonly #handOver: HandOver

  /** Resolves when the server has it, so that ours may be closed. */
  constructor(handOver: HandOver) {
    this.#handOver = handOver
  }

  /** The route is the server's business. */
  async listen(socketPath: string, _route: unknown, id: string): Promise<EgressListener> {
    // Not longer than the name that it gets: paths of sockets are short.
    const unfinished = join(dirname(socketPath), 'new.sock')
    rmSync(unfinished, { force: true })
    await this.#handOverListening('egress', id, { path: unfinished }, () =>
      renameSync(unfinished, socketPath),
    )
    return { ...nothingToDo, acceptArrivals: ({ fd }) => this.#handOverListening('arrivals', id, { fd }) }
  }

  async #handOverListening(
    event: HandedSocket,
    id: string,
    place: { path: string } | { fd: number },
    onHandedOver?: () => void,
  ): Promise<void> {
    const server = await listenAt(place)
    try {
      // SAFETY: a listening server has a handle; Node has no public name for it. Sent as a server, it would accept
      // connections before the other side has its limits in place.
      const { _handle: handle } = server as unknown as { _handle: SendHandle }
      await this.#handOver(event, id, handle)
      onHandedOver?.()
    } finally {
      // Closing removes the path under which it listened, and nothing under another name.
      server.close()
    }
  }
}

type HandedSocket = 'egress' | 'arrivals'

type HandOver = (event: HandedSocket, id: string, handle: SendHandle) => Promise<void>

/** What connects before the server has it is cut. */
async function listenAt(place: { path: string } | { fd: number }): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...place, backlog: EGRESS_QUEUE, exclusive: true }, resolve)
  })
  return server
}

/** The server has the listener; see kept-instance.ts. */
const nothingToDo: Omit<EgressListener, 'acceptArrivals'> = {
  traffic: { sent: 0, received: 0 },
  lastRefusal: undefined,
  setRoute: () => {},
  setProject: () => {},
  open: () => {},
  close: async () => {},
}
