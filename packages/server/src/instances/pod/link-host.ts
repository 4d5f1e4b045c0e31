// The link of a Pod. It has the key of the instance, which the tenant's container has not, and passes bytes between
// servers and the sockets of the instance. Servers prove that they have the key before anything else happens. It dials
// nothing but these sockets, so the Pod needs no way out: traffic of the instance waits for a connection from its server.
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { linkPurposes } from '@berth/contracts/link'
import { readFirstLine } from '@berth/kit/first-line'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'
import { AgentLease } from './agent-lease.ts'
import { DevtoolsSockets } from './devtools-sockets.ts'
import type { NativeCalls } from './native-calls.ts'
import {
  EGRESS_BEGINS,
  encode,
  MAX_FIRST_LINE_BYTES,
  messageReader,
  podEnds,
  pskTls,
  type FromPod,
  type PodEnd,
  type SharedPaths,
} from './protocol.ts'

const MAX_CONNECTIONS = 4_096
const MAX_PARKED = 256
/** Connections of the instance that wait for one of the server. */
const MAX_WAITING = 640
const WAITS_MS = 10_000
const HANDSHAKE_MS = 10_000
/** Added to the lease: the agent and the server go first. */
const LEASE_MARGIN_MS = 10_000
/** Until the first server comes: it may be busy. */
const FIRST_HOLD_MS = 120_000
const LOOK_MS = 500
const MAX_ERROR_CHARS = 200

export interface LinkHostOptions {
  readonly paths: SharedPaths
  /** The id of the instance, under which servers present the key. */
  readonly identity: string
  readonly key: Buffer
  readonly leaseSeconds: number
  readonly host: string
  readonly port: number
  /** Without them the agent passes on the bytes of CDP clients. */
  readonly calls?: NativeCalls | undefined
}

interface Holder {
  readonly token: string
  readonly term: number
  readonly socket: TLSSocket
}

interface Parked {
  readonly socket: TLSSocket
  readonly forget: () => void
}

interface Waiting {
  readonly socket: Socket
  readonly late: NodeJS.Timeout
}

export class LinkHost {
  readonly #options: LinkHostOptions
  readonly #tls: Server
  readonly #egress: Server
  readonly #life: Server
  readonly #lease: AgentLease
  readonly #devtools: DevtoolsSockets | undefined
  readonly #sockets = new Set<Socket>()
  readonly #parked: Parked[] = []
  readonly #waiting: Waiting[] = []
  readonly #resolveOver: (end: PodEnd) => void
  readonly #timer: NodeJS.Timeout
  /** Resolves when the instance has ended, or nobody holds the Pod any more. */
  readonly over: Promise<PodEnd>
  #holder: Holder | undefined
  /** Remembered, so that a server that lost the Pod cannot take it back. */
  #lastTerm = -1
  #launcher: Socket | undefined
  #isUp = false
  #end: Extract<FromPod, { end: PodEnd }> | undefined
  #heardAt = performance.now()
  #wasHeld = false

  constructor(options: LinkHostOptions) {
    this.#options = options
    const { identity, key } = options
    const { promise, resolve } = Promise.withResolvers<PodEnd>()
    this.over = promise
    this.#resolveOver = resolve
    this.#lease = new AgentLease(options.paths.link)
    this.#devtools = options.calls && new DevtoolsSockets({ link: options.paths.link, calls: options.calls })
    this.#tls = createTlsServer(
      {
        ...pskTls,
        handshakeTimeout: HANDSHAKE_MS,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: HANDSHAKE_MS,
        pskCallback: (_socket, shown) => (shown === identity ? key : null),
      },
      (socket) => void this.#accept(socket),
    )
    this.#tls.maxConnections = MAX_CONNECTIONS
    // Strangers without the key.
    this.#tls.on('tlsClientError', () => {})
    this.#egress = createServer({ allowHalfOpen: true }, (socket) => this.#wantEgress(socket))
    this.#egress.maxConnections = MAX_WAITING
    this.#life = createServer((socket) => this.#hearLauncher(socket))
    for (const server of [this.#tls, this.#egress, this.#life]) server.on('error', () => {})
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  /** Returns the port. */
  async listen(): Promise<number> {
    const { paths, host, port } = this.#options
    mkdirSync(paths.pub, { recursive: true })
    chmodSync(paths.pub, 0o755)
    await listenAt(this.#egress, paths.egress)
    await new Promise<void>((resolve, reject) => {
      this.#tls.once('error', reject)
      this.#tls.listen({ host, port, backlog: MAX_WAITING }, resolve)
    })
    await listenAt(this.#life, paths.life)
    // SAFETY: it listens on a port.
    return (this.#tls.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#lease.close()
    this.#devtools?.close()
    for (const { late } of this.#waiting) clearTimeout(late)
    const closed = [this.#tls, this.#egress, this.#life].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    )
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  async #accept(socket: TLSSocket): Promise<void> {
    this.#watch(socket)
    try {
      const [word, ...rest] = (await readFirstLine(socket, MAX_FIRST_LINE_BYTES)).split(' ')
      if (word === 'connect') await this.#connect(socket, rest)
      else if (word === 'hold') this.#hold(socket, rest)
      else if (word === 'egress') this.#park(socket, rest)
      else socket.destroy()
    } catch {
      socket.destroy()
    }
  }

  async #connect(socket: TLSSocket, [purpose]: readonly string[]): Promise<void> {
    if (!(linkPurposes as readonly string[]).includes(purpose ?? '')) return void socket.destroy()
    const devtools = purpose === 'cdp' ? await this.#devtools?.open(socket) : undefined
    if (devtools) {
      this.#watch(devtools)
      return pipeBothWays(socket, devtools)
    }
    const agent = connect({ path: this.#options.paths.link, allowHalfOpen: true })
    this.#watch(agent)
    agent.write(`${purpose}\n`)
    pipeBothWays(socket, agent)
  }

  #hold(socket: TLSSocket, [token, termText]: readonly string[]): void {
    const term = Number(termText)
    if (!token || !Number.isSafeInteger(term) || term < 0) return void socket.destroy()
    if (term < this.#lastTerm) return void socket.end(encode({ taken: true }))
    const before = this.#holder
    if (before && before.token !== token) {
      before.socket.end(encode({ taken: true }))
      for (const parked of this.#parked.splice(0)) parked.socket.destroy()
    }
    this.#holder = { token, term, socket }
    this.#lastTerm = term
    this.#wasHeld = true
    this.#heard()
    const hear = messageReader(
      (message) => {
        this.#heard()
        if (message['ping'] === true) socket.write(encode({ pong: true }))
        if (message['endureOom'] === true) this.#launcher?.write(encode({ endureOom: true }))
        if (message['end'] === true) this.#finish({ end: 'ended-by-itself', detail: '' })
        const { parked, renew, seconds } = message
        if (typeof parked === 'number') this.#unpark(parked)
        if (typeof renew === 'number') void this.#renewLease(socket, renew, Number(seconds))
      },
      () => socket.destroy(),
    )
    socket.on('data', hear).resume()
    socket.once('end', () => socket.end())
    socket.once('close', () => {
      if (this.#holder?.socket === socket) this.#holder = undefined
    })
    if (this.#end) socket.write(encode(this.#end))
    else if (this.#isUp) socket.write(encode({ up: true }))
    if (this.#waiting.length > 0) socket.write(encode({ wantsEgress: true }))
  }

  async #renewLease(holder: TLSSocket, renewed: number, seconds: number): Promise<void> {
    const { answer, error } = await this.#lease.renew(seconds).then(
      (given) => ({ answer: given, error: '' }),
      ({ message }: Error) => ({ answer: '', error: message.slice(0, MAX_ERROR_CHARS) || 'unknown' }),
    )
    holder.write(encode({ renewed, answer, error }))
  }

  /** Only this side knows which of them the instance does not use. */
  #unpark(most: number): void {
    for (const { socket, forget } of this.#parked.splice(0, Math.max(0, this.#parked.length - most))) {
      forget()
      socket.destroy()
    }
  }

  #park(socket: TLSSocket, [token]: readonly string[]): void {
    if (token !== this.#holder?.token || this.#parked.length >= MAX_PARKED) return void socket.destroy()
    const waiting = this.#waiting.shift()
    if (waiting) return this.#begin(waiting, socket)
    // The server speaks only after us, so this is its end.
    const onOver = () => {
      parked.forget()
      socket.destroy()
    }
    const parked: Parked = {
      socket,
      forget: () => {
        const index = this.#parked.indexOf(parked)
        if (index !== -1) this.#parked.splice(index, 1)
        socket.off('end', onOver)
        socket.off('close', onOver)
        socket.pause()
      },
    }
    this.#parked.push(parked)
    socket.once('end', onOver)
    socket.once('close', onOver)
    socket.resume()
  }

  #wantEgress(socket: Socket): void {
    this.#watch(socket)
    const late = setTimeout(() => {
      forget()
      socket.destroy()
    }, WAITS_MS)
    const waiting: Waiting = { socket, late }
    const forget = () => {
      clearTimeout(late)
      const index = this.#waiting.indexOf(waiting)
      if (index !== -1) this.#waiting.splice(index, 1)
    }
    const parked = this.#parked.at(-1)
    if (parked) {
      parked.forget()
      return this.#begin(waiting, parked.socket)
    }
    this.#waiting.push(waiting)
    socket.once('close', forget)
    this.#holder?.socket.write(encode({ wantsEgress: true }))
  }

  #begin({ socket, late }: Waiting, parked: TLSSocket): void {
    clearTimeout(late)
    parked.write(Buffer.from([EGRESS_BEGINS]))
    pipeBothWays(socket, parked)
  }

  #hearLauncher(socket: Socket): void {
    this.#watch(socket)
    // The tenant has the launcher's uid, so it could come second.
    if (this.#launcher) return void socket.destroy()
    this.#launcher = socket
    const hear = messageReader(
      (message) => {
        const end = podEnds.find((each) => each === message['end'])
        const { detail } = message
        if (end) this.#finish({ end, detail: typeof detail === 'string' ? detail.slice(-4096) : '' })
        else if (message['up'] === true && !this.#isUp) {
          this.#isUp = true
          this.#holder?.socket.write(encode({ up: true }))
        }
      },
      () => socket.destroy(),
    )
    socket.on('data', hear).resume()
    socket.once('close', () => this.#finish({ end: 'ended-by-itself', detail: '' }))
  }

  #heard(): void {
    this.#heardAt = performance.now()
  }

  #look(): void {
    const silentMs = performance.now() - this.#heardAt
    const limitMs = this.#wasHeld ? this.#options.leaseSeconds * 1000 + LEASE_MARGIN_MS : FIRST_HOLD_MS
    if (silentMs > limitMs) this.#finish({ end: 'lease-lapsed', detail: '' })
  }

  #finish(end: Extract<FromPod, { end: PodEnd }>): void {
    if (this.#end) return
    this.#end = end
    this.#launcher?.write(encode({ end: true }))
    const { socket } = this.#holder ?? {}
    if (socket && !socket.destroyed) socket.write(encode(end), () => this.#resolveOver(end.end))
    else this.#resolveOver(end.end)
  }

  #watch(socket: Socket): void {
    this.#sockets.add(socket)
    // Stays: a failing connection also closes.
    socket.on('error', () => {})
    socket.once('close', () => this.#sockets.delete(socket))
  }
}

/** For the other container, whose uid is another; nobody else has the directory. */
async function listenAt(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, backlog: MAX_WAITING, readableAll: true, writableAll: true }, resolve)
  })
}
