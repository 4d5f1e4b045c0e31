// Runs this server's invocations: claims one, runs it in an instance of its deployment, stores its output and how
// it ends. The instance does the work: it continues while the server restarts, and the next server reconnects.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { MAX_LOG_LINE_LENGTH } from '@berth/contracts/logs'
import { MAX_PAYLOAD_BYTES } from '@berth/contracts/invocations'
import type { RunRecord } from '@berth/contracts/app-link'
import { pause } from '@berth/kit/pause'
import type { LogLine } from '../core/events.ts'
import type { AppInstanceLoan, AppInstances } from './app-instances.ts'
import { places } from '../core/lock.ts'
import type { DeploymentLocks } from '../core/locks.ts'
import type { Job } from '../core/queue.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { findDeployment } from '../deployments/store.ts'
import { excessOf } from '../../http/nesting.ts'
import { NoCapacity } from '../../instances/stock/instances.ts'
import { forgetRun, readRunRecordsAfter, startRun } from '../../instances/agent/apps.ts'
import { AgentRefusal } from '../../instances/agent/errors.ts'
import { MAX_VALUES } from './json-text.ts'
import type { Ledger } from './ledger.ts'
import * as store from './store.ts'
import type { InvocationRecord } from './types.ts'

const AGAIN_MS = 500
const FORGET_MS = 5_000
const MAX_STARTS = 3

export interface RunsOptions {
  readonly db: Db
  readonly pool: Pool
  readonly ledger: Ledger
  readonly instances: AppInstances
  readonly locks: DeploymentLocks
  readonly serverId: string
  readonly log: Logger
  /** Called when an invocation has ended: a replaced deployment may then have no work left. */
  readonly onEnded: (deploymentId: string) => void
}

export class Runs {
  readonly #options: RunsOptions
  readonly #running = new Map<string, AbortController>()
  readonly #work = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: RunsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#running.size
  }

  /** Runs one job, or leaves it to a server with room. */
  async run(job: Job): Promise<void> {
    const { id, taken } = job
    const { db, instances, serverId, ledger } = this.#options
    const record = await store.assign(db, id, serverId)
    crashPoint('invocation-assigned')
    if (!record) return
    const deployment = await findDeployment(db, null, record.deployment_id)
    if (deployment?.status !== 'running') {
      await this.#fail(record, 'Its deployment is not running any more')
      return
    }
    let loan: AppInstanceLoan
    try {
      loan = await instances.borrow(deployment)
    } catch (error) {
      const isFull = error instanceof NoCapacity
      if (isFull && (await this.#passOn(record, job))) return
      const why = isFull ? `there is no room for it: ${error.message}` : messageOf(error)
      // A stopping server leaves it to the next one.
      if (!this.#isClosed) await this.#fail(record, `Cannot start the app: ${why}`)
      return
    }
    using held = loan
    if (this.#isClosed) return
    const running = await ledger.begin(record, { serverId, instanceId: held.instanceId })
    taken()
    if (!running) return
    crashPoint('invocation-claimed')
    await this.#follow(running, held, { isNew: true })
  }

  /** False when no other server that reads the app's files has room and has not been tried. */
  async #passOn({ id }: InvocationRecord, { tried, sendOn }: Job): Promise<boolean> {
    const { pool, serverId } = this.#options
    const to = await inTransaction(pool, async ({ db: tx }) => {
      const other = await store.leaveToOther(tx, id, { serverId, tried: [...tried, serverId] })
      if (other !== undefined) await sendOn(tx, other)
      return other
    })
    if (to === undefined) return false
    this.#options.log.info({ invocationId: id, serverId: to }, 'left an invocation to a server with room')
    return true
  }

  /** Resumes the invocations of an earlier run of this server, or fails those whose instance is lost. */
  async resume(): Promise<void> {
    const { db, instances, serverId } = this.#options
    for (const record of await store.listRunningOf(db, serverId)) {
      const loan = record.instance_id === null ? undefined : instances.borrowAgain(record.instance_id)
      if (!loan) {
        await this.#fail(record, 'worker_lost: the server that ran it stopped, and it is not run again')
        continue
      }
      const work = this.#follow(record, loan, { isNew: false }).finally(() => {
        loan[Symbol.dispose]()
        this.#work.delete(work)
      })
      this.#work.add(work)
    }
  }

  /** Called when this or another server changed the row. */
  async changed(id: string): Promise<void> {
    const running = this.#running.get(id)
    if (!running) return
    const record = await store.findInvocation(this.#options.db, null, id).catch(() => undefined)
    if (record?.finished_at) running.abort()
  }

  /** Checks all invocations on this server for missed changes. */
  async look(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.changed(id)))
  }

  /** Releases the invocations; their instances continue until their lease ends or somebody closes them. */
  async close({ endAll }: { endAll: boolean }): Promise<void> {
    this.#isClosed = true
    const { db } = this.#options
    if (endAll) {
      for (const id of this.#running.keys()) {
        const record = await store.findInvocation(db, null, id).catch(() => undefined)
        if (record) await this.#fail(record, 'The server was stopped')
      }
    }
    for (const running of this.#running.values()) running.abort()
    await Promise.allSettled(this.#work)
  }

  async #follow(
    record: InvocationRecord,
    loan: AppInstanceLoan,
    { isNew }: { isNew: boolean },
  ): Promise<void> {
    const { id } = record
    const stop = new AbortController()
    this.#running.set(id, stop)
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), leftMs(record))
    const signal = AbortSignal.any([stop.signal, loan.over, late.signal])
    try {
      if (isNew) await this.#start(record, loan, signal)
      crashPoint('invocation-started')
      await this.#listen(record, loan, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      clearTimeout(timer)
      this.#running.delete(id)
    }
    if (late.signal.aborted) {
      await this.#fail(record, `It took longer than ${record.timeout_seconds} s and was ended`)
    } else if (loan.over.aborted && !stop.signal.aborted) {
      await this.#fail(record, `worker_lost: ${messageOf(loan.over.reason)}`)
    }
    // A stopping server leaves it running.
    if (this.#isClosed) return
    await forgetRun(loan.agent, id, { signal: AbortSignal.timeout(FORGET_MS) }).catch(() => {})
    this.#options.onEnded(record.deployment_id)
  }

  async #start(record: InvocationRecord, { agent }: AppInstanceLoan, signal: AbortSignal): Promise<void> {
    const { id, deployment_id, app_name: app, action_name: action } = record
    const lock = await this.#options.locks.of(deployment_id)
    const payload = record.payload ? lock.open(record.payload, places.payload(id)) : null
    for (let attempt = 1; ; attempt++) {
      try {
        return await startRun(agent, { id, app, action, payload }, { signal })
      } catch (error) {
        if (signal.aborted) throw error
        // An answer may be lost. The instance refuses to start an invocation twice, so retrying is safe.
        if (attempt > 1 && error instanceof AgentRefusal && error.status === 409) return
        if (attempt === MAX_STARTS || error instanceof AgentRefusal) {
          return this.#fail(record, `Cannot start the action: ${messageOf(error)}`)
        }
        this.#options.log.info(
          { err: error, invocationId: id, attempt },
          'retrying the start of an invocation',
        )
        await pause(AGAIN_MS, signal)
      }
    }
  }

  async #listen(record: InvocationRecord, loan: AppInstanceLoan, signal: AbortSignal): Promise<void> {
    let after = Number(record.last_record)
    while (!signal.aborted) {
      let records: readonly RunRecord[]
      try {
        records = await readRunRecordsAfter(loan.agent, { id: record.id, after }, { signal })
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof AgentRefusal && error.status === 404) {
          return this.#fail(record, 'worker_lost: its instance does not know it')
        }
        this.#options.log.debug(
          { err: error, invocationId: record.id },
          'cannot read the records of an invocation yet',
        )
        await pause(AGAIN_MS, signal)
        continue
      }
      if (records.length === 0) continue
      if (!areNext(records, after)) {
        return this.#fail(record, 'worker_lost: its instance sent records out of order')
      }
      const isMine = await this.#keep(record, loan, records)
      if (!isMine || records.at(-1)!.end) return
      after = records.at(-1)!.n
    }
  }

  /** False when it has ended or another worker owns it. Waits while the database is down. */
  async #keep(
    record: InvocationRecord,
    loan: AppInstanceLoan,
    records: readonly RunRecord[],
  ): Promise<boolean> {
    const { ledger, log } = this.#options
    const at = new Date().toISOString()
    const lines: LogLine[] = records.flatMap(({ log: line }) =>
      line === undefined ? [] : [{ at, line: line.slice(0, MAX_LOG_LINE_LENGTH + 200) }],
    )
    const { n: lastRecord, end } = records.at(-1)!
    for (;;) {
      try {
        if (!end) return await ledger.addLines(record, { lines, lastRecord })
        crashPoint('invocation-finished')
        await ledger.end(record, { ...endingOf(end), byInstance: loan.instanceId, lines })
        return true
      } catch (error) {
        if (this.#isClosed || loan.over.aborted) throw error
        log.warn({ err: error, invocationId: record.id }, 'cannot store the records of an invocation yet')
        await pause(AGAIN_MS, loan.over)
      }
    }
  }

  async #fail(record: InvocationRecord, reason: string): Promise<void> {
    await this.#options.ledger.end(record, { status: 'failed', reason, output: null })
  }
}

const failed = (reason: string) => ({
  status: 'failed' as const,
  reason,
  output: JSON.stringify({ error: reason }),
})

/** Checks and limits what an instance reports. */
function endingOf({ output, reason }: NonNullable<RunRecord['end']>) {
  if (output === undefined) return failed(reason ?? 'It ended without a result')
  if (Buffer.byteLength(output) > MAX_PAYLOAD_BYTES) {
    return failed(`Its output has more than ${MAX_PAYLOAD_BYTES} bytes`)
  }
  if (excessOf(output, { maxLevels: Infinity, maxValues: MAX_VALUES })) {
    return failed(`Its output has more than ${MAX_VALUES} values; return the address of a file instead`)
  }
  try {
    JSON.parse(output)
  } catch {
    return failed('Its output is not JSON')
  }
  return { status: 'succeeded' as const, reason: null, output }
}

function areNext(records: readonly RunRecord[], after: number): boolean {
  return records.every(
    ({ n, end }, index) => n === after + 1 + index && (!end || index === records.length - 1),
  )
}

function leftMs({ started_ns, timeout_seconds }: InvocationRecord): number {
  const startedMs = Number(BigInt(started_ns) / 1_000_000n)
  return Math.max(0, startedMs + timeout_seconds * 1000 - Date.now())
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
