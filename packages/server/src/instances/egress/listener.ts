// The egress of one instance: an HTTP proxy on a unix socket, and the connections that arrive from its network. Anything
// in the instance can send anything, so the worst result of bad input must be a refusal.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { API_HOST, EGRESS_ASK_HOST } from '@berth/contracts/link'
import type { Openings } from './openings.ts'
import { refuseConnect, refuseRequest } from './answers.ts'
import { Arrivals } from './arrivals.ts'
import { answerAsk } from './asks.ts'
import { Exchanges, type Exchange } from './exchanges.ts'
import { checkForwardable, forward } from './forward.ts'
import { refuseCredentials } from './headers.ts'
import type { EgressPolicy } from './policy.ts'
import { Outgoing } from './outgoing.ts'
import { toRefusal } from './refusal.ts'
import { readConnectTarget, readHttpTarget, type HttpTarget } from './target.ts'
import type { EgressShare } from './shares.ts'
import { joinStreams } from './tunnel.ts'
import type { EgressRoute } from './route.ts'
import type { DirectUpstream, Upstream } from './upstream.ts'

export interface EgressLimits {
  /** Concurrent tunnels and requests. */
  readonly connections: number
  readonly headerBytes: number
  readonly headerMs: number
  readonly keepAliveMs: number
  /** How long the other side of a plain request may take to answer. */
  readonly answerMs: number
  /** How long a tunnel may be silent after one side has ended. */
  readonly halfOpenMs: number
}

export interface EgressListenerOptions {
  readonly policy: EgressPolicy
  /** Connects directly from this host, under the policy. The listener closes it. */
  readonly direct: DirectUpstream
  readonly route: EgressRoute
  readonly limits: EgressLimits
  readonly share: EgressShare
  readonly log: Logger
}

export type ListenPlace = { readonly path: string } | { readonly handle: { readonly fd: number } }

/** Bytes that the instance sent to the proxy and received from it. */
export interface Traffic {
  readonly sent: number
  readonly received: number
}

/** Connections beyond the limit that get a refusal; any beyond these are dropped at once. */
const ROOM_FOR_REFUSALS = 128
/**
 * How late a slow sender may be detected, as a multiple of its time limit. A slow sender only occupies its own
 * instance's connections, but each check wakes the server for every session, including those on standby.
 */
const LATENESS = 3

export class EgressListener implements AsyncDisposable {
  readonly #outgoing: Outgoing
  readonly #limits: EgressLimits
  readonly #share: EgressShare
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #exchanges: Exchanges
  readonly #arrivals: Arrivals
  #ended: Traffic = { sent: 0, received: 0 }
  #closed: Promise<void> | undefined

  constructor({ policy, direct, route, limits, share, log }: EgressListenerOptions) {
    this.#outgoing = new Outgoing({ policy, direct, route, log })
    this.#limits = limits
    this.#share = share
    this.#exchanges = new Exchanges(limits.connections, share)
    this.#arrivals = new Arrivals({
      outgoing: this.#outgoing,
      maxConnections: limits.connections + ROOM_FOR_REFUSALS,
      onSocket: (socket) => this.#watch(socket),
      join: (socket, outside) => this.#join(socket, outside),
      serveRequests: (socket) => this.#server.emit('connection', socket),
    })
    this.#server = createServer({
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headerMs,
      // An upload may take any time.
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.headerMs * LATENESS,
    })
    this.#server.maxConnections = limits.connections + ROOM_FOR_REFUSALS
    this.#server.on('connection', (socket) => this.#watch(socket))
    this.#server.on('request', (request, response) => void this.#forward(request, response))
    this.#server.on('connect', (request, _stream, head) => void this.#tunnel(request, head))
    this.#server.on('error', (error) => log.debug({ err: error }, 'egress listener failed'))
  }

  get lastRefusal(): string | undefined {
    return this.#outgoing.lastRefusal
  }

  /** Live total over all connections, open and closed. */
  get traffic(): Traffic {
    let { sent, received } = this.#ended
    for (const socket of this.#sockets) {
      sent += socket.bytesRead
      received += socket.bytesWritten
    }
    return { sent, received }
  }

  /** Applies at once: connections of the old route are cut, and new ones use the new route. */
  setRoute(route: EgressRoute): void {
    this.#outgoing.setRoute(route)
  }

  setUpstream(upstream: Upstream): void {
    this.#outgoing.setUpstream(upstream)
  }

  /** The instance has been given to a project. */
  setProject(projectId: string): void {
    this.#share.setProject(projectId)
  }

  /** Opens more than all instances may reach; existing connections are cut. */
  open(openings: Openings): void {
    this.#outgoing.open(openings)
  }

  /** Takes the connections that programs open to anywhere, at a socket in the instance's network. */
  acceptArrivals(handle: { readonly fd: number }): void {
    this.#arrivals.listen(handle)
  }

  /** Takes a connection of the instance that came in another way than by listening. */
  take(socket: Socket): void {
    if (this.#sockets.size >= this.#server.maxConnections) socket.destroy()
    else this.#server.emit('connection', socket)
  }

  async listen(place: ListenPlace): Promise<void> {
    // If a burst exceeded the backlog, clients would fail to connect instead of being refused.
    const backlog = this.#server.maxConnections
    if ('path' in place) this.#server.listen({ path: place.path, backlog })
    else this.#server.listen(place.handle, backlog)
    await once(this.#server, 'listening')
  }

  /** Ends every connection; resolves when none is left and a socket file that it made is gone. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      // It fails where it never listened.
      this.#server.close(() => resolve())
      this.#arrivals.close()
      for (const socket of this.#sockets) socket.destroy()
      this.#outgoing.close()
    })
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #watch(socket: Socket): void {
    // An arrival with plain requests is also a connection of the proxy.
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    // Node removes its own handler when a connection becomes a tunnel.
    socket.on('error', () => undefined)
    // A client that pipelines adds one listener for each request on its connection.
    socket.setMaxListeners(0)
    socket.once('close', () => {
      const { sent, received } = this.#ended
      this.#ended = { sent: sent + socket.bytesRead, received: received + socket.bytesWritten }
      this.#sockets.delete(socket)
    })
    if (this.#closed) socket.destroy()
  }

  async #tunnel(request: IncomingMessage, head: Buffer): Promise<void> {
    const { socket } = request
    try {
      // The exchange ends with the socket.
      const { signal } = this.#exchanges.begin(socket)
      const target = readConnectTarget(request.url ?? '')
      refuseCredentials(request)
      const { toApi } = this.#outgoing
      if (target.host === API_HOST && toApi) {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        if (head.length > 0) socket.unshift(head)
        return toApi(socket)
      }
      const outside = await this.#outgoing.connect(target, signal)
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      if (head.length > 0) outside.write(head)
      this.#join(socket, outside)
    } catch (error) {
      refuseConnect(socket, toRefusal(error, 'the target'))
    }
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    response.once('finish', () => {
      // The answer came before the whole body: nobody reads the rest.
      if (!request.complete) request.socket.destroySoon()
    })
    try {
      const exchange = this.#exchanges.begin(request.socket)
      try {
        const arrived = this.#arrivals.targetOf(request)
        const target = arrived ?? readHttpTarget(request.url ?? '')
        refuseCredentials(request)
        // Not of one that arrived: pages could ask.
        const isAsk = !arrived && target.host === EGRESS_ASK_HOST
        if (isAsk) return await this.#answer(target, response, exchange)
        checkForwardable(request)
        const connection = await this.#outgoing.connectForRequest(target, exchange.signal)
        const { answerMs } = this.#limits
        await forward({ request, response, target, connection, answerMs, share: this.#share })
      } finally {
        exchange.end()
      }
    } catch (error) {
      refuseRequest(response, toRefusal(error, 'the target'))
    }
  }

  async #answer(target: HttpTarget, response: ServerResponse, exchange: Exchange): Promise<void> {
    const outgoing = this.#outgoing
    const arrivals = this.#arrivals
    const answer = await answerAsk(target.path, { outgoing, arrivals, exchange })
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
  }

  #join(socket: Socket, outside: Duplex): void {
    const { halfOpenMs } = this.#limits
    joinStreams(socket, outside, { halfOpenMs, share: this.#share })
  }
}
