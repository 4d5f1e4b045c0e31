// The socket on which an agent hears its servers. The driver makes it and the agent inherits it, so nothing inside
// the instance can be dialled or replaced. Its path is in the instance's directory on the host, which no instance
// sees; the next server finds it there.
import { renameSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { descriptorOf } from '@berth/kit/descriptor-of'

/** Connections that wait for the agent, for example while it is frozen. The kernel may allow fewer. */
const QUEUE = 512

export class LinkSocket {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** `path` and `unfinished` are in one directory. Nobody knows `unfinished`, so nothing is accepted here. */
  static async listen({ path, unfinished }: { path: string; unfinished: string }): Promise<LinkSocket> {
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: unfinished, backlog: QUEUE, exclusive: true }, resolve)
    })
    // Closing a server removes its path. Under another name the socket stays, for whoever inherited it.
    renameSync(unfinished, path)
    return new LinkSocket(server)
  }

  /** Calls `use` with a descriptor to inherit, and closes our own. */
  handOver<Result>(use: (descriptor: number) => Result): Result {
    try {
      const descriptor = descriptorOf(this.#server)
      if (descriptor === undefined) throw new Error('Cannot hand the link over: it is closed')
      return use(descriptor)
    } finally {
      this.close()
    }
  }

  close(): void {
    this.#server.close()
  }
}
