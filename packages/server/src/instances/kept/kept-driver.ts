// The driver of a server that root started: the keeper, which is still root, makes the instances.
import type { Capabilities, Driver, DriverMemory, Instance, InstanceOptions } from '../driver/driver.ts'
import type { Log } from '../driver/log.ts'
import type { EgressProxy } from '../egress/proxy.ts'
import { CLOSED, DIRECT } from '../egress/route.ts'
import type { EgressListener } from '../local/egress.ts'
import { InstanceDirectory } from '../local/instance-directory.ts'
import { KeeperCalls, processPort, type KeeperEvent, type KeeperPort } from './keeper-calls.ts'
import { KeptInstance } from './kept-instance.ts'
import type { Adopted, Opened, SentMemory } from './messages.ts'
import { readError } from './sent-log.ts'

/** As Node's own handles are. */
interface ListeningHandle {
  readonly fd: number
  close(): void
}

export interface KeptDriverOptions {
  readonly egress: Pick<EgressProxy, 'accept'>
  readonly log: Log
  /** By default, the channel that this process was started with. */
  readonly port?: KeeperPort
}

export class KeptDriver implements Driver {
  #opened: Opened | undefined
  readonly #options: KeptDriverOptions
  readonly #calls: KeeperCalls
  readonly #instances = new Map<string, KeptInstance>()
  /** Handed over, and not yet of an instance. */
  readonly #listeners = new Map<string, Promise<EgressListener>>()
  readonly #starting = new Set<string>()
  #isClosed = false

  private constructor(options: KeptDriverOptions) {
    this.#options = options
    this.#calls = new KeeperCalls(options.port ?? processPort, (event, handle) => this.#hear(event, handle))
  }

  static async open(options: KeptDriverOptions): Promise<KeptDriver> {
    const driver = new KeptDriver(options)
    const { value } = await driver.#calls.ask({ ask: 'open' })
    // SAFETY: the keeper is trusted.
    driver.#opened = value as Opened
    return driver
  }

  get capabilities(): Capabilities {
    const { headful, gpu, freeze, deepStandby, locales } = this.#opened!
    return { headful, gpu, freeze, deepStandby, locales: new Set(locales) }
  }

  get shortcomings(): readonly string[] {
    return this.#opened!.shortcomings
  }

  async start(
    { id, limits, agent, isBackground, gpu = false }: InstanceOptions,
    signal?: AbortSignal,
  ): Promise<Instance> {
    if (this.#isClosed) throw new Error(`Cannot start instance "${id}": the server is closing`)
    if (this.#instances.has(id) || this.#starting.has(id))
      throw new Error(`Cannot start instance "${id}": it already exists`)
    signal?.throwIfAborted()
    const { browser, hostLoopback } = agent
    const wish = { ...(browser && { browser }), ...(hostLoopback !== undefined && { hostLoopback }) }
    this.#starting.add(id)
    try {
      await this.#calls.ask({ ask: 'start', id, limits, agent: wish, isBackground, gpu }, signal)
      const instance = await this.#own(id)
      if (!signal?.aborted) return instance
      await instance.destroy()
      throw signal.reason
    } catch (error) {
      await this.#calls.ask({ ask: 'destroy', id }).catch(() => {})
      await this.#dropListener(id)
      signal?.throwIfAborted()
      throw error
    } finally {
      this.#starting.delete(id)
    }
  }

  async adopt(): Promise<Instance[]> {
    const { value } = await this.#calls.ask({ ask: 'adopt' })
    // SAFETY: the keeper is trusted.
    const found = value as Adopted[]
    const adopted = await Promise.all(found.map(({ id, isPagedOut }) => this.#own(id, { isPagedOut })))
    // Of those that could not be taken over in the end.
    await Promise.all([...this.#listeners.keys()].map((id) => this.#dropListener(id)))
    return adopted
  }

  async readMemory(): Promise<DriverMemory> {
    const { value } = await this.#calls.ask({ ask: 'readMemory' })
    // SAFETY: the keeper is trusted.
    const { uses, ...memory } = value as SentMemory
    return { ...memory, uses: new Map(uses) }
  }

  /** From now on the keeper lets this process go before others. */
  goAhead(): void {
    void this.#calls.ask({ ask: 'goAhead' }).catch(() => {})
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await Promise.all([...this.#instances.values()].map((instance) => instance.release()))
    await this.#calls.ask({ ask: 'close' })
  }

  #hear(event: KeeperEvent, handle: unknown): void {
    switch (event.event) {
      case 'egress':
        // SAFETY: the keeper sends this event with a listening socket only.
        this.#listen(event.id, handle as ListeningHandle)
        return
      case 'arrivals':
        // SAFETY: the keeper sends this event with a listening socket only.
        void this.#acceptArrivals(event.id, handle as ListeningHandle)
        return
      case 'ended':
        this.#ended.set(event.id, event)
        void this.#finish(event.id)
        return
      case 'log': {
        const { err, ...fields } = event.fields
        const line = err === undefined ? fields : { ...fields, err: readError(err) }
        this.#options.log[event.level](line, event.message)
      }
    }
  }

  /** Reported, and still among the instances. One may end before its start is answered. */
  readonly #ended = new Map<string, Extract<KeeperEvent, { event: 'ended' }>>()

  async #finish(id: string): Promise<void> {
    const instance = this.#instances.get(id)
    const report = this.#ended.get(id)
    if (!instance || !report) return
    this.#ended.delete(id)
    this.#instances.delete(id)
    await instance.end(report.end, report.oomKill)
  }

  #listen(id: string, handle: ListeningHandle): void {
    // No session uses a new one yet, so the direct route reveals nothing. Nothing may leave one that an earlier server
    // left until its route is known.
    const route = this.#starting.has(id) ? DIRECT : CLOSED
    const listener = this.#options.egress.accept(handle, route)
    listener.catch(() => {})
    this.#listeners.set(id, listener)
  }

  /** Its network is made while it starts, so it may be an instance already. */
  async #acceptArrivals(id: string, handle: ListeningHandle): Promise<void> {
    const listener = (await this.#listeners.get(id)?.catch(() => {})) ?? this.#instances.get(id)?.egress
    // The instance has ended meanwhile. An open socket would keep its network.
    if (!listener) return handle.close()
    await listener.acceptArrivals(handle)
  }

  async #own(id: string, { isPagedOut } = { isPagedOut: false }): Promise<KeptInstance> {
    const listener = this.#listeners.get(id)
    if (!listener) throw new Error(`Cannot use instance "${id}": the keeper gave no egress socket`)
    const egress = await listener
    this.#listeners.delete(id)
    const directory = new InstanceDirectory(this.#opened!.instancesDir, id)
    const instance = new KeptInstance({ id, directory, egress, calls: this.#calls, isPagedOut })
    this.#instances.set(id, instance)
    void this.#finish(id)
    return instance
  }

  async #dropListener(id: string): Promise<void> {
    const listener = this.#listeners.get(id)
    this.#listeners.delete(id)
    this.#ended.delete(id)
    await listener?.then(
      (open) => open.close(),
      () => {},
    )
  }
}
