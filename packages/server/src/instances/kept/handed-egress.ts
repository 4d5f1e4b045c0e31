// The keeper's side of egress: it makes an instance's socket, because only root can give it to the instance's uid, and
// hands it to the server while it listens. Root never accepts a connection there.
import type { SendHandle } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import type { Egress, EgressListener } from '../local/egress.ts'

/** As many as the server's listener waits for; see egress/listener.ts. */
const QUEUE = 640

export class HandedEgress implements Egress {
  readonly #handOver: (id: string, handle: SendHandle) => Promise<void>

  /** Resolves when the server has it, so that ours may be closed. */
  constructor(handOver: (id: string, handle: SendHandle) => Promise<void>) {
    this.#handOver = handOver
  }

  /** The route is the server's business. */
  async listen(socketPath: string, _route: unknown, id: string): Promise<EgressListener> {
    // Not longer than the name that it gets: paths of sockets are short.
    const unfinished = join(dirname(socketPath), 'new.sock')
    rmSync(unfinished, { force: true })
    const server = await listenAt(unfinished)
    try {
      // SAFETY: a listening server has a handle; Node has no public name for it. Sent as a server, it would accept
      // connections before the other side has its limits in place.
      const { _handle: handle } = server as unknown as { _handle: SendHandle }
      await this.#handOver(id, handle)
      renameSync(unfinished, socketPath)
    } finally {
      // Closing removes the path under which it listened, and nothing under the new name.
      server.close()
    }
    return nothingToDo
  }
}

/** Only root may connect there yet. */
async function listenAt(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, backlog: QUEUE, exclusive: true }, resolve)
  })
  return server
}

/** The server has the listener; see kept-instance.ts. */
const nothingToDo: EgressListener = {
  traffic: { sent: 0, received: 0 },
  lastRefusal: undefined,
  setRoute: () => {},
  setProject: () => {},
  open: () => {},
  close: async () => {},
}
