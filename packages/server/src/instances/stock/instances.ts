// This server's instances: started on demand or, better, in advance; kept alive by renewing their
// lease; destroyed after one session. This file does not know which session has which instance.
import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import type { BrowserStart } from '@berth/contracts/link'
import { joinSignals } from '@berth/kit/abort'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import { FairTurns, TooManyWaiting } from '@berth/kit/fair-turns'
import { Semaphore } from '@berth/kit/semaphore'
import { RunningTime } from '@berth/kit/running-time'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { setShape, startChromium } from '../agent/chromium.ts'
import { AgentClient } from '../agent/client.ts'
import { readState, renewLease } from '../agent/state.ts'
import {
  NoCapacity,
  type Driver,
  type DriverMemory,
  type Instance,
  type InstanceLimits,
  type InstanceOptions,
} from '../driver/driver.ts'
import { freeMemoryMb } from './host-memory.ts'
import { PreparedClient } from '../devtools/prepared-client.ts'
import { Restraint } from './restraint.ts'
import { Stock } from './stock.ts'

/** A third of the lease would be enough; a quarter tolerates one late renewal. */
const RENEWALS_PER_LEASE = 4
/** Starting uses the CPU: with more at once, all would be late. */
const STARTS_AT_ONCE_PER_PROJECT = Math.max(2, 2 * availableParallelism())
/** On other machines, starting costs this one little. */
const STARTS_ELSEWHERE_PER_PROJECT = 32
const REFILLS_ELSEWHERE = 4
/** Of all projects together; beyond, only a project with few waiting starts may wait. */
const MAX_WAITING_STARTS = 1_000
/** A caller who waits longer has most likely given up. */
const QUEUE_TIMEOUT_MS = 15_000

export interface ReadyInstance {
  readonly instance: Instance
  readonly agent: AgentClient
  /** Only for a browser that was started in advance. */
  readonly preparedClient?: PreparedClient | undefined
}

export interface InstancesOptions {
  readonly driver: Driver
  readonly limits: (kind: { headless: boolean }) => InstanceLimits
  /** How many instances of each kind are kept ready. */
  readonly stock: Readonly<Record<Kind, number>>
  readonly leaseSeconds: number
  readonly maxWaitingStartsPerProject: number
  /** See AgentStart. */
  readonly hostLoopback: boolean
  readonly log: Logger
}

export interface Claim {
  readonly instanceId: string
  /**
   * Resolves when the instance is as requested. If the caller leaves (signal), the claim gives up its place in the
   * start queue, and its instance is destroyed. Without a signal, only the end of the server stops it.
   */
  readonly open: (caller?: AbortSignal) => Promise<ReadyInstance>
  /** For a claim that was never opened. */
  readonly giveBack: () => void
}

/** What an instance needs besides its browser. */
export interface Preparation {
  /** A warm browser would have to restart for it, so an instance without a browser is better. */
  readonly needsStart: boolean
  /** Runs before Chromium starts or, if no start is needed, before anybody gets the instance. */
  bring?(ready: ReadyInstance): Promise<void>
  /** The instance gets so much memory instead of the usual. */
  readonly memoryMb?: number
  /** Runs when Chromium is up, before anybody gets the instance. */
  complete?(ready: ReadyInstance): Promise<void>
}

interface LaunchOptions extends Omit<InstanceOptions, 'agent'> {
  readonly browser?: BrowserStart
  /** Fires when the caller has left. */
  readonly caller?: AbortSignal | undefined
}

export { NoCapacity, NoGpu } from '../driver/driver.ts'

/** Three kinds of warm browsers. `empty` has an agent but no browser, and is the fastest base for any other browser. */
export const kinds = ['empty', 'headless', 'headful', 'gpu'] as const
export type Kind = (typeof kinds)[number]

export class Instances {
  readonly #options: InstancesOptions
  readonly #stocks: Readonly<Record<Kind, Stock>>
  readonly #all = new Map<string, ReadyInstance>()
  /** Instances that wait for a session, or are being prepared to. */
  readonly #unused = new Set<string>()
  readonly #closing = new AbortController()
  readonly #time = new RunningTime()
  /** Projects that wait take turns. */
  readonly #starts: FairTurns
  readonly #startsPerProject: number
  /** Starts that a caller waits for and that have no room. */
  readonly #withoutRoom = new Set<string>()
  /** See keepFree. */
  #reservedMb = 0

  constructor(options: InstancesOptions) {
    this.#options = options
    const { stock, log, maxWaitingStartsPerProject } = options
    const { isElsewhere = false } = options.driver.capabilities
    this.#startsPerProject = isElsewhere ? STARTS_ELSEWHERE_PER_PROJECT : STARTS_AT_ONCE_PER_PROJECT
    this.#starts = new FairTurns({
      // However slowly the instances of one project start, there is a place for another.
      atOnce: this.#startsPerProject + 1,
      atOncePerKey: this.#startsPerProject,
      maxWaitingPerKey: maxWaitingStartsPerProject,
      maxWaiting: MAX_WAITING_STARTS,
    })
    const refills = isElsewhere ? REFILLS_ELSEWHERE : 1
    const shared = {
      atOnce: refills,
      turns: new Semaphore(refills),
      closing: this.#closing.signal,
      log,
    }
    const settled =
      (headless: boolean, { gpu = false } = {}) =>
      () =>
        this.#startSettled({ headless, kiosk: false, ...WARM_SIZE, ...(gpu && { gpu }) })
    this.#stocks = {
      empty: new Stock({ ...shared, name: 'empty', size: stock.empty, make: () => this.#startEmpty() }),
      headless: new Stock({ ...shared, name: 'headless', size: stock.headless, make: settled(true) }),
      headful: new Stock({ ...shared, name: 'headful', size: stock.headful, make: settled(false) }),
      gpu: new Stock({
        ...shared,
        name: 'gpu',
        // Trying again and again would not bring a GPU.
        size: this.capabilities.gpu.gpus.length === 0 ? 0 : stock.gpu,
        make: settled(false, { gpu: true }),
      }),
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

  wantedCount(kind: Kind): number {
    return this.#options.stock[kind]
  }

  /** The memory of an instance that gets no other. */
  memoryMbOf(kind: { headless: boolean }): number {
    return Math.floor(this.#options.limits(kind).memoryBytes / MB)
  }

  /** Lets an instance use so much instead. Rejects with NoCapacity when the host has less left. */
  async giveMemory(
    instance: Instance,
    { headless, memoryMb }: { headless: boolean; memoryMb: number },
  ): Promise<void> {
    await this.#checkMemory(memoryMb)
    await instance.setLimits({ ...this.#options.limits({ headless }), memoryBytes: memoryMb * MB })
  }

  /** How many more headful instances the memory of this host holds now. */
  async memoryRoom(): Promise<number> {
    const free = (await freeMemoryMb()) - this.#reservedMb
    return Math.max(0, Math.floor(free / MIN_FREE_MB.headful))
  }

  /** So much of this host's memory is for sessions that wake, and not for new ones. */
  keepFree(bytes: number): void {
    this.#reservedMb = Math.ceil(bytes / MB)
  }

  /** Undefined where nobody knows. */
  async readMemory(): Promise<DriverMemory | undefined> {
    return this.#options.driver.readMemory?.()
  }

  /** Ends an instance that nobody has, so that its memory is for somebody who waits. */
  spareOne(): void {
    this.#spareOne()
  }

  /** Takes over a running instance that another server had. Undefined when there is none, or none can be taken over. */
  async takeOver(instanceId: string): Promise<ReadyInstance | undefined> {
    const known = this.#all.get(instanceId)
    if (known) return known
    const instance = await this.#options.driver.find?.(instanceId)
    return instance && this.#own(instance)
  }

  /** Whether a server can take over what another one had. */
  get areShared(): boolean {
    return this.#options.driver.find !== undefined
  }

  /** Returns the instances of an earlier run that still answer, and destroys the rest. */
  async adopt(): Promise<ReadyInstance[]> {
    const found = await this.#options.driver.adopt()
    return found.map((instance) => this.#own(instance))
  }

  /** Starts keeping instances ready. */
  fill(): void {
    if (this.shortcomings.length > 0) return
    for (const kind of kinds) this.#stocks[kind].refill({ afterMs: 0 })
  }

  /**
   * Claims an unused instance for a project, or the id of one that is still to be started. Nothing happens to it
   * until `open`, so that the session's row can name it first.
   */
  claim(projectId: string, browser: BrowserStart, preparations: readonly Preparation[] = []): Claim {
    return (
      this.#claimSettled(projectId, browser, preparations) ??
      this.#claimEmpty(projectId, browser, preparations) ??
      this.#claimNew(projectId, browser, preparations)
    )
  }

  /** Claims an instance without a browser, for other programs. */
  claimWithoutBrowser(projectId: string, limits: InstanceLimits): Claim {
    const stocked = this.#options.limits({ headless: true })
    const isAsStocked = limits.homeBytes === stocked.homeBytes && this.#canBecome(limits, stocked)
    const fromStock = isAsStocked
      ? this.#claimFrom(this.#stocks.empty, projectId, async ({ instance }) => {
          await this.#checkMemory(MIN_FREE_MB.withoutBrowser)
          await Promise.all([instance.setLimits(limits), instance.setBackground(false)])
        })
      : undefined
    if (fromStock) return fromStock
    const id = newId()
    return {
      instanceId: id,
      open: (caller) =>
        this.#inTurn(
          projectId,
          async () => {
            await this.#checkMemory(MIN_FREE_MB.withoutBrowser)
            return this.#launch({ id, limits, isBackground: false, caller }, ({ agent }) =>
              readState(agent, { signal: this.#closing.signal }),
            )
          },
          caller,
        ),
      giveBack: () => {},
    }
  }

  #claimEmpty(
    projectId: string,
    browser: BrowserStart,
    preparations: readonly Preparation[],
  ): Claim | undefined {
    // An instance gets its GPU when it is made.
    if (browser.gpu) return undefined
    const wanted = this.#limitsFor(browser, preparations)
    if (!this.#canBecome(wanted, this.#options.limits({ headless: true }))) return undefined
    return this.#claimFrom(this.#stocks.empty, projectId, (ready, caller) =>
      this.#inTurn(projectId, () => this.#startIn(ready, browser, preparations), caller),
    )
  }

  /** Whether an instance with these limits can get those. */
  #canBecome(wanted: InstanceLimits, own: InstanceLimits): boolean {
    if (!this.capabilities.isElsewhere) return true
    return wanted.memoryBytes === own.memoryBytes && wanted.cpus === own.cpus
  }

  /** Elsewhere the memory is that of the start. Here it is given later, when it is known that the host has so much. */
  #limitsFor(browser: BrowserStart, preparations: readonly Preparation[]): InstanceLimits {
    const usual = this.#options.limits(browser)
    const memoryMb = preparations.find((each) => each.memoryMb !== undefined)?.memoryMb
    if (!this.capabilities.isElsewhere || memoryMb === undefined) return usual
    return { ...usual, memoryBytes: memoryMb * MB }
  }

  #claimSettled(
    projectId: string,
    browser: BrowserStart,
    preparations: readonly Preparation[],
  ): Claim | undefined {
    if (preparations.some(({ needsStart }) => needsStart) || !isOrdinary(browser)) return undefined
    const wanted = this.#limitsFor(browser, preparations)
    if (!this.#canBecome(wanted, this.#options.limits(browser))) return undefined
    const stock = this.#stocks[kindOf(browser)]
    return this.#claimFrom(stock, projectId, async (ready) => {
      await this.#shape(ready, browser)
      await bringAll(ready, preparations)
      await completeAll(ready, preparations)
    })
  }

  #claimFrom(
    stock: Stock,
    projectId: string,
    prepare: (ready: ReadyInstance, caller: AbortSignal | undefined) => Promise<void>,
  ): Claim | undefined {
    const ready = stock.take(projectId)
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
          // Never returned to the stock: a row has named it, and an instance serves one session only.
          await instance.destroy()
          throw error
        }
      },
      // It may have ended in between; then nobody would remove it from the stock.
      giveBack: () => {
        if (this.#all.has(instance.id)) stock.giveBack(ready)
        else stock.refill()
      },
    }
  }

  #claimNew(projectId: string, browser: BrowserStart, preparations: readonly Preparation[]): Claim {
    const instanceId = newId()
    return {
      instanceId,
      open: (caller) =>
        this.#inTurn(projectId, () => this.#startFor(instanceId, browser, { preparations, caller }), caller),
      giveBack: () => {},
    }
  }

  async #shape({ instance, agent }: ReadyInstance, { width, height, kiosk }: BrowserStart): Promise<void> {
    // Nobody waits for it: a keeper that cannot do it is gone, and the server with it.
    void instance.setBackground(false).catch(() => {})
    if (width === WARM_SIZE.width && height === WARM_SIZE.height && !kiosk) return
    await setShape(agent, { width, height, kiosk })
  }

  async #inTurn<T>(projectId: string, start: () => Promise<T>, caller: AbortSignal | undefined): Promise<T> {
    using turn = new DisposableStack()
    turn.use(await this.#enterStarts(projectId, caller))
    return await start()
  }

  async #enterStarts(projectId: string, caller: AbortSignal | undefined): Promise<Disposable> {
    const late = AbortSignal.timeout(QUEUE_TIMEOUT_MS)
    using waiting = joinSignals(late, this.#closing.signal, ...(caller ? [caller] : []))
    try {
      return await this.#starts.enter(projectId, waiting.signal)
    } catch (error) {
      caller?.throwIfAborted()
      if (error instanceof TooManyWaiting) throw new NoCapacity('too many others wait to be started')
      throw new NoCapacity(
        `${this.#startsPerProject} other instances have been starting for ${QUEUE_TIMEOUT_MS / 1000} s`,
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
    await Promise.all([instance.setLimits(this.#options.limits(browser)), instance.setBackground(false)])
    await bringAll(ready, preparations)
    await startChromium(agent, browser, { signal: this.#closing.signal })
    await completeAll(ready, preparations)
  }

  async #startFor(
    id: string,
    browser: BrowserStart,
    { preparations, caller }: { preparations: readonly Preparation[]; caller: AbortSignal | undefined },
  ): Promise<ReadyInstance> {
    // Chromium starts together with the agent if nothing must be prepared first.
    if (preparations.length === 0) return this.#start(id, browser, { isBackground: false, caller })
    await this.#checkMemory(leastFreeFor(browser))
    const limits = this.#limitsFor(browser, preparations)
    return this.#launch({ id, limits, isBackground: false, caller, ...gpuOf(browser) }, async (ready) => {
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
    const limits = this.#options.limits(browser)
    return this.#launch({ id, limits, browser, ...options, ...gpuOf(browser) }, ({ agent }) =>
      startChromium(agent, browser, { signal: this.#closing.signal }),
    )
  }

  /** In advance, so what its first client would have to wait for is done, too. */
  async #startSettled(browser: BrowserStart): Promise<ReadyInstance> {
    const ready = await this.#start(newId(), browser, { isBackground: true })
    const { instance, agent } = ready
    const path = agent.lastState.value?.devtools_path
    const preparedClient = path ? await PreparedClient.open(instance, path, this.#closing.signal) : undefined
    return { ...ready, preparedClient }
  }

  /** Has the limits of the smaller kind until its use is known. */
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
    const { leaseSeconds, hostLoopback } = this.#options
    const agent = { leaseSeconds, hostLoopback, ...(browser && { browser }) }
    const instance = await this.#startWithRoom({ ...options, agent }, caller)
    const ready = this.#own(instance, { isNew: true })
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

  async #startWithRoom(options: InstanceOptions, caller: AbortSignal | undefined): Promise<Instance> {
    const { driver } = this.#options
    const { id, isBackground } = options
    // What one caller waits for must not go to an instance for later.
    if (isBackground && this.#withoutRoom.size > 0) throw new NoCapacity('others wait for room')
    if (isBackground) return driver.start(options, caller)
    const onFull = () => {
      this.#withoutRoom.add(id)
      this.#spareOne()
    }
    try {
      return await driver.start({ ...options, onFull }, caller)
    } finally {
      this.#withoutRoom.delete(id)
    }
  }

  /** Ends an instance that nobody has, for somebody who waits. */
  #spareOne(): void {
    for (const kind of kinds) {
      const spared = this.#stocks[kind].spare()
      // What cannot be removed now is swept later.
      if (spared) return void spared.instance.destroy().catch(() => {})
    }
  }

  #restrain(instance: Instance, limits: InstanceLimits): Restraint | undefined {
    this.#unused.add(instance.id)
    // It takes nothing from the sessions of this machine.
    if (this.capabilities.isElsewhere) return undefined
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
    // The caller that starts a new instance decides how long its first answer may take.
    let isHeard = !isNew
    let failingSince: number | undefined
    while (!over.signal.aborted && !this.#closing.signal.aborted) {
      const turnAt = performance.now()
      // A frozen instance's lease does not run, and it cannot answer.
      if (instance.isFrozen) failingSince = undefined
      else {
        const askedAt = this.#time.now()
        try {
          const { browser, restarts, failure } = await renewLease(agent, leaseSeconds, {
            signal: over.signal,
          })
          isHeard = true
          failingSince = undefined
          // The caller that starts an instance handles a browser that never ran.
          if (browser === 'failed' && restarts > 0) {
            log.warn({ instanceId: instance.id, failure }, 'Chromium keeps failing; destroying its instance')
            await instance.destroy()
          }
        } catch (error) {
          // Counts from the first failed request, not from the last answer, and only the time in which we could
          // have heard an answer: a server that was suspended neither asked nor listened.
          failingSince ??= askedAt
          const isSilent = this.#time.now() - failingSince > everyMs * (RENEWALS_PER_LEASE - 1)
          if (isHeard && isSilent && !instance.isFrozen && !over.signal.aborted) {
            log.warn({ err: error, instanceId: instance.id }, 'instance does not answer; destroying it')
            await instance.destroy()
          }
        }
      }
      // No longer: waiting for the missing answer has used up the lease's reserve.
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
    if (this.capabilities.isElsewhere) return
    const free = await freeMemoryMb()
    if (free - this.#reservedMb >= wanted) return
    const kept = this.#reservedMb > 0 ? `, of which ${this.#reservedMb} MB are for sessions that wake` : ''
    throw new NoCapacity(`the host has ${free} MB of memory left${kept}, and an instance needs ${wanted} MB`)
  }

  /** Destroys all instances except those in `keep`, and releases those. */
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

/** Destroys the instance when the caller leaves, which also ends all calls to its agent. */
function destroyedWhenLeft(instance: Instance, caller: AbortSignal | undefined): Disposable {
  // The opener of the claim waits for the end and sees its errors.
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

function kindOf({ headless, gpu = false }: BrowserStart): Exclude<Kind, 'empty'> {
  if (gpu) return 'gpu'
  return headless ? 'headless' : 'headful'
}

const gpuOf = ({ gpu = false }: BrowserStart): Pick<InstanceOptions, 'gpu'> => (gpu ? { gpu } : {})

/** Whether a warm browser has these settings. */
function isOrdinary({ locale, timezone, blocksPopups = false }: BrowserStart): boolean {
  return locale === undefined && timezone === undefined && !blocksPopups
}

const MB = 1024 * 1024
const WARM_SIZE = { width: 1920, height: 1080 }
const MIN_FREE_MB = { headless: 400, headful: 600, withoutBrowser: 300 }
const leastFreeFor = ({ headless }: BrowserStart) => (headless ? MIN_FREE_MB.headless : MIN_FREE_MB.headful)
