// Work that must happen once, on the server that has the files: pg-boss jobs, one queue per server, sent in the
// transaction of their cause. A job only says "look at this row"; the row decides whether there is work, and one worker
// claims it. So a duplicate job is harmless, and the queue itself never retries. Jobs are fetched on an announcement and
// at intervals; a server without apps never starts any of this.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { CompiledQuery } from 'kysely'
import type PgBoss from 'pg-boss'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'

const LOOK_EVERY_MS = 5_000
/** A job ends as soon as a worker has claimed its row. */
const EXPIRE_SECONDS = 300
const KEPT_SECONDS = 3_600

export interface JobKind {
  /** Concurrent jobs on this server. */
  readonly maxConcurrent: number
  /** Resolves when the work is done. */
  readonly work: (job: Job) => Promise<void>
}

export interface Job {
  /** Of the row to look at. */
  readonly id: string
  /** Servers that had no room for it. */
  readonly tried: readonly string[]
  /** Call it as soon as the row is claimed. */
  readonly taken: () => void
  /** Leaves it to another server, in the transaction that says so in the row. */
  readonly sendOn: (tx: Db, serverId: string) => Promise<void>
}

interface JobData {
  readonly id: string
  /** Absent in jobs of earlier versions. */
  readonly tried?: readonly string[]
}

export type JobName = 'invocation' | 'deployment'
const queueOf = (name: JobName, serverId: string) => `${name}s-${serverId}`

export class JobQueue {
  readonly #pool: Pool
  readonly #serverId: string
  readonly #log: Logger
  readonly #kinds: ReadonlyMap<JobName, JobKind>
  readonly #running = new Map<JobName, number>()
  readonly #fetching = new Map<JobName, Promise<void>>()
  readonly #wanted = new Set<JobName>()
  readonly #work = new Set<Promise<void>>()
  #boss: Promise<PgBoss> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: { pool: Pool; serverId: string; log: Logger; kinds: Record<JobName, JobKind> }) {
    const { pool, serverId, log, kinds } = options
    this.#pool = pool
    this.#serverId = serverId
    this.#log = log
    this.#kinds = new Map(Object.entries(kinds) as [JobName, JobKind][])
  }

  /** Starts to fetch jobs; can be called again. */
  async start(): Promise<void> {
    if (this.#isClosed) return
    await this.#started()
    this.#timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref()
    this.look()
  }

  /** Sends a job in the transaction of its cause. Call `start` first. */
  async send(
    tx: Db,
    name: JobName,
    { id, serverId, tried = [] }: JobData & { serverId: string },
  ): Promise<void> {
    const boss = await this.#started()
    const db = {
      executeSql: async (text: string, values: unknown[] = []) =>
        (await tx.executeQuery(CompiledQuery.raw(text, values))) as { rows: unknown[] },
    }
    const data: JobData = { id, ...(tried.length > 0 && { tried }) }
    await boss.send(queueOf(name, serverId), data, { db })
    await announceChange(tx, 'jobQueued', {})
  }

  /** Call it when there may be work. */
  look(): void {
    if (!this.#boss) return void this.start().catch((error: unknown) => this.#complain(error))
    for (const name of this.#kinds.keys()) void this.#fetch(name)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.allSettled(this.#fetching.values())
    await Promise.allSettled(this.#work)
    const boss = await this.#boss?.catch(() => undefined)
    await boss?.stop({ graceful: false, close: false })
  }

  async #fetch(name: JobName): Promise<void> {
    this.#wanted.add(name)
    if (this.#fetching.has(name)) return
    const fetching = this.#fetchAll(name)
      .catch((error: unknown) => this.#complain(error))
      .finally(() => this.#fetching.delete(name))
    this.#fetching.set(name, fetching)
    await fetching
  }

  async #fetchAll(name: JobName): Promise<void> {
    const boss = await this.#started()
    const { maxConcurrent } = this.#kinds.get(name)!
    while (this.#wanted.delete(name) && !this.#isClosed) {
      const free = maxConcurrent - (this.#running.get(name) ?? 0)
      if (free <= 0) return
      const jobs = await boss.fetch<JobData>(queueOf(name, this.#serverId), {
        batchSize: Math.min(free, 50),
      })
      for (const job of jobs ?? []) this.#begin(boss, name, job)
      if (jobs && jobs.length > 0) this.#wanted.add(name)
    }
  }

  #begin(boss: PgBoss, name: JobName, job: { id: string; data: JobData }): void {
    this.#running.set(name, (this.#running.get(name) ?? 0) + 1)
    let isTaken = false
    const taken = () => {
      if (isTaken) return
      isTaken = true
      boss.complete(queueOf(name, this.#serverId), job.id).catch((error: unknown) => this.#complain(error))
    }
    const { id, tried = [] } = job.data
    const sendOn = (tx: Db, serverId: string) =>
      this.send(tx, name, { id, serverId, tried: [...tried, this.#serverId] })
    const work = this.#kinds
      .get(name)!
      .work({ id, tried, taken, sendOn })
      .catch((error: unknown) => this.#log.error({ err: error, job: name, id }, 'job failed'))
      .finally(() => {
        taken()
        this.#work.delete(work)
        this.#running.set(name, this.#running.get(name)! - 1)
        if (!this.#isClosed) void this.#fetch(name)
      })
    this.#work.add(work)
  }

  #started(): Promise<PgBoss> {
    this.#boss ??= this.#open().catch((error: unknown) => {
      this.#boss = undefined
      throw error
    })
    return this.#boss
  }

  async #open(): Promise<PgBoss> {
    const { default: Boss } = await import('pg-boss')
    const boss = new Boss({
      db: { executeSql: async (text, values) => this.#pool.query(text, values as unknown[]) },
      schedule: false,
      retryLimit: 0,
      expireInSeconds: EXPIRE_SECONDS,
      archiveCompletedAfterSeconds: KEPT_SECONDS,
      deleteAfterSeconds: KEPT_SECONDS,
    })
    boss.on('error', (error) => this.#complain(error))
    await boss.start()
    for (const name of this.#kinds.keys()) {
      const queue = queueOf(name, this.#serverId)
      await boss.createQueue(queue, { name: queue, policy: 'standard', retryLimit: 0 })
    }
    return boss
  }

  #complain(error: unknown): void {
    if (!this.#isClosed) this.#log.warn({ err: error }, 'cannot fetch app jobs')
  }
}
