// An instance that the keeper made, as the server has it. Its data stays here: the server dials the agent and serves
// egress by itself. The keeper is asked only for what takes root.
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { LinkPurpose } from '@berth/contracts/link'
import { unlessAborted } from '@berth/kit/abort'
import type { Instance, InstanceEnd, InstanceLimits, MemoryUse, OomKill } from '../driver/driver.ts'
import type { Openings } from '../egress/openings.ts'
import type { EgressRoute } from '../egress/route.ts'
import type { EgressListener } from '../local/egress.ts'
import type { InstanceDirectory } from '../local/instance-directory.ts'
import { Link } from '../local/link.ts'
import type { KeeperCalls } from './keeper-calls.ts'
import type { PagedOut } from './messages.ts'

export interface KeptInstanceOptions {
  readonly id: string
  readonly directory: InstanceDirectory
  readonly calls: KeeperCalls
  readonly egress: EgressListener
  /** An earlier server left it in deep standby, and it still is. */
  readonly isPagedOut: boolean
}

export class KeptInstance implements Instance {
  readonly id: string
  readonly ended: Promise<InstanceEnd>
  readonly #options: KeptInstanceOptions
  readonly #link: Link
  readonly #resolveEnded: (end: InstanceEnd) => void
  #isFrozen: boolean
  #isPagedOut: boolean
  #lastOomKill: OomKill | undefined
  #released: Promise<void> | undefined

  constructor(options: KeptInstanceOptions) {
    this.id = options.id
    this.#options = options
    this.#isFrozen = options.isPagedOut
    this.#isPagedOut = options.isPagedOut
    this.#link = new Link({ id: options.id, path: options.directory.linkPath })
    const { promise, resolve } = Promise.withResolvers<InstanceEnd>()
    this.ended = promise
    this.#resolveEnded = resolve
  }

  get egress(): EgressListener {
    return this.#options.egress
  }

  get lastOomKill(): OomKill | undefined {
    return this.#lastOomKill
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  get isPagedOut(): boolean {
    return this.#isPagedOut
  }

  get traffic(): { readonly sent: number; readonly received: number } {
    return this.#options.egress.traffic
  }

  get lastRefusal(): string | undefined {
    return this.#options.egress.lastRefusal
  }

  async connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex> {
    const direct = purpose === 'cdp' ? await this.#connectDirectly(signal) : undefined
    return direct ?? this.#link.connect(purpose, signal)
  }

  /** Undefined where the agent has to relay. */
  async #connectDirectly(signal: AbortSignal): Promise<Socket | undefined> {
    const { calls } = this.#options
    const asked = calls.ask({ ask: 'connect', id: this.id }).then(({ handle }) => {
      if (!(handle instanceof Socket)) return undefined
      // Stays: a failing connection also closes, and its user notices that.
      handle.on('error', () => {})
      return handle.setNoDelay(true)
    })
    try {
      return await unlessAborted(asked, signal)
    } catch (error) {
      void asked.then((late) => late?.destroy()).catch(() => {})
      throw error
    }
  }

  async freeze(): Promise<void> {
    await this.#options.calls.ask({ ask: 'freeze', id: this.id })
    this.#isFrozen = this.#released === undefined
  }

  async thaw(): Promise<void> {
    await this.#options.calls.ask({ ask: 'thaw', id: this.id })
    this.#isFrozen = false
    this.#isPagedOut = false
  }

  async pageOut(): Promise<MemoryUse> {
    const { value } = await this.#options.calls.ask({ ask: 'pageOut', id: this.id })
    // SAFETY: the keeper is trusted.
    const { use, isPagedOut } = value as PagedOut
    this.#isPagedOut = isPagedOut && this.#isFrozen
    return use
  }

  setRoute(route: EgressRoute): void {
    this.#options.egress.setRoute(route)
  }

  setProject(projectId: string): void {
    this.#options.egress.setProject(projectId)
  }

  async setLimits(limits: InstanceLimits): Promise<void> {
    await this.#options.calls.ask({ ask: 'setLimits', id: this.id, limits })
  }

  async setBackground(isBackground: boolean): Promise<void> {
    await this.#options.calls.ask({ ask: 'setBackground', id: this.id, isBackground })
  }

  setOpenings(openings: Openings): void {
    this.#options.egress.open(openings)
  }

  endureOom(): void {
    // Requests are done in their order, so this one is done before anything that follows.
    void this.#options.calls.ask({ ask: 'endureOom', id: this.id }).catch(() => {})
  }

  async destroy(): Promise<void> {
    await this.#options.calls.ask({ ask: 'destroy', id: this.id })
    await this.ended
  }

  /** The keeper reports that nothing is left of it. */
  async end(end: InstanceEnd, oomKill: OomKill | undefined): Promise<void> {
    this.#lastOomKill = oomKill
    await this.release()
    this.#isFrozen = false
    this.#isPagedOut = false
    this.#resolveEnded(end)
  }

  /** Closes what is open here. The instance lives on. */
  release(): Promise<void> {
    this.#released ??= (async () => {
      this.#link.close()
      await this.#options.egress.close()
      this.#options.directory.close()
    })()
    return this.#released
  }
}
