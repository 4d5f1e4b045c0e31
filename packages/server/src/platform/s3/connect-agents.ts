// Lets Node's HTTP client send requests over connections that somebody else makes.
import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

/** Opens a connection for bytes. Rejects with ConnectRefused. */
export type Connect = (host: string, port: number) => Promise<Duplex>

type Done = (error: Error | null, stream: Duplex) => void

const MAX_SOCKETS = 8

class PlainAgent extends HttpAgent {
  readonly #connect: Connect

  constructor(connect: Connect) {
    super({ keepAlive: false, maxSockets: MAX_SOCKETS })
    this.#connect = connect
  }

  override createConnection(options: ClientRequestArgs, done?: Done): undefined {
    hand(open(this.#connect, options, 80), done)
  }
}

class SecureAgent extends HttpsAgent {
  readonly #connect: Connect

  constructor(connect: Connect) {
    super({ keepAlive: false, maxSockets: MAX_SOCKETS })
    this.#connect = connect
  }

  override createConnection(options: ClientRequestArgs, done?: Done): undefined {
    const host = hostOf(options)
    const secured = open(this.#connect, options, 443).then((socket) =>
      connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) }),
    )
    hand(secured, done)
  }
}

export function connectAgents(connect: Connect): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  return { httpAgent: new PlainAgent(connect), httpsAgent: new SecureAgent(connect) }
}

const hostOf = ({ host, hostname }: ClientRequestArgs) => (host ?? hostname ?? '').replace(/^\[(.*)\]$/, '$1')

function open(connect: Connect, options: ClientRequestArgs, usualPort: number): Promise<Duplex> {
  return connect(hostOf(options), Number(options.port ?? usualPort))
}

function hand(opening: Promise<Duplex>, done: Done | undefined): void {
  const give = (stream: Duplex) => {
    // The request sees the error while it lasts; afterwards nobody would.
    stream.on('error', () => {})
    done?.(null, stream)
  }
  // SAFETY: with an error, Node does not look at the stream.
  const fail = (error: unknown) => done?.(error as Error, undefined as unknown as Duplex)
  opening.then(give, fail)
}
