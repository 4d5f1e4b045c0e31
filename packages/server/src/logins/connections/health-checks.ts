// Checks whether connections are still logged in: at their interval, on one server at a time, and on
// request. An inconclusive check changes nothing.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { joinSignals } from '@berth/kit/abort'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import type { CheckOutcome } from '@berth/login/run/run'
import type { ExplainedStep } from '@berth/login/run/step'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { CredentialResolver } from '../credentials/resolver.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { browserColumnsOf } from './browser-options.ts'
import { browserOf, type LoginBrowsers, type MadeBrowser } from './browsers.ts'
import type { LoginEngine } from './engine.ts'
import * as flows from './flow-store.ts'
import { nextCheck } from './schedule.ts'
import { readMemory } from './settling.ts'
import * as store from './store.ts'
import type { StepLog } from '../steps/step-log.ts'
import { insertCheck } from './timeline-store.ts'
import { isOver } from './transitions.ts'
import type { ConnectionRecord, FlowLimits } from './types.ts'
import { reauthFor } from './view.ts'

/** Time limit of one check, including its browser. */
const CHECK_TIMEOUT_MS = 120_000
/** After this time, another server may take the check over. */
const CLAIM_SECONDS = 180
const MAX_IDLE_MS = 10_000
const MIN_IDLE_MS = 50
const RETRY_MS = 2_000

export interface HealthChecksOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly serverId: string
  readonly browsers: LoginBrowsers
  readonly engine: LoginEngine
  readonly credentials: Pick<CredentialResolver, 'standing'>
  readonly steps: StepLog
  readonly limits: FlowLimits
  readonly maxAtOnce: number
  readonly isAble: () => boolean
  readonly log: Logger
}

interface Look {
  readonly startedAt: Date
  readonly outcome: CheckOutcome
  readonly browser: MadeBrowser | undefined
  readonly replayId: string | undefined
  readonly steps: readonly ExplainedStep[]
}

export class HealthChecks {
  readonly #options: HealthChecksOptions
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** Those on request do not count: they must not keep the others from running. */
  #scheduled = 0
  #loop: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(options: HealthChecksOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#running.size
  }

  async start(): Promise<void> {
    const { db, serverId, isAble } = this.#options
    await store.dropClaimsOf(db, serverId)
    if (isAble()) this.#loop ??= this.#run()
  }

  /** Call it when a schedule may have changed. */
  wake(): void {
    this.#wake?.()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake?.()
    await this.#loop
    await Promise.allSettled(this.#running)
  }

  /** Checks now, whatever the schedule says. Resolves when the check is done. */
  async checkNow(connection: ConnectionRecord): Promise<void> {
    const { db, serverId } = this.#options
    if (connection.memory === null) {
      throw new AppError(
        'conflict',
        `Cannot check connection "${connection.id}": it has never logged in; begin a login first`,
      )
    }
    if (!(await store.claimCheck(db, connection.id, { serverId, seconds: CLAIM_SECONDS }))) {
      throw new AppError(
        'conflict',
        `Cannot check connection "${connection.id}": it is already being checked`,
      )
    }
    await this.#tracked(this.#check(connection.id))
  }

  async #run(): Promise<void> {
    const { db, serverId, maxAtOnce, log } = this.#options
    while (!this.#closing.signal.aborted) {
      let waitMs = MAX_IDLE_MS
      try {
        if (this.#scheduled < maxAtOnce) {
          const id = await store.claimDue(db, { serverId, seconds: CLAIM_SECONDS })
          if (id !== undefined) {
            this.#scheduled++
            void this.#tracked(this.#check(id)).finally(() => {
              this.#scheduled--
              this.wake()
            })
            continue
          }
          const due = await store.nextDueInSeconds(db)
          waitMs = due === null ? MAX_IDLE_MS : Math.min(MAX_IDLE_MS, Math.max(MIN_IDLE_MS, due * 1000))
        }
      } catch (error) {
        log.warn({ err: error }, 'cannot find the connections that are due for a check')
        waitMs = RETRY_MS
      }
      await this.#sleep(waitMs)
    }
  }

  async #sleep(ms: number): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    if (this.#closing.signal.aborted) return
    await pause(ms, woken.signal)
    this.#wake = undefined
  }

  #tracked(work: Promise<void>): Promise<void> {
    this.#running.add(work)
    const done = () => void this.#running.delete(work)
    work.then(done, done)
    return work
  }

  async #check(id: string): Promise<void> {
    const { db, serverId, log } = this.#options
    try {
      crashPoint('login-check-claimed')
      const connection = await store.findConnection(db, null, id)
      if (!connection || connection.deleted_at !== null) return
      const look = await this.#look(connection)
      crashPoint('login-check-done')
      // Interrupted: another server checks it again.
      if (this.#closing.signal.aborted) return await store.dropClaimsOf(db, serverId)
      await this.#record(connection, look)
    } catch (error) {
      log.warn({ err: error, connectionId: id }, 'cannot check a connection')
    }
  }

  async #look(connection: ConnectionRecord): Promise<Look> {
    const { db, browsers, engine, box, log } = this.#options
    const { id, project_id: projectId, profile_id: profileId, domain } = connection
    const startedAt = new Date()
    let browser: MadeBrowser | undefined
    const steps: ExplainedStep[] = []
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error('It took too long')), CHECK_TIMEOUT_MS)
    try {
      const { checks } = readMemory(box, id, connection.memory)
      if (!checks) throw new Error('No successful login has recorded how the logged-in page looks')
      using broken = joinSignals(late.signal, this.#closing.signal)
      const session = await browsers.create(
        {
          projectId,
          profileId,
          ...browserOf(connection),
          isRecorded: connection.record_session,
        },
        (_tx, made) => {
          browser = made
          return Promise.resolve()
        },
        broken.signal,
      )
      const replayId = connection.record_session ? await flows.replayOf(db, session.id) : undefined
      const signal = AbortSignal.any([broken.signal, session.ending])
      let outcome: CheckOutcome
      {
        using pageActions = engine.pageActionsOf(session)
        outcome = await engine.runCheck({
          pageActions,
          domain,
          allowedDomains: connection.allowed_domains,
          checks,
          loginUrl: connection.login_url ?? connection.learned_login_url ?? undefined,
          onStep: (step) => steps.push(step),
          signal,
        })
      }
      await this.#end(session.id, outcome)
      return { startedAt, outcome, browser, replayId, steps }
    } catch (error) {
      if (browser) await browsers.end(browser.id).catch(() => {})
      log.info({ err: error, connectionId: id }, 'a connection could not be checked')
      const reason = error instanceof AppError ? error.message : 'The check did not finish'
      const outcome: CheckOutcome = { result: 'inconclusive', reason, url: '' }
      return { startedAt, outcome, browser, replayId: undefined, steps }
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Saves what the check itself renewed: a site that rotates its token on every visit no longer accepts the one
   * in the profile. If a login was saved during the check, that one stays.
   */
  async #end(sessionId: string, { result }: CheckOutcome): Promise<void> {
    const { browsers } = this.#options
    if (result === 'in') await browsers.endSaved(sessionId, { onConflict: 'keep' })
    else await browsers.end(sessionId)
  }

  async #record(
    before: ConnectionRecord,
    { startedAt, outcome, browser, replayId, steps }: Look,
  ): Promise<void> {
    const { pool } = this.#options
    const checkId = await inTransaction(pool, async ({ db: tx }) => {
      const connection = await store.lockConnection(tx, before.id)
      if (!connection) return undefined
      // The check used a profile that is no longer the current one.
      const isOutdated = connection.last_success_at !== before.last_success_at
      const seen: CheckOutcome = isOutdated
        ? { ...outcome, result: 'inconclusive', reason: 'A login succeeded during the check' }
        : outcome
      const entryId = await insertCheck(tx, {
        connectionId: connection.id,
        startedAt,
        result: seen.result,
        reason: seen.reason,
        previousStatus: connection.status,
        browserId: browser?.id ?? null,
        replayId: replayId ?? null,
        telemetryCaptured: browser?.telemetryCaptured ?? false,
      })
      const now = new Date().toISOString()
      const isBegun = seen.result === 'out' && (await this.#reauthenticate(tx, connection))
      await store.updateConnection(tx, connection.id, {
        last_auth_check_at: now,
        checked_by: null,
        checked_until: null,
        next_check_at: nextCheck({ ...connection, last_auth_check_at: now }),
        ...(seen.result === 'in' && { status: 'AUTHENTICATED' as const }),
        ...(seen.result === 'out' && !isBegun && { status: 'NEEDS_AUTH' as const }),
      })
      return entryId
    })
    if (checkId === undefined) return
    const writer = this.#options.steps.writerFor({ checkId })
    for (const step of steps) writer.add(step)
    await writer.written()
  }

  /** Whether a login flow is running now, which decides the connection's new state. */
  async #reauthenticate(tx: Db, connection: ConnectionRecord): Promise<boolean> {
    const { credentials, serverId, limits } = this.#options
    const { id, project_id: projectId, credential, flow_id: flowId } = connection
    const flow = flowId === null ? undefined : await flows.findFlow(tx, flowId)
    if (flow && !isOver(flow)) return true
    if (!connection.health_checks || !connection.auto_reauth || connection.is_reauth_stopped) return false
    const standing = credential ? await credentials.standing(tx, projectId, credential) : undefined
    if (!reauthFor(connection, standing).can) return false
    await flows.insertFlow(
      tx,
      {
        id: newId(),
        connection_id: id,
        type: 'REAUTH',
        server_id: serverId,
        is_recorded: connection.record_session,
        ...browserColumnsOf(connection),
      },
      limits,
    )
    return true
  }
}
