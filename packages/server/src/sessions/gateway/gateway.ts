// Connects CDP, BiDi and Playwright clients to their session through its signed URL. A client's connection holds the
// session; its end ends nothing else.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { AppError } from '../../platform/errors/app-error.ts'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import { discover } from './discovery.ts'
import { DevtoolsPages } from './devtools-page.ts'
import { endingOf, linkExpired } from './endings.ts'
import { checkIsForSandbox, openFile, sendFile } from './front-end-file.ts'
import { atExpiry } from './link-expiry.ts'
import { isFault, refuseRequest, refuseSocket } from './refusals.ts'
import type { GatewaySession, GatewaySessions } from './session.ts'
import { Splice, type Pipe, type PipeOptions } from './splice.ts'
import { playwrightVersionOf } from './playwright-version.ts'
import { acceptOf } from '../../instances/devtools/websocket-handshake.ts'
import { openScreen, openUpstream, unreachable } from './upstream.ts'
import type { FrontEndFile } from '../session/target.ts'
import { admit, readHandshake, type AdmissionOptions, type Admitted } from './upgrade.ts'
import { Visit } from './visit.ts'

export interface GatewayLimits {
  /** How long an instance has to answer. */
  readonly connectMs: number
  /** The same where it may have to start a program first. */
  readonly startMs: number
  /** How long a file of DevTools may take to its client. */
  readonly fileMs: number
  /** Shorter than the idle timeout of common load balancers. */
  readonly pingMs: number
  /** How long a client may leave a ping unanswered or read no bytes. */
  readonly silentMs: number
  readonly sweepMs: number
  /** How long a close frame may wait for its answer. */
  readonly graceMs: number
  readonly connectionsPerSession: number
}

const defaultLimits: GatewayLimits = {
  connectMs: 10_000,
  startMs: 30_000,
  fileMs: 60_000,
  pingMs: 25_000,
  silentMs: 35_000,
  sweepMs: 5_000,
  graceMs: 2_000,
  connectionsPerSession: 64,
}

/** Admits viewers of the screen, whose bytes take another path. */
export interface LiveDoor {
  /** Throws when the viewer may not enter now; counts the viewer until disposed. */
  enter(admitted: Admitted): Disposable
  open(admitted: Admitted, options: PipeOptions): Pipe
}

export interface GatewayOptions extends AdmissionOptions {
  readonly sessions: GatewaySessions
  readonly live: LiveDoor
  readonly log: Logger
  readonly limits?: Partial<GatewayLimits>
}

export class Gateway {
  readonly #options: GatewayOptions
  readonly #limits: GatewayLimits
  readonly #devtools = new DevtoolsPages()
  readonly #splices = new Set<Pipe>()
  readonly #connections: KeyedLimit
  readonly #stopping = new AbortController()
  #sweeping: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined
  #onEmpty: (() => void) | undefined

  constructor(options: GatewayOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#connections = new KeyedLimit(this.#limits.connectionsPerSession)
  }

  /** Clients that are connected to their session. */
  get connectionCount(): number {
    return this.#splices.size
  }

  /** Handles upgrades and always answers. The caller listens to socket errors. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#upgrade(request, socket, head).catch((error: unknown) => {
      if (socket.destroyed) return
      this.#logFault(error)
      refuseSocket(socket, error)
    })
  }

  /** Handles plain requests below the paths of clients, and always answers. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    { origin }: { origin: string },
  ): Promise<void> {
    try {
      const admitted = await admit(request, this.#options)
      const { sessionId, token, target } = admitted
      // Always throws here, because a plain request is no websocket handshake.
      if (target.kind === 'websocket' || request.method !== 'GET') readHandshake(request)
      if (target.kind === 'websocket') throw new AppError('bad_request', 'Cannot upgrade this connection')
      const session = await this.#find(admitted)
      if (target.kind === 'devtools') {
        const { html, headers } = await this.#devtools.show({ token, origin })
        return void response.writeHead(200, headers).end(html)
      }
      if (target.kind === 'devtools_file') {
        return await this.#sendFile(request, response, { session, sessionId, file: target.file })
      }
      using acquired = new DisposableStack()
      acquired.use(this.#enter(sessionId))
      acquired.use(session.hold())
      const ask = (signal: AbortSignal) => discover({ session, what: target.what, token, origin, signal })
      const body = await this.#inTime(session, response, ask).catch((error: unknown) => {
        throw unreachable(session, error)
      })
      const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
      response.writeHead(200, headers).end(body)
    } catch (error) {
      if (response.destroyed) return
      this.#logFault(error)
      refuseRequest(response, error)
    }
  }

  async #sendFile(
    request: IncomingMessage,
    response: ServerResponse,
    { session, sessionId, file }: { session: GatewaySession; sessionId: string; file: FrontEndFile },
  ): Promise<void> {
    checkIsForSandbox(request)
    using acquired = new DisposableStack()
    acquired.use(this.#enter(sessionId))
    acquired.use(session.hold())
    const opened = await this.#inTime(session, response, (signal) => openFile(session, file, signal)).catch(
      (error: unknown) => {
        throw error instanceof AppError ? error : unreachable(session, error)
      },
    )
    const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    const send = (signal: AbortSignal) => sendFile(opened, response, { type: file.type, takesGzip, signal })
    // What breaks off here has begun, so the client sees a broken answer.
    await this.#inTime(session, response, send, this.#limits.fileMs).catch(() => response.destroy())
  }

  /** Refuses new clients and closes the others; cuts off those that do not answer. */
  close(reason: string): Promise<void> {
    return (this.#closing ??= this.#close(reason))
  }

  async #close(reason: string): Promise<void> {
    this.#stopping.abort(new AppError('unavailable', `Cannot connect: ${reason}`))
    for (const splice of this.#splices) splice.close(1001, reason)
    // Each splice ends when its grace period is over, so this resolves.
    if (this.#splices.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
  }

  async #upgrade(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const admitted = await admit(request, this.#options)
    const { sessionId, target, expiresAt } = admitted
    if (target.kind !== 'websocket' && target.kind !== 'devtools') {
      throw new AppError('bad_request', 'Cannot open a websocket at this path')
    }
    const key = readHandshake(request)
    const session = await this.#find(admitted)
    using acquired = new DisposableStack()
    acquired.use(target.purpose === 'live' ? this.#options.live.enter(admitted) : this.#enter(sessionId))
    const hold = acquired.use(session.hold({ maySleep: true }))
    const watch = watchForEnd(client)
    const version = playwrightVersionOf(request.headers['user-agent'])
    const open = (signal: AbortSignal) =>
      target.purpose === 'live'
        ? openScreen(session, signal)
        : openUpstream({ session, target, key, version, signal })
    const limitMs = target.purpose === 'playwright' ? this.#limits.startMs : this.#limits.connectMs
    const upstream = await this.#inTime(session, client, open, limitMs).finally(() => watch[Symbol.dispose]())
    if (client.destroyed || session.ending.aborted || this.#closing) {
      upstream.destroy()
      throw this.#stopping.signal.aborted ? this.#stopping.signal.reason : unreachable(session, undefined)
    }
    client.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`,
    )
    if (head.length > 0) client.unshift(head)
    const held = acquired.move()
    const { graceMs } = this.#limits
    const visit = new Visit(session, target.purpose)
    const onEnd = () => {
      session.ending.removeEventListener('abort', onSessionEnd)
      expiry?.[Symbol.dispose]()
      held.dispose()
      this.#remove(splice)
      visit.end(splice)
      const { messages } = splice
      const told = { sessionId, purpose: target.purpose, ms: visit.ms, messages }
      this.#options.log.debug(told, 'client disconnected')
    }
    const onTraffic = () => hold.stir()
    const options = { client, upstream, graceMs, onTraffic, onEnd }
    const splice: Pipe =
      target.purpose === 'live' ? this.#options.live.open(admitted, options) : new Splice(options)
    const onSessionEnd = () => {
      const { code, reason } = endingOf(session.ending)
      splice.close(code, reason)
      // Report the visit now, because the client may answer only after the session is gone.
      visit.end(splice)
    }
    session.ending.addEventListener('abort', onSessionEnd)
    const expire = () => splice.close(linkExpired.code, linkExpired.reason)
    const expiry = target.purpose === 'devtools' ? atExpiry(expiresAt, expire) : undefined
    this.#add(splice)
    this.#options.log.debug({ sessionId, purpose: target.purpose }, 'client connected')
    visit.begin()
    splice.start()
  }

  async #find({ sessionId, leaseNumber, target, expiresAt }: Admitted): Promise<GatewaySession> {
    this.#stopping.signal.throwIfAborted()
    // Exact, as the link promises. Other tokens allow for clocks that differ.
    if (target.purpose === 'devtools' && expiresAt <= Date.now()) {
      throw new AppError('unauthorized', 'Cannot open DevTools: the link has expired; create another one')
    }
    const session = await this.#options.sessions.findAt(sessionId, leaseNumber)
    if (!session || session.ending.aborted) {
      throw new AppError('not_found', 'Cannot connect: the session has ended')
    }
    return session
  }

  /** Counts before the connection exists, so that concurrent attempts cannot exceed the limit. */
  #enter(sessionId: string): Disposable {
    const place = this.#connections.enter(sessionId)
    if (place) return place
    const message = `Cannot connect: the session has ${this.#connections.max} clients, close one first`
    throw new AppError('too_many_requests', message, { headers: { 'retry-after': '1' } })
  }

  /**
   * Aborts the work when its time is up, the client leaves or the session ends. Never aborts after the work is done,
   * because streams may stay bound to the signal.
   */
  async #inTime<T>(
    session: GatewaySession,
    client: Socket | ServerResponse,
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = this.#limits.connectMs,
  ): Promise<T> {
    const waiting = new AbortController()
    const stop = () => waiting.abort(new Error('The client has left or the time is up'))
    const timer = setTimeout(stop, limitMs)
    client.on('close', stop)
    session.ending.addEventListener('abort', stop)
    this.#stopping.signal.addEventListener('abort', stop)
    try {
      return await work(waiting.signal)
    } finally {
      clearTimeout(timer)
      client.off('close', stop)
      session.ending.removeEventListener('abort', stop)
      this.#stopping.signal.removeEventListener('abort', stop)
    }
  }

  #add(splice: Pipe): void {
    this.#splices.add(splice)
    // One timer for all clients, so an idle client needs none.
    this.#sweeping ??= setInterval(() => {
      const now = performance.now()
      for (const each of this.#splices) each.tick(now, this.#limits)
    }, this.#limits.sweepMs).unref()
  }

  #remove(splice: Pipe): void {
    this.#splices.delete(splice)
    if (this.#splices.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
    this.#onEmpty?.()
  }

  /** Never logs the URL, which contains the token. */
  #logFault(error: unknown): void {
    if (isFault(error)) this.#options.log.warn({ err: error }, 'cannot connect a client')
  }
}

/** Notices that a client leaves while nobody reads its bytes yet. */
function watchForEnd(client: Socket): Disposable {
  const onReadable = () => {
    // A socket reports its end only when read; early bytes stay buffered.
    if (client.readableLength === 0) client.read()
  }
  const onEnd = () => client.destroy()
  client.on('readable', onReadable).on('end', onEnd)
  return { [Symbol.dispose]: () => void client.off('readable', onReadable).off('end', onEnd) }
}
