// The instances of this server: made when they are wanted or, better, before; kept alive by renewing
// their lease; destroyed after their one session. Which session has which is not known here.
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import type { BrowserStart } from '@berth/contracts/link'
import { joinSignals } from '@berth/kit/abort'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import { Turnstile } from '@berth/kit/turnstile'
import { WakingTime } from '@berth/kit/waking-time'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { setShape, startChromium } from '../agent/chromium.ts'
import { AgentClient } from '../agent/client.ts'
import { readState, renewLease } from '../agent/state.ts'
import type { Driver, Instance, InstanceLimits, InstanceOptions } from '../driver/driver.ts'
import { Restraint } from './restraint.ts'
import { Stock } from './stock.ts'

/** A third of the lease would do; a fourth leaves room for one that is late. */
const RENEWALS_PER_LEASE = 4
/** Starting is work for the processors: more at once would all be late, and none be ready in time. */
const STARTS_AT_ONCE = Math.max(2, 2 * availableParallelism())
/** A caller who waits longer has most likely given up. */
const QUEUE_TIMEOUT_MS = 15_000

export interface ReadyInstance {
  readonly instance: Instance
  readonly agent: AgentClient
}

export interface InstancesOptions {
  readonly driver: Driver
  readonly limits: (kind: { headless: boolean }) => InstanceLimits
  /** How many of each kind are held ready. */
  readonly stock: Readonly<Record<Kind, number>>
  readonly leaseSeconds: number
  /** See AgentStart. */
  readonly hostLoopback: boolean
  readonly log: Logger
}

export interface Claim {
  readonly instanceId: string
  /**
   * Resolves when it is as asked for. The signal is that of a caller who may leave: the claim then gives up its place in
   * the start queue, and an instance that was named for it or started for it is destroyed. Without one, only the end of
   * the server stops it.
   */
  readonly open: (caller?: AbortSignal) => Promise<ReadyInstance>
  /** For a claim that was never opened. */
  readonly giveBack: () => void
}

/** What is to be in an instance besides its browser. */
export interface Preparation {
  /** A settled browser has to be started again for it, so that an instance without one is the better one. */
  readonly needsStart: boolean
  /** Before Chromium starts or, where nothing needs a start, before anybody gets the instance. */
  bring?(ready: ReadyInstance): Promise<void>
  /** When Chromium runs, before anybody gets the instance. */
  complete?(ready: ReadyInstance): Promise<void>
}

interface LaunchOptions extends Omit<InstanceOptions, 'agent'> {
  readonly browser?: BrowserStart
  /** Fires when nobody waits for it any more. */
  readonly caller?: AbortSignal | undefined
}

/** The host has no room for another one. */
export class NoCapacity extends Error {}

/** Two kinds of settled browsers; empty: an agent without a browser, the quicker way to any other. */
export const kinds = ['empty', 'headless', 'headful'] as const
export type Kind = (typeof kinds)[number]

export class Instances {
  readonly #options: InstancesOptions
  readonly #stocks: Readonly<Record<Kind, Stock>>
  readonly #all = new Map<string, ReadyInstance>()
  /** Those that wait for a session, or are being made to. */
  readonly #unused = new Set<string>()
  readonly #closing = new AbortController()
  readonly #time = new WakingTime()
  readonly #starts = new Turnstile(STARTS_AT_ONCE)

  constructor(options: InstancesOptions) {
    this.#options = options
    const { stock, log } = options
    const shared = { turns: new Turnstile(1), closing: this.#closing.signal, log }
    const settled = (headless: boolean) => () =>
      this.#start(newId(), { headless, kiosk: false, ...WARM_SIZE }, { isBackground: true })
    this.#stocks = {
      empty: new Stock({ ...shared, name: 'empty', size: stock.empty, make: () => this.#startEmpty() }),
      headless: new Stock({ ...shared, name: 'headless', size: stock.headless, make: settled(true) }),
      headful: new Stock({ ...shared, name: 'headful', size: stock.headful, make: settled(false) }),
    }
  }

  get shortcomings(): readonly string[] {
    return this.#options.driver.shortcomings
  }

  get capabilities() {
    return this.#options.driver.capabilities
  }

  readyCount(kind: Kind): number {
    return this.#stocks[kind].count
  }

  /** What an earlier run of this server left and what still answers. The rest is destroyed. */
  async adopt(): Promise<ReadyInstance[]> {
    const found = await this.#options.driver.adopt()
    return found.map((instance) => this.#own(instance))
  }

  /** Begins to hold instances ready. */
  fill(): void {
    if (this.shortcomings.length > 0) return
    for (const kind of kinds) this.#stocks[kind].refill({ afterMs: 0 })
  }

  /**
   * Takes an instance that nobody had before, or the id of one that is still to be started. Nothing is
   * done with it until `open`, so that its session's row can name it first.
   */
  claim(browser: BrowserStart, preparations: readonly Preparation[] = []): Claim {
    return (
      this.#claimSettled(browser, preparations) ??
      this.#claimFrom(this.#stocks.empty, (ready, caller) =>
        this.#inTurn(() => this.#startIn(ready, browser, preparations), caller),
      ) ??
      this.#claimNew(browser, preparations)
    )
  }

  /** One without a browser, for programs of another kind. */
  claimWithoutBrowser(limits: InstanceLimits): Claim {
    const isAsStocked = limits.homeBytes === this.#options.limits({ headless: true }).homeBytes
    const fromStock = isAsStocked
      ? this.#claimFrom(this.#stocks.empty, async ({ instance }) => {
          await this.#checkMemory(MIN_FREE_MB.withoutBrowser)
          await instance.setLimits(limits)
          await instance.setBackground(false)
        })
      : undefined
    if (fromStock) return fromStock
    const id = newId()
    return {
      instanceId: id,
      open: (caller) =>
        this.#inTurn(async () => {
          await this.#checkMemory(MIN_FREE_MB.withoutBrowser)
          return this.#launch({ id, limits, isBackground: false, caller }, ({ agent }) =>
            readState(agent, { signal: this.#closing.signal }),
          )
        }, caller),
      giveBack: () => {},
    }
  }

  #claimSettled(browser: BrowserStart, preparations: readonly Preparation[]): Claim | undefined {
    if (preparations.some(({ needsStart }) => needsStart) || !isOrdinary(browser)) return undefined
    return this.#claimFrom(this.#stocks[browser.headless ? 'headless' : 'headful'], async (ready) => {
      await this.#shape(ready, browser)
      await bringAll(ready, preparations)
      await completeAll(ready, preparations)
    })
  }

  #claimFrom(
    stock: Stock,
    prepare: (ready: ReadyInstance, caller: AbortSignal | undefined) => Promise<void>,
  ): Claim | undefined {
    const ready = stock.take()
    if (!ready) return undefined
    const { instance } = ready
    return {
      instanceId: instance.id,
      open: async (caller) => {
        stock.refill()
        this.#unused.delete(instance.id)
        using given = new DisposableStack()
        given.use(destroyedWhenLeft(instance, caller))
        try {
          caller?.throwIfAborted()
          await prepare(ready, caller)
          caller?.throwIfAborted()
          return ready
        } catch (error) {
          // Not back into the stock: a row has named it, and one instance is for one session.
          await instance.destroy()
          throw error
        }
      },
      // It may have ended in between, and then nobody would take it out again.
      giveBack: () => {
        if (this.#all.has(instance.id)) stock.giveBack(ready)
        else stock.refill()
      },
    }
  }

  #claimNew(browser: BrowserStart, preparations: readonly Preparation[]): Claim {
    const instanceId = newId()
    return {
      instanceId,
      open: (caller) =>
        this.#inTurn(() => this.#startFor(instanceId, browser, { preparations, caller }), caller),
      giveBack: () => {},
    }
  }

  async #shape({ instance, agent }: ReadyInstance, { width, height, kiosk }: BrowserStart): Promise<void> {
    await instance.setBackground(false)
    if (width === WARM_SIZE.width && height === WARM_SIZE.height && !kiosk) return
    await setShape(agent, { width, height, kiosk })
  }

  async #inTurn<T>(start: () => Promise<T>, caller: AbortSignal | undefined): Promise<T> {
    using turn = new DisposableStack()
    turn.use(await this.#enterStarts(caller))
    return await start()
  }

  async #enterStarts(caller: AbortSignal | undefined): Promise<Disposable> {
    const late = AbortSignal.timeout(QUEUE_TIMEOUT_MS)
    using waiting = joinSignals(late, this.#closing.signal, ...(caller ? [caller] : []))
    try {
      return await this.#starts.enter(waiting.signal)
    } catch {
      caller?.throwIfAborted()
      throw new NoCapacity(
        `${STARTS_AT_ONCE} others start before it, for ${QUEUE_TIMEOUT_MS / 1000} s already`,
      )
    }
  }

  async #startIn(
    ready: ReadyInstance,
    browser: BrowserStart,
    preparations: readonly Preparation[],
  ): Promise<void> {
    const { instance, agent } = ready
    await this.#checkMemory(leastFreeFor(browser))
    await instance.setLimits(this.#options.limits(browser))
    await instance.setBackground(false)
    await bringAll(ready, preparations)
    await startChromium(agent, browser, { signal: this.#closing.signal })
    await completeAll(ready, preparations)
  }

  async #startFor(
    id: string,
    browser: BrowserStart,
    { preparations, caller }: { preparations: readonly Preparation[]; caller: AbortSignal | undefined },
  ): Promise<ReadyInstance> {
    // Chromium starts beside the agent where it needs not wait for anything.
    if (preparations.length === 0) return this.#start(id, browser, { isBackground: false, caller })
    await this.#checkMemory(leastFreeFor(browser))
    const limits = this.#options.limits(browser)
    return this.#launch({ id, limits, isBackground: false, caller }, async (ready) => {
      await bringAll(ready, preparations)
      await startChromium(ready.agent, browser, { signal: this.#closing.signal })
      await completeAll(ready, preparations)
    })
  }

  async #start(
    id: string,
    browser: BrowserStart,
    options: { isBackground: boolean; caller?: AbortSignal | undefined },
  ): Promise<ReadyInstance> {
    await this.#checkMemory(leastFreeFor(browser))
    return this.#launch({ id, limits: this.#options.limits(browser), browser, ...options }, ({ agent }) =>
      startChromium(agent, browser, { signal: this.#closing.signal }),
    )
  }

  /** Limited as the smaller kind, until it is known what it becomes. */
  async #startEmpty(): Promise<ReadyInstance> {
    const limits = this.#options.limits({ headless: true })
    return this.#launch({ id: newId(), limits, isBackground: true }, ({ agent }) =>
      readState(agent, { signal: this.#closing.signal }),
    )
  }

  async #launch(
    { browser, caller, ...options }: LaunchOptions,
    untilReady: (ready: ReadyInstance) => Promise<unknown>,
  ): Promise<ReadyInstance> {
    const { driver, leaseSeconds, hostLoopback } = this.#options
    const agent = { leaseSeconds, hostLoopback, ...(browser && { browser }) }
    const ready = this.#own(await driver.start({ ...options, agent }, caller), { isNew: true })
    const { instance } = ready
    using given = new DisposableStack()
    given.use(destroyedWhenLeft(instance, caller))
    using restraint = options.isBackground ? this.#restrain(instance, options.limits) : undefined
    try {
      await untilReady(ready)
      caller?.throwIfAborted()
      crashPoint('instance-ready')
      return ready
    } catch (error) {
      restraint?.[Symbol.dispose]()
      await instance.destroy()
      throw error
    }
  }

  #restrain(instance: Instance, limits: InstanceLimits): Restraint {
    this.#unused.add(instance.id)
    return new Restraint({ instance, limits, isSomebodyThere: () => this.#isSomebodyThere() })
  }

  #isSomebodyThere(): boolean {
    return this.#all.values().some(({ instance }) => !instance.isFrozen && !this.#unused.has(instance.id))
  }

  #own(instance: Instance, { isNew = false } = {}): ReadyInstance {
    const ready = { instance, agent: new AgentClient(instance) }
    this.#all.set(instance.id, ready)
    void this.#keepAlive(ready, { isNew })
    return ready
  }

  async #keepAlive({ instance, agent }: ReadyInstance, { isNew }: { isNew: boolean }): Promise<void> {
    const { leaseSeconds, log } = this.#options
    const everyMs = (leaseSeconds * 1000) / RENEWALS_PER_LEASE
    const over = new AbortController()
    const ended = instance.ended.then(() => over.abort())
    const overOrClosing = AbortSignal.any([over.signal, this.#closing.signal])
    // How long a new one may take until its first word is the matter of who started it.
    let isHeard = !isNew
    let failingSince: number | undefined
    while (!over.signal.aborted && !this.#closing.signal.aborted) {
      const turnAt = performance.now()
      // A frozen one does not count its lease, and cannot answer.
      if (instance.isFrozen) failingSince = undefined
      else {
        const askedAt = this.#time.now()
        try {
          const { browser, restarts, failure } = await renewLease(agent, leaseSeconds, {
            signal: over.signal,
          })
          isHeard = true
          failingSince = undefined
          // One that never ran is the matter of who started it.
          if (browser === 'failed' && restarts > 0) {
            log.warn({ instanceId: instance.id, failure }, 'Chromium is given up, its instance is destroyed')
            await instance.destroy()
          }
        } catch (error) {
          // From when it was first asked in vain, not from when it last answered, and by the time in which we
          // could have heard it: a server that stood still did not ask, or did not listen.
          failingSince ??= askedAt
          const isSilent = this.#time.now() - failingSince > everyMs * (RENEWALS_PER_LEASE - 1)
          if (isHeard && isSilent && !instance.isFrozen && !over.signal.aborted) {
            log.warn({ err: error, instanceId: instance.id }, 'instance does not answer and is destroyed')
            await instance.destroy()
          }
        }
      }
      // Not longer: an answer that was waited for in vain has used up what the lease had to spare.
      await pause(Math.max(0, turnAt + everyMs - performance.now()), overOrClosing)
    }
    if (!over.signal.aborted) return
    await ended
    agent.close()
    this.#all.delete(instance.id)
    this.#unused.delete(instance.id)
    for (const kind of kinds) this.#stocks[kind].remove(instance)
  }

  async #checkMemory(wanted: number): Promise<void> {
    const free = await freeMemoryMb()
    if (free < wanted) {
      throw new NoCapacity(`the host has ${free} MB of memory left, and an instance needs ${wanted} MB`)
    }
  }

  /** Lets go of all; what nobody uses is destroyed, the rest only when told so. */
  async close({ keep }: { keep: ReadonlySet<string> }): Promise<void> {
    this.#closing.abort()
    this.#time[Symbol.dispose]()
    await Promise.all(kinds.map((kind) => this.#stocks[kind].settled))
    await Promise.all(
      [...this.#all.values()].map(async ({ instance, agent }) => {
        if (!keep.has(instance.id)) await instance.destroy()
        agent.close()
      }),
    )
    await this.#options.driver.close()
  }
}

/** Calls to its agent end with it, whichever they are: nobody waits for them when the caller has left. */
function destroyedWhenLeft(instance: Instance, caller: AbortSignal | undefined): Disposable {
  // Whoever opens the claim waits for the end, and hears of what keeps it from ending.
  const destroy = () => void instance.destroy().catch(() => {})
  caller?.addEventListener('abort', destroy)
  return { [Symbol.dispose]: () => caller?.removeEventListener('abort', destroy) }
}

async function bringAll(ready: ReadyInstance, preparations: readonly Preparation[]): Promise<void> {
  await Promise.all(preparations.map(async (preparation) => preparation.bring?.(ready)))
}

async function completeAll(ready: ReadyInstance, preparations: readonly Preparation[]): Promise<void> {
  await Promise.all(preparations.map(async (preparation) => preparation.complete?.(ready)))
}

/** As settled ones are. */
function isOrdinary({ locale, timezone }: BrowserStart): boolean {
  return locale === undefined && timezone === undefined
}

const WARM_SIZE = { width: 1920, height: 1080 }
const MIN_FREE_MB = { headless: 400, headful: 600, withoutBrowser: 300 }
const leastFreeFor = ({ headless }: BrowserStart) => (headless ? MIN_FREE_MB.headless : MIN_FREE_MB.headful)

async function freeMemoryMb(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8')
  return Math.floor(Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024)
}
