// The helper of a node: servers, which have no right on nodes, tell it which instance to freeze or thaw. Each connection is
// for one command, in its first line: `freeze <container>` or `thaw <container>`. The answer is `ok`, or what is wrong.
import type { AddressInfo, Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { readFirstLine } from '@berth/kit/first-line'
import type { ContainerFreezer } from './container-freezer.ts'
import { FREEZER_IDENTITY, MAX_FIRST_LINE_BYTES, pskTls } from './protocol.ts'

const MAX_CONNECTIONS = 256
const HANDSHAKE_MS = 10_000
const COMMAND_MS = 10_000

export interface FreezerHostOptions {
  readonly freezer: Pick<ContainerFreezer, 'freeze' | 'thaw'>
  /** Servers have it, too. */
  readonly key: Buffer
  readonly host: string
  readonly port: number
}

export class FreezerHost {
  readonly #options: FreezerHostOptions
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(options: FreezerHostOptions) {
    this.#options = options
    const { key } = options
    this.#server = createServer(
      {
        ...pskTls,
        handshakeTimeout: HANDSHAKE_MS,
        pskCallback: (_socket, shown) => (shown === FREEZER_IDENTITY ? key : null),
      },
      (socket) => void this.#serve(socket),
    )
    this.#server.maxConnections = MAX_CONNECTIONS
    // Strangers without the key.
    this.#server.on('tlsClientError', () => {})
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Returns the port. */
  async listen(): Promise<number> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, resolve)
    })
    // SAFETY: it listens on a port.
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async #serve(socket: TLSSocket): Promise<void> {
    socket.on('error', () => {})
    socket.setTimeout(COMMAND_MS, () => socket.destroy())
    const over = new AbortController()
    socket.once('close', () => over.abort(new Error('the server has left')))
    try {
      const [word, container = ''] = (await readFirstLine(socket, MAX_FIRST_LINE_BYTES)).split(' ')
      socket.resume()
      if (word === 'freeze') await this.#options.freezer.freeze(container, over.signal)
      else if (word === 'thaw') this.#options.freezer.thaw(container)
      else throw new Error('say freeze or thaw')
      socket.end('ok\n')
    } catch (error) {
      socket.end(`${(error as Error).message}\n`)
    }
  }
}
