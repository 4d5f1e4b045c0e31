// Changes the state of invocations. Each change is one transaction with its event, and an invocation's end also ends
// its browser sessions. If two callers end it, the second finds it ended.
import type { Pool } from 'pg'
import { nowNs } from '../core/clock.ts'
import { appendEvents, type LogLine, type NewEvent } from '../core/events.ts'
import { places } from '../core/lock.ts'
import type { DeploymentLocks } from '../core/locks.ts'
import type { ChangeBus } from '../../platform/database/change-events.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { EndedBrowser } from '../../sessions/browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import * as store from './store.ts'
import type { InvocationRecord } from './types.ts'

const MAX_REASON_LENGTH = 4_000

export interface Ending {
  readonly status: 'succeeded' | 'failed'
  readonly reason: string | null
  /** JSON. */
  readonly output: string | null
  readonly byInstance?: string
  /** The last log lines. */
  readonly lines?: readonly LogLine[]
}

export interface LedgerOptions {
  readonly db: Db
  readonly pool: Pool
  readonly locks: DeploymentLocks
  /** Receives an end before anybody else does. */
  readonly changes: ChangeBus
  /** Closes browser sessions whose rows have just ended. */
  readonly shut: (browsers: readonly EndedBrowser[]) => void
}

export class Ledger {
  readonly #options: LedgerOptions

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  /** Undefined when another worker runs it, or when it has ended. */
  async begin(
    { id, deployment_id: deploymentId }: InvocationRecord,
    worker: { serverId: string; instanceId: string },
  ): Promise<InvocationRecord | undefined> {
    const lock = await this.#options.locks.of(deploymentId)
    return inTransaction(this.#options.pool, async ({ db: tx }) => {
      const record = await store.markRunning(tx, id, { ...worker, startedNs: nowNs() })
      if (!record) return undefined
      await appendEvents(tx, { deploymentId, lock }, [stateOf(record)])
      await announceChange(tx, 'invocationChanged', { invocationId: id })
      return record
    })
  }

  /** False when another worker owns it. */
  async addLines(
    record: InvocationRecord,
    { lines, lastRecord }: { lines: readonly LogLine[]; lastRecord: number },
  ): Promise<boolean> {
    const lock = await this.#options.locks.of(record.deployment_id)
    return inTransaction(this.#options.pool, async ({ db: tx }) => {
      if (!(await store.keepPosition(tx, record, lastRecord))) return false
      await appendEvents(tx, { deploymentId: record.deployment_id, lock }, [
        { kind: 'log', invocationId: record.id, lines },
      ])
      return true
    })
  }

  /** Ends it in its own transaction. */
  async end(record: Pick<InvocationRecord, 'id' | 'deployment_id'>, ending: Ending): Promise<boolean> {
    const ended = await inTransaction(this.#options.pool, ({ db: tx }) => this.endIn(tx, record, ending))
    ended?.tell()
    return ended !== undefined
  }

  /** Ends all invocations of a deployment. */
  async endAllOf(deploymentId: string, reason: string): Promise<void> {
    for (const id of await store.listLiveOf(this.#options.db, deploymentId)) {
      await this.end({ id, deployment_id: deploymentId }, { status: 'failed', reason, output: null })
    }
  }

  /** Undefined when it had already ended or another worker owns it. Call `tell` after the commit. */
  async endIn(
    tx: Db,
    { id, deployment_id: deploymentId }: Pick<InvocationRecord, 'id' | 'deployment_id'>,
    { status, reason, output, byInstance, lines = [] }: Ending,
  ): Promise<{ record: InvocationRecord; tell: () => void } | undefined> {
    const lock = await this.#options.locks.of(deploymentId, tx)
    const record = await store.markEnded(tx, id, {
      status,
      reason: reason?.slice(0, MAX_REASON_LENGTH) ?? null,
      output: output === null ? null : lock.seal(output, places.output(id)),
      ...(byInstance !== undefined && { byInstance }),
    })
    if (!record) return undefined
    const browsers = await store.endBrowsers(tx, id)
    const logs: NewEvent[] = lines.length > 0 ? [{ kind: 'log', invocationId: id, lines }] : []
    await appendEvents(tx, { deploymentId, lock }, [...logs, stateOf(record)])
    await announceChange(tx, 'invocationChanged', { invocationId: id })
    return {
      record,
      tell: () => {
        this.#options.shut(browsers)
        this.#options.changes.emit('invocationChanged', { invocationId: id })
      },
    }
  }
}

export function stateOf({ id, status, status_reason }: InvocationRecord): NewEvent {
  return { kind: 'invocation_state', invocationId: id, change: { status, reason: status_reason } }
}
