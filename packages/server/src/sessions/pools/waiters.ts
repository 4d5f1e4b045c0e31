// Callers of this server that wait for a browser. When a pool changes, the first one tries; if it gets a browser, the
// next one tries. The queue in the database decides the order among all servers.
import type { Logger } from 'pino'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { isWorthTrying } from './pooled-browsers.ts'
import type { PoolRecord } from './types.ts'
import { leaveQueue, queueUp, RENEW_MS, renewPlaces } from './queue.ts'

/** In case an announcement was missed. */
const LOOK_MS = 1_000
/** More than a project has sessions to wait for; the waiting requests of one project must not keep out those of others. */
const MAX_WAITERS_PER_PROJECT = 1_000

/** Gets the number of the caller's place; returns undefined when no browser is free yet. */
export type Attempt<T> = (place: string) => Promise<T | undefined>

interface Waiter {
  readonly place: string
  /** True when the waiter is done: it got a browser, failed or gave up. */
  readonly attempt: () => Promise<boolean>
}

export class Waiters {
  readonly #db: Db
  readonly #log: Logger
  readonly #waiting = new Map<string, Waiter[]>()
  /** Pools whose waiters are being served; `again` is set when the pool changes during that. */
  readonly #serving = new Map<string, { again: boolean }>()
  readonly #closing = new AbortController()
  readonly #ofProject = new KeyedLimit(MAX_WAITERS_PER_PROJECT)
  #count = 0
  #looking: NodeJS.Timeout | undefined
  #renewing: NodeJS.Timeout | undefined

  constructor({ db, log }: { db: Db; log: Logger }) {
    this.#db = db
    this.#log = log
  }

  get count(): number {
    return this.#count
  }

  /** Undefined after the time is over. Rejects when the signal aborts, the server stops or the attempt fails. */
  async wait<T>(
    { id: poolId, project_id: projectId }: Pick<PoolRecord, 'id' | 'project_id'>,
    { ms, signal, attempt }: { ms: number; signal: AbortSignal; attempt: Attempt<T> },
  ): Promise<T | undefined> {
    using counted = new DisposableStack()
    counted.use(this.#enter(projectId))
    this.#count++
    let place: string | undefined
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(), Math.min(ms, MAX_TIMER_MS))
    try {
      place = await queueUp(this.#db, poolId)
      const stop = AbortSignal.any([signal, this.#closing.signal])
      return await this.#served(poolId, { place, attempt, over: over.signal, stop })
    } finally {
      clearTimeout(timer)
      this.#count--
      if (place !== undefined) await this.#leave(poolId, place)
    }
  }

  #enter(projectId: string): Disposable {
    const place = this.#ofProject.enter(projectId)
    if (place) return place
    throw new AppError(
      'too_many_requests',
      `Cannot wait for a browser: ${MAX_WAITERS_PER_PROJECT} others of the project wait already`,
      { headers: { 'retry-after': '5' } },
    )
  }

  /** Called when the pool has changed. */
  wake(poolId: string): void {
    if (!this.#waiting.has(poolId)) return
    const serving = this.#serving.get(poolId)
    if (serving) serving.again = true
    else void this.#serve(poolId)
  }

  /** Rejects all waiters; they can retry at another server. */
  close(): void {
    this.#closing.abort(
      new AppError('unavailable', 'Cannot wait for a browser any longer: the server stops', {
        headers: { 'retry-after': '1' },
      }),
    )
  }

  async #served<T>(
    poolId: string,
    options: { place: string; attempt: Attempt<T>; over: AbortSignal; stop: AbortSignal },
  ): Promise<T | undefined> {
    const { place, attempt, over, stop } = options
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>()
    // A running attempt may still get a browser, so its result wins over the end of the wait.
    let isTrying = false
    let isOver = false
    const end = () => {
      isOver = true
      if (isTrying) return
      if (stop.aborted) reject(stop.reason as Error)
      else resolve(undefined)
    }
    over.addEventListener('abort', end)
    stop.addEventListener('abort', end)
    if (over.aborted || stop.aborted) end()
    const remove = this.#add(poolId, {
      place,
      attempt: async () => {
        if (isOver) return true
        isTrying = true
        try {
          const got = await attempt(place)
          if (got !== undefined) resolve(got)
          isTrying = false
          if (got === undefined && isOver) end()
          return got !== undefined || isOver
        } catch (error) {
          reject(error)
          return true
        }
      },
    })
    this.wake(poolId)
    try {
      return await promise
    } finally {
      remove()
      over.removeEventListener('abort', end)
      stop.removeEventListener('abort', end)
    }
  }

  #add(poolId: string, waiter: Waiter): () => void {
    const waiting = this.#waiting.get(poolId) ?? []
    this.#waiting.set(poolId, waiting)
    waiting.push(waiter)
    waiting.sort((one, other) => (BigInt(one.place) < BigInt(other.place) ? -1 : 1))
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS)
    this.#renewing ??= setInterval(() => void this.#renew(), RENEW_MS)
    return () => {
      const index = waiting.indexOf(waiter)
      if (index !== -1) waiting.splice(index, 1)
      if (waiting.length === 0 && this.#waiting.get(poolId) === waiting) this.#waiting.delete(poolId)
      if (this.#waiting.size > 0) return
      clearInterval(this.#looking)
      clearInterval(this.#renewing)
      this.#looking = undefined
      this.#renewing = undefined
    }
  }

  async #serve(poolId: string): Promise<void> {
    const serving = { again: false }
    this.#serving.set(poolId, serving)
    try {
      do {
        serving.again = false
        while (await this.#serveFirst(poolId)) continue
      } while (serving.again)
    } catch (error) {
      this.#log.warn({ err: error, poolId }, 'cannot check whether a pool has a free browser')
    } finally {
      this.#serving.delete(poolId)
    }
  }

  /** True when the next waiter may try. */
  async #serveFirst(poolId: string): Promise<boolean> {
    const [first] = this.#waiting.get(poolId) ?? []
    if (!first || !(await isWorthTrying(this.#db, poolId))) return false
    const isServed = await first.attempt()
    // It would remove itself a moment later, but the next waiter must not wait for that.
    if (isServed) this.#drop(poolId, first)
    return isServed
  }

  #drop(poolId: string, waiter: Waiter): void {
    const waiting = this.#waiting.get(poolId)
    const index = waiting?.indexOf(waiter) ?? -1
    if (index !== -1) waiting!.splice(index, 1)
  }

  #look(): void {
    for (const poolId of this.#waiting.keys()) this.wake(poolId)
  }

  async #renew(): Promise<void> {
    const places = [...this.#waiting.values()].flat().map(({ place }) => place)
    if (places.length === 0) return
    await renewPlaces(this.#db, places).catch((error: unknown) =>
      this.#log.warn({ err: error }, 'cannot renew places in the queues of pools'),
    )
  }

  async #leave(poolId: string, place: string): Promise<void> {
    await leaveQueue(this.#db, poolId, place).catch((error: unknown) =>
      this.#log.warn({ err: error, poolId }, 'cannot leave the queue of a pool; the place will expire'),
    )
  }
}

/** The maximum of setTimeout. */
const MAX_TIMER_MS = 2 ** 31 - 1
