// Removing what has served its time. Every replica tries; an advisory lock lets one work.
import { sql } from 'kysely'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { deleteEventsBefore } from '../../apps/core/events.ts'
import { deleteAuditRecordsBefore } from '../../tenancy/audit/store.ts'
import { deleteTimelineBefore } from '../../logins/connections/timeline-store.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { deletePoliciesBefore } from '../../sessions/policies/store.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transaction.ts'
import { deleteEndedBefore } from '../../apps/invocations/store.ts'
import { deleteFinishedBefore } from '../../sessions/replays/store.ts'
import { forgetOldAnswers } from '../../http/idempotency.ts'
import { deleteOldInbox, deleteSegmentsBefore } from '../../sessions/telemetry/store.ts'

const EVERY_MS = 3_600_000
const DAY_MS = 24 * 3_600_000
const AUDIT_BATCH = 5_000
const REPLAY_BATCH = 100
const SEGMENT_BATCH = 500
/** Of sessions that have ended, as they may be large. */
const POLICY_DAYS = 30
const POLICY_BATCH = 100
const APP_BATCH = 500
const LOGIN_BATCH = 500
const HOUSEKEEPING_LOCK = 7_236_814_007

export interface HousekeepingOptions {
  readonly db: Db
  readonly pool: Pool
  readonly log: Logger
  readonly blobs: Blobs
  readonly auditRetentionDays: number
  readonly replayRetentionDays: number
  readonly telemetryRetentionDays: number
  readonly appLogRetentionDays: number
  readonly invocationRetentionDays: number
  readonly loginRetentionDays: number
}

export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()
  #isClosing = false

  constructor(options: HousekeepingOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.run(), EVERY_MS)
    this.#timer.unref()
  }

  run(): Promise<void> {
    this.#running = this.#running.then(() =>
      this.#clean().catch((error: unknown) => this.#options.log.warn({ err: error }, 'housekeeping failed')),
    )
    return this.#running
  }

  /** In small steps: no statement is long, and another replica may take over between two. */
  async #clean(): Promise<void> {
    const { auditRetentionDays, telemetryRetentionDays } = this.#options
    const { appLogRetentionDays, invocationRetentionDays, loginRetentionDays } = this.#options
    const [auditEnd, telemetryEnd] = [daysAgo(auditRetentionDays), daysAgo(telemetryRetentionDays)]
    let isMore: boolean | undefined
    do {
      isMore = await this.#alone(async (tx) => {
        await forgetOldAnswers(tx)
        await deleteOldInbox(tx)
        const segments = await deleteSegmentsBefore(tx, telemetryEnd, SEGMENT_BATCH)
        const records = await deleteAuditRecordsBefore(tx, auditEnd, AUDIT_BATCH)
        const policies = await deletePoliciesBefore(tx, daysAgo(POLICY_DAYS), POLICY_BATCH)
        const events = await deleteEventsBefore(tx, daysAgo(appLogRetentionDays), APP_BATCH)
        const invocations = await deleteEndedBefore(tx, daysAgo(invocationRetentionDays), APP_BATCH)
        const logins = await deleteTimelineBefore(tx, daysAgo(loginRetentionDays), LOGIN_BATCH)
        const areMoreOfApps = events === APP_BATCH || invocations === APP_BATCH
        const areMoreOfSessions = segments === SEGMENT_BATCH || policies === POLICY_BATCH
        const areMore = records === AUDIT_BATCH || logins === LOGIN_BATCH
        return areMore || areMoreOfSessions || areMoreOfApps
      })
    } while (isMore && !this.#isClosing)
    await this.#removeReplays()
    // What a kill left between the bytes of something and its row.
    await this.#options.blobs.sweep(this.#options.db)
  }

  /** Rows first: bytes without a row are swept, a row without bytes would be a lie. */
  async #removeReplays(): Promise<void> {
    const { db, blobs, replayRetentionDays } = this.#options
    const end = daysAgo(replayRetentionDays)
    let removed: string[] | undefined
    do {
      removed = await this.#alone(async (tx) => {
        const rows = await deleteFinishedBefore(tx, end, REPLAY_BATCH)
        const ids = rows.flatMap(({ blob_id }) => blob_id ?? [])
        await blobs.forget(tx, ids)
        return rows.map(({ blob_id }) => blob_id ?? '')
      })
      for (const id of removed ?? []) if (id !== '') await blobs.remove(db, id)
    } while (removed?.length === REPLAY_BATCH && !this.#isClosing)
  }

  /** Undefined when another replica is at it. */
  #alone<T>(work: (tx: Db) => Promise<T>): Promise<T | undefined> {
    return inTransaction(this.#options.pool, async ({ db: tx }) => {
      const { rows } = await sql<{ isMine: boolean }>`
        SELECT pg_try_advisory_xact_lock(${HOUSEKEEPING_LOCK}) AS "isMine"`.execute(tx)
      return rows[0]?.isMine ? work(tx) : undefined
    })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#timer)
    await this.#running
  }
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)
