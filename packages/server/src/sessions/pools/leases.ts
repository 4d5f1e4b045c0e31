// Leases browsers of a pool to callers and takes them back. A lease is one change of one row, so exactly one caller or
// nobody has it, even after a crash. When the caller never got the answer, the lease is undone or times out.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { AcquireBrowserRequest, ReleaseBrowserRequest } from '@berth/contracts/browser-pools'
import type { Browser } from '@berth/contracts/browsers'
import type { BrowserService, Caller } from '../browsers/service.ts'
import { withFreeName } from '../browsers/service.ts'
import { claimOf } from '../browsers/lease-claim.ts'
import type { SessionExports } from '../browsers/session-exports.ts'
import type { Sessions } from '../browsers/sessions.ts'
import { toStartUrl } from '../browsers/start-url.ts'
import { isOver } from '../browsers/state.ts'
import { lockBrowser } from '../browsers/store.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { Commit, Outcome } from '../../http/call.ts'
import { CLIENT_GONE } from '../../http/request-context.ts'
import { exportChoice } from '../telemetry/export/choice.ts'
import { selectAtCreation, selectAtUpdate } from '../telemetry/selection.ts'
import type { Filler } from './filler.ts'
import * as pooled from './pooled-browsers.ts'
import { countAhead, leaveServed } from './queue.ts'
import * as store from './store.ts'
import type { PoolRecord } from './types.ts'
import type { Waiters } from './waiters.ts'

export interface LeasesOptions {
  readonly db: Db
  readonly pool: Pool
  readonly browsers: BrowserService
  readonly sessions: Sessions
  readonly exports: SessionExports
  readonly waiters: Waiters
  readonly filler: Filler
  readonly serverId: string
  /** That of this server. */
  readonly region: string
  /** The longest wait of a caller that sets no timeout. */
  readonly maxWaitSeconds: number
  /** Ends the recordings of a lease that is over. */
  readonly endRecordings: (sessionId: string) => Promise<unknown>
  readonly log: Logger
}

/** The acquire request, used to find out whether its caller is still connected. */
export interface Acquiring {
  readonly commit: Commit
  readonly signal: AbortSignal
  readonly whenOver: (listener: (outcome: Outcome) => void) => void
  /** The request has an Idempotency-Key, so a caller that missed the answer can repeat it. */
  readonly isRepeatable: boolean
}

/** Rolls back an attempt that found no idle browser. */
class NoneIdle extends Error {}

/** Rolls back the end of a lease that ended meanwhile: somebody else may have the browser now. */
class LeaseOver extends Error {}

export class Leases {
  readonly #options: LeasesOptions

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  /** Undefined when no browser became free in time. */
  async acquire(
    caller: Caller,
    pool: PoolRecord,
    body: AcquireBrowserRequest,
    call: Acquiring,
  ): Promise<Browser | undefined> {
    // Check the request now, not only when a browser is free.
    const selection = selectAtCreation({ request: body.telemetry, age: caller.telemetryAge })
    exportChoice(body.telemetry, { selection, isExporting: false })
    let leased: BrowserRecord | undefined
    const attempt = async (place?: string): Promise<Browser | undefined> => {
      try {
        return await withFreeName(body.name ?? null, () =>
          call.commit(async (tx) => {
            call.signal.throwIfAborted()
            leased = await this.#lease(tx, pool.id, { caller, body, place })
            return this.#options.browsers.show(tx, leased, caller)
          }),
        )
      } catch (error) {
        leased = undefined
        if (error instanceof NoneIdle) return undefined
        throw error
      }
    }
    const seconds =
      body.acquire_timeout_seconds ?? Math.min(this.#options.maxWaitSeconds, fillSecondsOf(pool))
    const waitMs = seconds * 1000
    const answer =
      (await attempt()) ??
      (waitMs > 0
        ? await this.#options.waiters.wait(pool, { ms: waitMs, signal: call.signal, attempt })
        : undefined)
    crashPoint('lease-committed')
    // An answer without a lease is the stored answer of an earlier request with the same key.
    if (answer && leased) await this.#handOver(leased, body, call)
    return answer
  }

  async #lease(
    tx: Db,
    poolId: string,
    { caller, body, place }: { caller: Caller; body: AcquireBrowserRequest; place: string | undefined },
  ): Promise<BrowserRecord> {
    const pool = await store.lockPool(tx, poolId)
    if (!pool) throw new AppError('not_found', `Cannot lease a browser: pool "${poolId}" was deleted`)
    const ahead = await countAhead(tx, poolId, place)
    const idle = await pooled.findIdle(tx, poolId, { serverId: this.#options.serverId, ahead })
    if (!idle) throw new NoneIdle()
    const asked = { request: body.telemetry, age: caller.telemetryAge }
    const telemetry = selectAtUpdate(asked, idle.telemetry)
    const leased = await pooled.lease(tx, idle.id, {
      name: body.name ?? null,
      tags: body.tags ?? {},
      timeoutSeconds: pool.timeout_seconds,
      startUrl: toStartUrl(body.start_url) ?? undefined,
      telemetry,
      keyId: caller.principal.keyId,
    })
    if (!leased) throw new NoneIdle()
    if (place !== undefined) await leaveServed(tx, place)
    const { exports } = this.#options
    return exports.apply(tx, leased, exports.choiceOf(idle, body.telemetry, telemetry))
  }

  async #handOver(leased: BrowserRecord, body: AcquireBrowserRequest, call: Acquiring): Promise<void> {
    const { sessions } = this.#options
    if (!call.isRepeatable) {
      call.whenOver(({ status }) => {
        if (status === CLIENT_GONE) void this.#takeBack(leased, { isUntouched: !body.start_url })
      })
    }
    if (call.signal.aborted) return
    // Events after the answer must be captured with the new selection.
    if (body.telemetry) await sessions.capture(leased)
    sessions.open(leased.id, body.start_url)
  }

  /** Undoes a lease whose caller left before the answer. */
  async #takeBack(leased: BrowserRecord, { isUntouched }: { isUntouched: boolean }): Promise<void> {
    const { log } = this.#options
    try {
      if (isUntouched) await this.#toIdle(leased, this.#commit)
      else await this.#end(leased, this.#commit)
      log.debug({ sessionId: leased.id }, 'a lease was undone because its caller left')
    } catch (error) {
      log.warn(
        { err: error, sessionId: leased.id },
        'cannot undo a lease whose caller left; it will time out',
      )
    }
  }

  async release(
    { principal: { keyId } }: Pick<Caller, 'principal'>,
    pool: PoolRecord,
    { session_id: id, lease_id: leaseId, reuse = true, reset = false }: ReleaseBrowserRequest,
    commit: Commit,
  ): Promise<void> {
    const found = await pooled.findPooled(this.#options.db, pool.id, id)
    const wasLeased = found?.released_at != null || found?.leased_at != null
    // Nobody may know of a browser that was never leased.
    if (!found || !wasLeased) {
      throw new AppError('not_found', `Cannot release browser session "${id}": this pool has not leased it`)
    }
    const claim = claimOf(found, { leaseId, keyId })
    if (claim === 'none') throw invalidInput('lease_id', `is not one of browser session "${id}"`)
    // Releasing twice succeeds, because a client that lost the first answer repeats the request.
    if (isOver(found) || found.leased_at === null || claim === 'over') return
    // Its first lease is the only one that can be meant.
    if (claim === 'unknown' && found.released_at !== null) {
      throw new AppError(
        'conflict',
        `Cannot release browser session "${id}": another key leases it now; send the lease_id that you mean`,
      )
    }
    try {
      // A pool that resets does so whatever its lease holders ask for.
      if (reset || pool.reset_on_release) await this.#replace(pool, found, commit)
      else if (reuse) await this.#reuse(found, commit)
      else await this.#end(found, commit)
    } catch (error) {
      if (!(error instanceof LeaseOver)) throw error
    }
  }

  /** Ends the browser of this lease. Throws when the lease is over; `first` runs in the same transaction. */
  #end(leased: BrowserRecord, commit: Commit, first?: (tx: Db) => Promise<void>): Promise<void> {
    return this.#options.browsers.end(leased, 'released', commit, async (tx) => {
      // The pool's lock before the row's, as everywhere.
      await first?.(tx)
      const now = await lockBrowser(tx, leased.id)
      if (now?.leased_at == null || now.lease_number !== leased.lease_number) throw new LeaseOver()
    })
  }

  /**
   * First disconnects the clients, then resets the browser, then returns it to the pool. An interruption in between
   * leaves a lease that can be released again or times out.
   */
  async #reuse(found: BrowserRecord, commit: Commit): Promise<void> {
    const { sessions, log } = this.#options
    const revoked = await this.#commit((tx) => pooled.revoke(tx, found))
    if (!revoked) return
    crashPoint('lease-revoked')
    // The announcement may arrive later than the next step, so apply the change here as well.
    await sessions.changed(found.id)
    let restored: BrowserRecord
    try {
      restored = await this.#restore(revoked)
    } catch (error) {
      log.warn({ err: error, sessionId: found.id }, 'cannot reset a released browser; it ends')
      return this.#end(revoked, commit)
    }
    await this.#toIdle(restored, commit)
  }

  /** Resets everything that belongs to the lease, except the state inside Chromium. */
  async #restore(browser: BrowserRecord): Promise<BrowserRecord> {
    const { browsers, endRecordings, db } = this.#options
    await endRecordings(browser.id)
    const pool = await store.countPool(db, browser.pool_id!)
    return browsers.putBack(browser, pool.browser)
  }

  async #toIdle(browser: BrowserRecord, commit: Commit): Promise<void> {
    const poolId = browser.pool_id!
    const isWanted = await commit(async (tx) => {
      const pool = await store.lockPool(tx, poolId)
      if (!pool || (await pooled.isCrowded(tx, poolId))) return false
      await pooled.makeIdle(tx, browser, pool)
      return true
    })
    // The pool has become smaller.
    if (!isWanted) await this.#end(browser, this.#commit)
    await this.#options.sessions.changed(browser.id)
  }

  /** Replaces the browser by a fresh one. Taken from the warm instances, it is as fast as a cleanup would be. */
  async #replace(pool: PoolRecord, found: BrowserRecord, commit: Commit): Promise<void> {
    const { filler, region, log } = this.#options
    // The servers of its own region make the next one.
    if (pool.region !== null && pool.region !== region) return this.#end(found, commit)
    let isReleased = false
    const end = async (first?: (tx: Db) => Promise<void>) => {
      await this.#end(found, commit, first)
      isReleased = true
      crashPoint('lease-reset')
    }
    try {
      await filler.replace(pool.id, end)
    } catch (error) {
      if (error instanceof LeaseOver) throw error
      // The filler makes up for it later.
      log.warn({ err: error, poolId: pool.id }, 'cannot replace a released browser yet')
      if (!isReleased) await end()
    }
  }

  readonly #commit: Commit = (work) => inTransaction(this.#options.pool, ({ db: tx }) => work(tx))
}

function fillSecondsOf({ fill_rate_per_minute: rate }: PoolRecord): number {
  return rate === 0 ? Infinity : Math.ceil((100 / rate) * 60)
}
