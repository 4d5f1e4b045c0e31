// The egress proxy of one instance: an HTTP proxy on a unix socket. Anything in the instance can send
// it anything, so the worst result of bad input must be a refusal.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { API_HOST } from '@berth/contracts/link'
import type { Openings } from './openings.ts'
import { refuseConnect, refuseRequest } from './answers.ts'
import { Exchanges } from './exchanges.ts'
import { checkForwardable, forward } from './forward.ts'
import { refuseCredentials } from './headers.ts'
import type { EgressPolicy } from './policy.ts'
import { deniedBecause, toRefusal } from './refusal.ts'
import { readConnectTarget, readHttpTarget, type Target } from './target.ts'
import type { EgressShare } from './shares.ts'
import { joinStreams } from './tunnel.ts'
import { DIRECT, upstreamFor, type EgressRoute } from './route.ts'
import type { DirectUpstream, RequestConnection, Upstream } from './upstream.ts'

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

/** The upstream in use, and the signal that fires when another replaces it. */
interface ActiveUpstream {
  readonly upstream: Upstream
  readonly replaced: AbortController
}

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
  /** The policy of all instances; `#policy` may open more. */
  readonly #commonPolicy: EgressPolicy
  #policy: EgressPolicy
  #toApi: Openings['toApi']
  readonly #limits: EgressLimits
  readonly #share: EgressShare
  readonly #log: Logger
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Connections to targets. One may outlive the instance's connection while its last bytes are read. */
  readonly #outside = new Set<Duplex>()
  readonly #exchanges: Exchanges
  #direct: DirectUpstream
  readonly #commonDirect: DirectUpstream
  #active: ActiveUpstream
  #ended: Traffic = { sent: 0, received: 0 }
  #lastRefusal: string | undefined
  #closed: Promise<void> | undefined

  constructor({ policy, direct, route, limits, share, log }: EgressListenerOptions) {
    this.#commonPolicy = policy
    this.#policy = policy
    this.#commonDirect = direct
    this.#direct = direct
    this.#active = { upstream: upstreamFor(route, direct), replaced: new AbortController() }
    this.#limits = limits
    this.#share = share
    this.#log = log
    this.#exchanges = new Exchanges(limits.connections, share)
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
    return this.#lastRefusal
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
    this.setUpstream(upstreamFor(route, this.#direct))
  }

  setUpstream(upstream: Upstream): void {
    const { replaced } = this.#active
    this.#active = { upstream, replaced: new AbortController() }
    replaced.abort(new Error('The egress route changed'))
    for (const stream of this.#outside) stream.destroy()
  }

  /** The instance has been given to a project. */
  setProject(projectId: string): void {
    this.#share.setProject(projectId)
  }

  /** Opens more than all instances may reach, directly from this host; existing connections are cut. */
  open({ allow, toApi }: Openings): void {
    this.#policy = this.#commonPolicy.with(allow)
    this.#direct = this.#commonDirect.under(this.#policy)
    this.#toApi = toApi
    this.setRoute(DIRECT)
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
      this.#server.close(() => resolve())
      for (const stream of [...this.#sockets, ...this.#outside]) stream.destroy()
      this.#commonDirect.close()
    })
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #watch(socket: Socket): void {
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
      if (target.host === API_HOST && this.#toApi) {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        if (head.length > 0) socket.unshift(head)
        return this.#toApi(socket)
      }
      const { stream: outside } = await this.#connect(target, signal, async (upstream, given) => ({
        stream: await upstream.connect(target, given),
      }))
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      if (head.length > 0) outside.write(head)
      const { halfOpenMs } = this.#limits
      joinStreams(socket, outside, { halfOpenMs, share: this.#share })
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
        const target = readHttpTarget(request.url ?? '')
        refuseCredentials(request)
        checkForwardable(request)
        const connection = await this.#connect(target, exchange.signal, (upstream, given) =>
          upstream.connectForRequest(target, given),
        )
        const { answerMs } = this.#limits
        await forward({ request, response, target, connection, answerMs, share: this.#share })
      } finally {
        exchange.end()
      }
    } catch (error) {
      refuseRequest(response, toRefusal(error, 'the target'))
    }
  }

  async #connect(target: Target, signal: AbortSignal, open: Open): Promise<RequestConnection> {
    const { host, port } = target
    try {
      const verdict = this.#policy.judgeTarget(target)
      if (!verdict.allowed) throw deniedBecause(target, verdict.reason)
      const connection = await this.#open(signal, open)
      this.#log.debug({ host, port }, 'egress connected')
      return connection
    } catch (error) {
      const refusal = toRefusal(error, host)
      this.#lastRefusal = refusal.message
      this.#log.debug({ host, port, code: refusal.code, reason: refusal.message }, 'egress refused')
      throw refusal
    }
  }

  /** If the upstream is replaced while connecting, tries the new one: nothing was sent yet. */
  async #open(signal: AbortSignal, open: Open): Promise<RequestConnection> {
    for (;;) {
      const active = this.#active
      try {
        const connection = await open(active.upstream, AbortSignal.any([signal, active.replaced.signal]))
        const { stream } = connection
        stream.on('error', () => undefined)
        if (signal.aborted || active !== this.#active) stream.destroy()
        else {
          // Added before anything else can run, so that the next route change finds it.
          this.#outside.add(stream)
          stream.once('close', () => this.#outside.delete(stream))
          return connection
        }
      } catch (error) {
        if (active === this.#active) throw error
      }
      signal.throwIfAborted()
    }
  }
}

type Open = (upstream: Upstream, signal: AbortSignal) => Promise<RequestConnection>
