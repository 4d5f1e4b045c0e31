// The instances of this server: made when they are wanted or, better, before; kept alive by renewing
// their lease; destroyed after their one session. Which session has which is not known here.
import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import type { BrowserStart } from '@berth/contracts/link'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import { AgentClient } from './agent-client.ts'
import type { Driver, Instance, InstanceLimits } from './driver.ts'

/** A third of the lease would do; a fourth leaves room for one that is late. */
const RENEWALS_PER_LEASE = 4
const REFILL_PAUSE_MS = 1_000
/** After a claim: starting another at once would slow down the session that has just begun. */
const REFILL_AFTER_MS = 500
/** Doubled with every failure in a row, so that a host where nothing starts is not kept busy with it. */
const MOST_REFILL_PAUSE_MS = 60_000

export interface ReadyInstance {
  readonly instance: Instance
  readonly agent: AgentClient
}

export interface InstancesOptions {
  readonly driver: Driver
  readonly limits: (kind: { headless: boolean }) => InstanceLimits
  readonly warm: { readonly headless: number; readonly headful: number }
  readonly leaseSeconds: number
  readonly log: Logger
}

export interface Claim {
  readonly instanceId: string
  /** Resolves when it is as asked for. */
  readonly open: () => Promise<ReadyInstance>
  /** For a claim that was never opened. */
  readonly giveBack: () => void
}

/** The host has no room for another one. */
export class NoCapacity extends Error {}

type Kind = 'headless' | 'headful'
const kindOf = ({ headless }: { headless: boolean }): Kind => (headless ? 'headless' : 'headful')

export class Instances {
  readonly #options: InstancesOptions
  readonly #warm: Record<Kind, ReadyInstance[]> = { headless: [], headful: [] }
  readonly #refilling = new Map<Kind, Promise<void>>()
  readonly #all = new Map<string, ReadyInstance>()
  readonly #closing = new AbortController()
  #isFilled = false

  constructor(options: InstancesOptions) {
    this.#options = options
  }

  get shortcomings(): readonly string[] {
    return this.#options.driver.shortcomings
  }

  get capabilities() {
    return this.#options.driver.capabilities
  }

  warmCount(kind: Kind): number {
    return this.#warm[kind].length
  }

  /** What an earlier run of this server left and what still answers. The rest is destroyed. */
  async adopt(): Promise<ReadyInstance[]> {
    const found = await this.#options.driver.adopt()
    return found.map((instance) => this.#own(instance))
  }

  /** Begins to hold instances ready. */
  fill(): void {
    for (const kind of ['headless', 'headful'] as const) this.#refill(kind)
    this.#isFilled = true
  }

  /**
   * Takes a settled instance that nobody had before, or the id of one that is still to be started. Nothing
   * is done with it until `open`, so that its session's row can name it first.
   */
  claim(browser: BrowserStart): Claim {
    const kind = kindOf(browser)
    const warm = this.#warm[kind].shift()
    if (!warm) {
      const instanceId = newId()
      return {
        instanceId,
        open: () => this.#start(instanceId, browser, { isBackground: false }),
        giveBack: () => {},
      }
    }
    return {
      instanceId: warm.instance.id,
      open: async () => {
        this.#refill(kind)
        try {
          await this.#shape(warm, browser)
          return warm
        } catch (error) {
          await warm.instance.destroy()
          throw error
        }
      },
      // It may have ended in between, and then nobody would take it out again.
      giveBack: () => {
        if (this.#all.has(warm.instance.id)) this.#warm[kind].unshift(warm)
        else this.#refill(kind)
      },
    }
  }

  async #shape({ instance, agent }: ReadyInstance, { width, height, kiosk }: BrowserStart): Promise<void> {
    await instance.setBackground(false)
    if (width === WARM_SIZE.width && height === WARM_SIZE.height && !kiosk) return
    await agent.shape({ width, height, kiosk })
  }

  async #start(id: string, browser: BrowserStart, { isBackground }: { isBackground: boolean }) {
    await this.#checkMemory(browser)
    const { driver, limits, leaseSeconds } = this.#options
    const instance = await driver.start({
      id,
      limits: limits(browser),
      agent: { leaseSeconds, browser },
      isBackground,
    })
    const ready = this.#own(instance)
    try {
      await ready.agent.startBrowser(browser, this.#closing.signal)
      return ready
    } catch (error) {
      await instance.destroy()
      throw error
    }
  }

  #own(instance: Instance): ReadyInstance {
    const ready = { instance, agent: new AgentClient(instance) }
    this.#all.set(instance.id, ready)
    void this.#keepAlive(ready)
    return ready
  }

  async #keepAlive({ instance, agent }: ReadyInstance): Promise<void> {
    const { leaseSeconds, log } = this.#options
    const everyMs = (leaseSeconds * 1000) / RENEWALS_PER_LEASE
    const over = new AbortController()
    const ended = instance.ended.then(() => over.abort())
    const overOrClosing = AbortSignal.any([over.signal, this.#closing.signal])
    let renewedAt = performance.now()
    while (!over.signal.aborted && !this.#closing.signal.aborted) {
      // A frozen one does not count its lease, and cannot answer.
      if (instance.isFrozen) renewedAt = performance.now()
      else {
        try {
          await agent.renewLease(leaseSeconds, over.signal)
          renewedAt = performance.now()
        } catch (error) {
          const silentMs = performance.now() - renewedAt
          if (!instance.isFrozen && !over.signal.aborted && silentMs > leaseSeconds * 1000) {
            log.warn({ err: error, instanceId: instance.id }, 'instance does not answer and is destroyed')
            await instance.destroy()
          }
        }
      }
      await pause(everyMs, overOrClosing)
    }
    if (!over.signal.aborted) return
    await ended
    agent.close()
    this.#all.delete(instance.id)
    for (const kind of ['headless', 'headful'] as const) {
      const warm = this.#warm[kind]
      const index = warm.findIndex((other) => other.instance === instance)
      if (index === -1) continue
      warm.splice(index, 1)
      this.#refill(kind)
    }
  }

  #refill(kind: Kind): void {
    if (this.#refilling.has(kind) || this.#closing.signal.aborted || this.shortcomings.length > 0) return
    const refilling = this.#makeWarm(kind).finally(() => this.#refilling.delete(kind))
    this.#refilling.set(kind, refilling)
  }

  async #makeWarm(kind: Kind): Promise<void> {
    const { warm, log } = this.#options
    let pauseMs = this.#isFilled ? REFILL_AFTER_MS : 0
    while (this.#warm[kind].length < warm[kind] && !this.#closing.signal.aborted) {
      await pause(pauseMs, this.#closing.signal)
      if (this.#closing.signal.aborted) return
      try {
        const browser = { headless: kind === 'headless', kiosk: false, ...WARM_SIZE }
        const ready = await this.#start(newId(), browser, { isBackground: true })
        this.#warm[kind].push(ready)
        pauseMs = 0
      } catch (error) {
        if (this.#closing.signal.aborted) return
        log.warn({ err: error, kind }, 'cannot make an instance ready')
        pauseMs = Math.min(MOST_REFILL_PAUSE_MS, Math.max(REFILL_PAUSE_MS, pauseMs * 2))
      }
    }
  }

  async #checkMemory(browser: BrowserStart): Promise<void> {
    const wanted = browser.headless ? LEAST_FREE_MB.headless : LEAST_FREE_MB.headful
    const free = await freeMemoryMb()
    if (free < wanted) {
      throw new NoCapacity(`the host has ${free} MB of memory left, and a session needs ${wanted} MB`)
    }
  }

  /** Lets go of all; what nobody uses is destroyed, the rest only when told so. */
  async close({ keep }: { keep: ReadonlySet<string> }): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#refilling.values())
    await Promise.all(
      [...this.#all.values()].map(async ({ instance, agent }) => {
        if (!keep.has(instance.id)) await instance.destroy()
        agent.close()
      }),
    )
    await this.#options.driver.close()
  }
}

const WARM_SIZE = { width: 1920, height: 1080 }
const LEAST_FREE_MB = { headless: 400, headful: 600 }

async function freeMemoryMb(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8')
  return Math.floor(Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024)
}
