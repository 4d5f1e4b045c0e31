import type { Pool } from 'pg'
import {
  DEFAULT_ASYNC_SECONDS,
  SYNC_SECONDS,
  type CreateInvocationRequest,
  type Invocation,
  type InvocationResult,
  type InvocationStatus,
  type UpdateInvocationRequest,
} from '@berth/contracts/invocations'
import type { Browser } from '@berth/contracts/browsers'
import { newId } from '@berth/kit/ids'
import { nowNs } from '../core/clock.ts'
import { appendEvents } from '../core/events.ts'
import { places } from '../core/lock.ts'
import type { DeploymentLocks } from '../core/locks.ts'
import type { JobQueue } from '../core/queue.ts'
import { findAppVersion, type AppVersionRecord } from '../core/store.ts'
import type { BrowserRecord, EndedBrowser } from '../../sessions/browsers/types.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { holdRunning } from '../deployments/store.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { Commit, OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf, type Principal } from '../../http/principal.ts'
import { readMoment } from '../../sessions/telemetry/moment.ts'
import { checkJson } from './json-text.ts'
import { stateOf, type Ledger } from './ledger.ts'
import * as store from './store.ts'
import type { InvocationRecord } from './types.ts'
import { toInvocation, toResult } from './view.ts'
import type { Waiting } from './waiting.ts'

export interface InvocationCaller {
  readonly principal: Principal
  readonly projectId: string | null
}

export interface InvocationServiceOptions {
  readonly db: Db
  readonly pool: Pool
  readonly ledger: Ledger
  readonly waiting: Waiting
  readonly queue: JobQueue
  readonly serverId: string
  /** Invocations of one instance. */
  readonly maxRuns: number
  readonly locks: DeploymentLocks
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
  readonly maxInvocations: number
  readonly shortcomings: readonly string[]
  readonly listBrowsers: (projectId: string, invocationId: string) => Promise<BrowserRecord[]>
  /** Closes browser sessions whose rows have just ended. */
  readonly shut: (browsers: readonly EndedBrowser[]) => void
}

export class InvocationService {
  readonly #options: InvocationServiceOptions

  constructor(options: InvocationServiceOptions) {
    this.#options = options
  }

  async create(
    caller: InvocationCaller,
    body: CreateInvocationRequest,
    { commit, signal }: { commit: Commit; signal: AbortSignal },
  ): Promise<InvocationResult> {
    const { db, pool, queue, locks, shortcomings, defaultProject } = this.#options
    if (shortcomings.length > 0) {
      throw new AppError('sessions_unavailable', `Cannot invoke an action: ${shortcomings.join('; ')}`)
    }
    if (body.payload !== undefined) checkJson('payload', body.payload)
    if (body.async_timeout_seconds !== undefined && !body.async) {
      throw invalidInput('async_timeout_seconds', 'needs async')
    }
    const projectId = projectOf(caller) ?? (await defaultProject(db)).id
    await queue.start()
    if (body.async) {
      const record = await commit((tx) => this.#enqueue(tx, projectId, body))
      crashPoint('invocation-queued')
      queue.look()
      return toResult(record, await locks.of(record.deployment_id))
    }
    // Committed separately, because it must run while the caller waits. The answer is committed at its end.
    const queued = await inTransaction(pool, ({ db: tx }) => this.#enqueue(tx, projectId, body))
    crashPoint('invocation-queued')
    queue.look()
    const ended = await this.#hold(queued, signal)
    const lock = await locks.of(queued.deployment_id)
    return commit(() => Promise.resolve(toResult(ended, lock)))
  }

  async #enqueue(tx: Db, projectId: string, body: CreateInvocationRequest): Promise<InvocationRecord> {
    const { queue, locks, serverId, maxRuns, maxInvocations } = this.#options
    const { app_name: appName, action_name: actionName, version = 'latest', payload } = body
    const { ofOrganization, ofProject, projectCap } = await store.lockOccupancy(tx, projectId)
    const app = await this.#findRunning(tx, projectId, { appName, version })
    if (!app.actions.some(({ name }) => name === actionName)) {
      throw new AppError('not_found', `Cannot find action "${actionName}" of app "${appName}"; see GET /apps`)
    }
    if (ofOrganization >= maxInvocations) throw tooMany('the organisation', maxInvocations)
    if (projectCap !== null && ofProject >= projectCap) throw tooMany('the project', projectCap)
    const id = newId()
    const deploymentId = app.deployment_id
    const lock = await locks.of(deploymentId, tx)
    const sentTo = await store.chooseServer(tx, { deploymentId, serverId, maxRuns })
    const record = await store.insertInvocation(tx, {
      id,
      projectId,
      deploymentId,
      appName,
      version,
      actionName,
      timeoutSeconds: body.async ? (body.async_timeout_seconds ?? DEFAULT_ASYNC_SECONDS) : SYNC_SECONDS,
      payload: payload === undefined ? null : lock.seal(payload, places.payload(id)),
      startedNs: nowNs(),
      sentTo,
    })
    await appendEvents(tx, { deploymentId, lock }, [stateOf(record)])
    await queue.send(tx, 'invocation', { id, serverId: sentTo })
    return record
  }

  /** Locks a running deployment until the transaction ends; skips one that is being replaced. */
  async #findRunning(
    tx: Db,
    projectId: string,
    named: { appName: string; version: string },
  ): Promise<AppVersionRecord> {
    let before: string | undefined
    for (;;) {
      const app = await findAppVersion(tx, projectId, named)
      if (app && (await holdRunning(tx, app.deployment_id))) return app
      if (!app || app.id === before) {
        const { appName, version } = named
        throw new AppError(
          'not_found',
          `Cannot find app "${appName}" with version "${version}"; see GET /apps`,
        )
      }
      before = app.id
    }
  }

  /** Always ends the invocation: when it is done, when the caller leaves, or after the time limit. */
  async #hold(queued: InvocationRecord, signal: AbortSignal): Promise<InvocationRecord> {
    const { ledger, waiting } = this.#options
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), SYNC_SECONDS * 1000)
    try {
      const ended = await waiting.untilOver(queued.id, AbortSignal.any([signal, late.signal]))
      if (ended) return ended
    } finally {
      clearTimeout(timer)
    }
    const reason = signal.aborted
      ? 'The caller went away before it was over'
      : `It took longer than ${SYNC_SECONDS} s, which is what a caller is held for; use async for more`
    await ledger.end(queued, { status: 'failed', reason, output: null })
    const ended = await store.findInvocation(this.#options.db, null, queued.id)
    return ended!
  }

  async list(
    caller: InvocationCaller,
    query: {
      limit?: number
      offset?: number
      app_name?: string
      version?: string
      action_name?: string
      deployment_id?: string
      status?: InvocationStatus
      since?: string
      query?: string
    },
  ): Promise<OffsetPage<Invocation[]>> {
    const { limit = 20, offset = 0, since, status, query: part } = query
    const rows = await store.listInvocations(this.#options.db, projectOf(caller), {
      ...(query.app_name !== undefined && { appName: query.app_name }),
      ...(query.version !== undefined && { version: query.version }),
      ...(query.action_name !== undefined && { actionName: query.action_name }),
      ...(query.deployment_id !== undefined && { deploymentId: query.deployment_id }),
      ...(status !== undefined && { status }),
      ...(since !== undefined && { sinceNs: BigInt(readMoment('since', since, Date.now() * 1000)) * 1000n }),
      ...(part && { query: part }),
      limit: limit + 1,
      offset,
    })
    return toPage(await Promise.all(rows.map((row) => this.#show(row))), limit)
  }

  async get(caller: InvocationCaller, id: string): Promise<Invocation> {
    return this.#show(await this.find(caller, id))
  }

  async find(caller: InvocationCaller, id: string): Promise<InvocationRecord> {
    const record = await store.findInvocation(this.#options.db, projectOf(caller), id)
    if (!record) throw new AppError('not_found', `Cannot find invocation "${id}"`)
    return record
  }

  async update(
    caller: InvocationCaller,
    id: string,
    { status, output }: UpdateInvocationRequest,
    commit: Commit,
  ): Promise<Invocation> {
    if (output !== undefined) checkJson('output', output)
    const record = await this.find(caller, id)
    const reason = status === 'failed' ? 'It was cancelled' : null
    const ended = await commit((tx) =>
      this.#options.ledger.endIn(tx, record, { status, reason, output: output ?? null }),
    )
    ended?.tell()
    if (ended) return this.#show(ended.record)
    const now = await this.find(caller, id)
    if (now.status === status) return this.#show(now)
    throw new AppError('conflict', `Cannot set invocation "${id}" to ${status}: it has ${now.status} already`)
  }

  async browsers(
    caller: InvocationCaller,
    id: string,
    show: (record: BrowserRecord) => Promise<Browser>,
  ): Promise<{ browsers: Browser[] }> {
    const record = await this.find(caller, id)
    const browsers = await this.#options.listBrowsers(record.project_id, record.id)
    return { browsers: await Promise.all(browsers.map(show)) }
  }

  async deleteBrowsers(caller: InvocationCaller, id: string, commit: Commit): Promise<void> {
    const record = await this.find(caller, id)
    this.#options.shut(await commit((tx) => store.endBrowsers(tx, record.id)))
  }

  async #show(record: InvocationRecord): Promise<Invocation> {
    return toInvocation(record, await this.#options.locks.of(record.deployment_id))
  }
}

function tooMany(whose: string, cap: number): AppError {
  return new AppError(
    'too_many_invocations',
    `Cannot invoke an action: ${whose} has its ${cap} concurrent invocations; wait for one to end or raise the limit`,
    { headers: { 'retry-after': '1' } },
  )
}
