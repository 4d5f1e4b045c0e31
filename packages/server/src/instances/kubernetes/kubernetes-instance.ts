// The instance in one Pod, as the server that holds it has it. The connection that holds the Pod says when the instance is
// up and how it ended; the cluster says when the Pod is gone. Whichever is first counts.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { LinkPurpose } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'
import type { Instance, InstanceEnd, InstanceLimits } from '../driver/driver.ts'
import type { Log } from '../driver/log.ts'
import type { EgressListener } from '../egress/listener.ts'
import type { Openings } from '../egress/openings.ts'
import type { EgressRoute } from '../egress/route.ts'
import { encode, messageReader, readFromPod, type FromPod, type ToPod } from '../pod/protocol.ts'
import { PodConnections } from './pod-connections.ts'
import { PodDialer, type PodAddress } from './pod-dialer.ts'
import { PodEgress } from './pod-egress.ts'
import type { PodFreezer } from './pod-freezer.ts'
import { PodRenewals } from './pod-renewals.ts'

const AGAIN_MS = 100
const MAX_AGAIN_MS = 2_000
const PINGS_PER_LEASE = 4
/** So many pings without an answer mean that nothing is there. */
const SILENT_PINGS = 2
/** How long the last words of a Pod may be on their way when the cluster already says that it is gone. */
const LAST_WORDS_MS = 500
/** After so long without use, no connection is kept that is there in advance. */
const CALM_MS = 30_000

export interface KubernetesInstanceOptions {
  readonly id: string
  readonly key: Buffer
  readonly leaseSeconds: number
  /** The Pod's own limits; it cannot get others. */
  readonly limits: InstanceLimits | undefined
  readonly egress: EgressListener
  /** Deletes the Pod. Resolves when the cluster has agreed; tries again by itself. */
  readonly remove: () => Promise<void>
  /** Called once, when the instance is of no more use to this server. */
  readonly onGone: () => void
  /** Undefined where nodes have no helper that freezes. */
  readonly freezer?: PodFreezer | undefined
  readonly log: Log
  readonly calmMs?: number
}

export class KubernetesInstance implements Instance {
  readonly id: string
  readonly ended: Promise<InstanceEnd>
  /** Resolves when the agent of the instance takes connections. */
  readonly up: Promise<void>
  readonly #options: KubernetesInstanceOptions
  readonly #log: Log
  readonly #token = randomBytes(16).toString('hex')
  readonly #over = new AbortController()
  readonly #renewals = new PodRenewals()
  readonly #resolveEnded: (end: InstanceEnd) => void
  readonly #resolveUp: () => void
  readonly #rejectUp: (error: Error) => void
  #connections: PodConnections | undefined
  #egress: PodEgress | undefined
  #hold: TLSSocket | undefined
  #isWarm = true
  #end: Promise<void> | undefined
  #heardAt: number | undefined
  #enduresOom = false

  constructor(options: KubernetesInstanceOptions) {
    this.id = options.id
    this.#options = options
    this.#log = options.log.child({ instance: options.id })
    const ended = Promise.withResolvers<InstanceEnd>()
    this.ended = ended.promise
    this.#resolveEnded = ended.resolve
    const up = Promise.withResolvers<void>()
    this.up = up.promise
    this.up.catch(() => {})
    this.#resolveUp = up.resolve
    this.#rejectUp = up.reject
  }

  get traffic(): { readonly sent: number; readonly received: number } {
    return this.#options.egress.traffic
  }

  get lastRefusal(): string | undefined {
    return this.#options.egress.lastRefusal
  }

  get isFrozen(): boolean {
    return this.#options.freezer?.isFrozen ?? false
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** The Pod runs there. `term`: whoever has the higher one holds it. */
  reach(address: PodAddress, term: number): void {
    if (this.#connections || this.isOver) return
    const { id, key, calmMs = CALM_MS } = this.#options
    const dialer = new PodDialer({ id, key, address })
    this.#connections = new PodConnections({ dialer, calmMs, isWarm: () => this.#isWarm })
    // One that was taken over may be gone already, and then never says a word.
    this.#heardAt = performance.now()
    void this.#holdPod(dialer, term)
  }

  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    if (!this.#connections || this.isOver) throw this.#noMore()
    try {
      return await this.#connections.connect(`connect ${purpose}`, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw this.#noMore(error)
    }
  }

  renewLease(seconds: number, signal: AbortSignal): Promise<string> | undefined {
    if (!this.#hold?.writable) return undefined
    return this.#renewals.ask((message) => this.#say(message), seconds, signal)
  }

  async freeze(): Promise<void> {
    const { freezer } = this.#options
    if (!freezer) throw new Error('Cannot freeze: nodes have no helper that freezes')
    if (this.isOver) throw this.#noMore()
    await freezer.freeze()
  }

  async thaw(): Promise<void> {
    await this.#options.freezer?.thaw()
  }

  setRoute(route: EgressRoute): void {
    this.#options.egress.setRoute(route)
  }

  setProject(projectId: string): void {
    this.#isWarm = false
    this.#connections?.stir()
    this.#options.egress.setProject(projectId)
  }

  /** A Pod has the limits that it was made with. */
  async setLimits({ memoryBytes }: InstanceLimits): Promise<void> {
    const own = this.#options.limits?.memoryBytes
    if (own !== undefined && memoryBytes > own) {
      throw new Error(
        `Cannot give instance "${this.id}" more memory: a Pod keeps the limit that it was made with`,
      )
    }
  }

  async setBackground(): Promise<void> {}

  setOpenings(openings: Openings): void {
    this.#options.egress.open(openings)
  }

  endureOom(): void {
    this.#enduresOom = true
    this.#say({ endureOom: true })
  }

  async destroy(): Promise<void> {
    this.#finish(this.#isSilent ? 'lost' : 'destroyed')
    await this.#end
  }

  /** The cluster says that the Pod is gone, or will be. The Pod itself may be about to say why. */
  async gone(end: InstanceEnd): Promise<void> {
    if (this.#hold && end !== 'out-of-memory') await pause(LAST_WORDS_MS, this.#over.signal)
    this.#finish(end)
  }

  /** Lets go of the instance, which another server holds from now on. */
  async release(): Promise<void> {
    this.#over.abort(this.#noMore())
    this.#letGo()
    await this.#options.egress.close()
  }

  async #holdPod(dialer: PodDialer, term: number): Promise<void> {
    const { signal } = this.#over
    let againMs = AGAIN_MS
    while (!signal.aborted) {
      try {
        const socket = await dialer.dial(signal, `hold ${this.#token} ${term}`)
        againMs = AGAIN_MS
        await this.#follow(socket, dialer)
      } catch (error) {
        this.#log.debug({ err: error }, 'cannot hold the Pod of an instance yet')
      }
      await pause(againMs, signal)
      againMs = Math.min(2 * againMs, MAX_AGAIN_MS)
    }
  }

  /** Until the connection ends. */
  #follow(socket: TLSSocket, dialer: PodDialer): Promise<void> {
    this.#hold = socket
    const { egress, leaseSeconds, calmMs = CALM_MS } = this.#options
    this.#heardAt = performance.now()
    const ping = () => {
      this.#say({ ping: true })
      // Its machine is gone, or the way there: dial again.
      if (this.#isSilent) socket.destroy()
    }
    const pings = setInterval(ping, (leaseSeconds * 1000) / PINGS_PER_LEASE)
    const dial = (signal: AbortSignal) => dialer.dial(signal, `egress ${this.#token}`)
    const unpark = () => this.#say({ parked: 0 })
    this.#egress ??= new PodEgress({ dial, listener: egress, calmMs, unpark })
    this.#connections?.dialAhead()
    if (this.#enduresOom) this.#say({ endureOom: true })
    const hear = messageReader(
      (message) => this.#hear(readFromPod(message)),
      () => socket.destroy(),
    )
    socket.on('data', hear)
    if (this.isOver) socket.destroy()
    return new Promise((resolve) => {
      socket.once('end', () => socket.end())
      socket.once('close', () => {
        clearInterval(pings)
        if (this.#hold === socket) this.#hold = undefined
        resolve()
      })
    })
  }

  /** Nothing was heard of the Pod that once was there. */
  get #isSilent(): boolean {
    const silentMs = performance.now() - (this.#heardAt ?? Infinity)
    return silentMs > (1000 * this.#options.leaseSeconds * SILENT_PINGS) / PINGS_PER_LEASE
  }

  #hear(message: FromPod | undefined): void {
    if (!message) return
    this.#heardAt = performance.now()
    if ('pong' in message) return
    if ('up' in message) this.#resolveUp()
    else if ('wantsEgress' in message) this.#egress?.demand()
    else if ('renewed' in message) this.#renewals.hear(message)
    else if ('taken' in message) {
      this.#log.info({}, 'another server holds the Pod of an instance now')
      this.#end ??= this.#leave()
    } else {
      const { end, detail } = message
      if (!this.#end) this.#log.info({ end, detail }, 'instance ended unexpectedly')
      this.#finish(end)
    }
  }

  #say(message: ToPod): void {
    if (this.#hold?.writable) this.#hold.write(encode(message))
  }

  async #leave(): Promise<void> {
    await this.release()
    this.#options.onGone()
    this.#resolveEnded('taken-over')
  }

  #finish(end: InstanceEnd): void {
    this.#end ??= this.#remove(end)
  }

  async #remove(end: InstanceEnd): Promise<void> {
    // At once, however long the cluster takes.
    void this.thaw().catch(() => {})
    this.#say({ end: true })
    this.#rejectUp(new Error(`instance "${this.id}" has ended`))
    await this.#options.remove()
    this.#over.abort(this.#noMore())
    this.#letGo()
    await this.#options.egress.close()
    this.#options.onGone()
    this.#resolveEnded(end)
  }

  #letGo(): void {
    this.#egress?.close()
    this.#hold?.destroy()
    this.#connections?.close()
  }

  #noMore(cause?: unknown): Error {
    const message = `Cannot connect to instance "${this.id}": it has ended, or this server released it`
    return new Error(message, { cause })
  }
}
