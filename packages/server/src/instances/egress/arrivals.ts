// The connections that programs in an instance open to anywhere, as if they were on the network themselves. The kernel
// holds the first packet of each until its agent has asked us. We dial first: a target that refuses is refused inside
// too, by the kernel, and the browser reports what it would report on any machine. If the target answers, the kernel
// completes the connection to the socket here, and remembers where it was going.
import type { IncomingMessage } from 'node:http'
import { createServer, isIP, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionFate } from '@berth/contracts/link'
import { refuseConnect } from './answers.ts'
import { cut } from './cut.ts'
import type { Exchange } from './exchanges.ts'
import { originalDestination } from './original-destination.ts'
import type { Outgoing } from './outgoing.ts'
import { EgressRefusal, toRefusal } from './refusal.ts'
import { readHttpTarget, type HttpTarget, type Target } from './target.ts'

/** How long the kernel may take to complete a connection. */
const ARRIVES_WITHIN_MS = 5_000
/** After that, the program waits for the other side to speak first. */
const FIRST_BYTES_MS = 1_000
/** Browsers open connections there before they need them, and speak first. */
const HTTP_PORT = 80
/** The beginning of a plain HTTP request to the server itself, as opposed to TLS, and to a request to a proxy. */
const REQUEST = /^[A-Z]{3,20} \//
/** The same, also to a proxy. */
const ANY_REQUEST = /^[A-Z]{3,20} \S/
const UPGRADE = /\r\nupgrade:/i

/** What to do with a connection when it arrives. */
type Expected =
  | { readonly kind: 'stream'; readonly stream: Duplex }
  /** Dialled when its first bytes say how. */
  | { readonly kind: 'either'; readonly target: Target }
  /** It gets our explanation, if it is plain HTTP. */
  | { readonly kind: 'refusal'; readonly refusal: EgressRefusal }

interface Waiting {
  readonly what: Expected
  /** Its place among the connections of the instance, from the question on. */
  readonly exchange: Exchange
  readonly late: NodeJS.Timeout
}

export interface ArrivalsOptions {
  readonly outgoing: Outgoing
  readonly maxConnections: number
  readonly onSocket: (socket: Socket) => void
  readonly join: (socket: Socket, outside: Duplex) => void
  /** Takes over a connection with plain HTTP requests. */
  readonly serveRequests: (socket: Socket) => void
  readonly destinationOf?: typeof originalDestination
}

export class Arrivals {
  readonly #options: ArrivalsOptions
  /** By the address and port that the program named. Those for the same one are alike. */
  readonly #expected = new Map<string, Waiting[]>()
  readonly #targets = new WeakMap<Socket, Target>()
  #server: Server | undefined
  #isClosed = false

  constructor(options: ArrivalsOptions) {
    this.#options = options
  }

  get isListening(): boolean {
    return this.#server !== undefined && !this.#isClosed
  }

  listen(handle: { readonly fd: number }): void {
    const { maxConnections } = this.#options
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#arrive(socket))
    server.maxConnections = maxConnections
    server.on('error', () => undefined)
    server.listen(handle, maxConnections)
    this.#server?.close()
    this.#server = server
    if (this.#isClosed) this.close()
  }

  /**
   * Decides about a connection to `address`, which stands for the target inside, and expects it if it is accepted. The
   * exchange of the question becomes that of the connection.
   */
  async decide(asked: Target, address: string, exchange: Exchange): Promise<ConnectionFate> {
    const { outgoing } = this.#options
    const key = keyOf(address, asked.port)
    const target = outgoing.asNamed(asked)
    // A proxy is asked request by request, so nothing can be known before the first.
    if (outgoing.takesRequests(target)) return this.#expect(key, { kind: 'either', target }, exchange)
    try {
      const stream = await outgoing.connect(target, exchange.signal)
      return this.#expect(key, { kind: 'stream', stream }, exchange)
    } catch (error) {
      const refusal = toRefusal(error, target.host)
      const fate = fateOf(refusal)
      return fate === 'accept' ? this.#expect(key, { kind: 'refusal', refusal }, exchange) : fate
    }
  }

  /** Of a request on a connection that was opened to one target, and has no host in its first line. */
  targetOf({ socket, headers, url = '' }: IncomingMessage): HttpTarget | undefined {
    const target = this.#targets.get(socket)
    // Written behind the host, anything else could change the host.
    if (target && !url.startsWith('/')) {
      throw new EgressRefusal('bad_request', 'Cannot pass the request on: its target must be a path')
    }
    return target && { ...withNameOf(headers.host, target), path: url }
  }

  close(): void {
    this.#isClosed = true
    this.#server?.close()
    for (const [key, waiting] of this.#expected) for (const each of waiting) this.#giveUp(key, each)
  }

  #expect(key: string, what: Expected, asked: Exchange): ConnectionFate {
    const exchange = asked.signal.aborted || !this.isListening ? undefined : asked.handOver()
    if (!exchange) {
      if (what.kind === 'stream') what.stream.destroy()
      return 'refuse'
    }
    const late = setTimeout(() => this.#giveUp(key, waiting), ARRIVES_WITHIN_MS)
    const waiting: Waiting = { what, exchange, late }
    // A target that has gone again must not be given to the next connection.
    if (what.kind === 'stream') what.stream.once('close', () => this.#giveUp(key, waiting))
    this.#expected.set(key, [...(this.#expected.get(key) ?? []), waiting])
    return 'accept'
  }

  #giveUp(key: string, waiting: Waiting): void {
    if (!this.#remove(key, waiting)) return
    waiting.exchange.end()
    if (waiting.what.kind === 'stream') waiting.what.stream.destroy()
  }

  #take(key: string): Waiting | undefined {
    const waiting = this.#expected.get(key)?.[0]
    if (waiting) this.#remove(key, waiting)
    return waiting
  }

  /** False when it was taken or given up before. */
  #remove(key: string, waiting: Waiting): boolean {
    const before = this.#expected.get(key) ?? []
    if (!before.includes(waiting)) return false
    clearTimeout(waiting.late)
    const others = before.filter((each) => each !== waiting)
    if (others.length > 0) this.#expected.set(key, others)
    else this.#expected.delete(key)
    return true
  }

  #arrive(socket: Socket): void {
    const { onSocket, join, destinationOf = originalDestination } = this.#options
    onSocket(socket)
    const destination = destinationOf(socket)
    const expected = destination && this.#take(keyOf(destination.address, destination.port))
    // A program that dials this port itself, or a target that has gone again.
    if (!expected) return cut(socket)
    const { what, exchange } = expected
    exchange.endWith(socket)
    if (what.kind === 'stream') join(socket, what.stream)
    else if (what.kind === 'refusal') void this.#explain(socket, what.refusal)
    else void this.#readFirst(socket, what.target, exchange)
  }

  async #explain(socket: Socket, refusal: EgressRefusal): Promise<void> {
    const first = await firstBytes(socket, FIRST_BYTES_MS)
    if (!first || !ANY_REQUEST.test(first)) return cut(socket)
    // All that is left unread would turn our answer into a reset.
    socket.resume()
    refuseConnect(socket, refusal)
  }

  async #readFirst(socket: Socket, target: Target, exchange: Exchange): Promise<void> {
    const { outgoing, join, serveRequests } = this.#options
    const first = await firstBytes(socket, target.port === HTTP_PORT ? undefined : FIRST_BYTES_MS)
    if (first === undefined) return cut(socket)
    if (REQUEST.test(first) && !UPGRADE.test(first)) {
      this.#targets.set(socket, target)
      // From now on, each request has its own.
      exchange.end()
      return serveRequests(socket)
    }
    try {
      join(socket, await outgoing.connect(target, exchange.signal))
    } catch {
      cut(socket)
    }
  }
}

/** A proxy gets the name that the request has. What connected may know the address only, as browsers do of localhost. */
function withNameOf(host: string | undefined, target: Target): Target {
  if (isIP(target.host) === 0 || host === undefined) return target
  const { path: _, ...named } = readHttpTarget(`http://${host}`)
  return named.port === target.port ? named : target
}

const keyOf = (address: string, port: number): string => `${address} ${port}`

/** What our own rules refuse gets an explanation. What the network refuses looks as it would without us. */
function fateOf({ code, cause }: EgressRefusal): ConnectionFate {
  if (code === 'egress_timeout') return 'ignore'
  if (code !== 'egress_failed') return 'accept'
  switch ((cause as NodeJS.ErrnoException | undefined)?.code) {
    case 'ECONNREFUSED':
    case 'ECONNRESET':
      return 'refuse'
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return 'unreachable'
    case 'ETIMEDOUT':
      return 'ignore'
    default:
      // The session's proxy failed, for example. The browser has no error for that.
      return 'accept'
  }
}

/** What came first, still to be read, and nothing if nothing came in that time. Undefined when the connection ended before. */
async function firstBytes(socket: Socket, withinMs: number | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const finish = (first: string | undefined) => {
      clearTimeout(silent)
      socket.off('readable', onReadable)
      socket.off('end', onOver)
      socket.off('close', onOver)
      resolve(first)
    }
    const onReadable = () => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return
      finish(chunk.toString('latin1'))
      socket.unshift(chunk)
    }
    const onOver = () => finish(undefined)
    const silent = withinMs === undefined ? undefined : setTimeout(() => finish(''), withinMs)
    socket.on('readable', onReadable)
    socket.once('end', onOver)
    socket.once('close', onOver)
  })
}
