import type { Pool } from 'pg'
import type {
  BrowserPool,
  CreateBrowserPoolRequest,
  UpdateBrowserPoolRequest,
} from '@berth/contracts/browser-pools'
import type { BrowserService, Caller, PlannedBrowser } from '../browsers/service.ts'
import { checkRegion } from '../browsers/region.ts'
import { newId } from '@berth/kit/ids'
import { announceChange } from '../../platform/database/changes.ts'
import { uniqueNames } from '../../platform/database/unique-names.ts'
import { wasDeleted } from '../../platform/database/deleted-rows.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf } from '../../http/principal.ts'
import { takePlaces, type Ceilings } from './places.ts'
import { countLeased, endExcess, endPooled } from './pooled-browsers.ts'
import type { PoolPolicies } from './policies.ts'
import { settingsAtCreation, settingsAtUpdate } from './settings.ts'
import * as store from './store.ts'
import type { CountedPool, PoolRecord, PoolSettings, References } from './types.ts'
import { toBrowserPool } from './view.ts'

const withFreeName = uniqueNames({ constraint: 'browser_pools_name', what: 'pool' })

export interface PoolServiceOptions {
  readonly db: Db
  readonly pool: Pool
  readonly browsers: Pick<BrowserService, 'plan'>
  readonly ceilings: Ceilings
  /** That of this server. */
  readonly region: string
  readonly policies: PoolPolicies
  /** Keeps the proxy from being deleted until the transaction ends; from then on the pool's use protects it. */
  readonly holdProxy: (tx: Db, projectId: string, proxyId: string) => Promise<void>
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class PoolService {
  readonly #options: PoolServiceOptions

  constructor(options: PoolServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, caller: Caller, body: CreateBrowserPoolRequest): Promise<BrowserPool> {
    const { ceilings, defaultProject, region } = this.#options
    checkRegion(body.region, region)
    const projectId = projectOf(caller) ?? (await defaultProject(tx)).id
    const settings = settingsAtCreation(body, caller.telemetryAge)
    const references = await this.#check(tx, projectId, settings)
    await takePlaces(tx, { projectId, poolId: null, size: settings.size }, ceilings)
    const id = newId()
    const stored = this.#options.policies.seal(id, settings)
    const pool = await withFreeName(settings.name, () =>
      store.insertPool(tx, { id, projectId, region }, { ...stored, ...references }),
    )
    await announceChange(tx, 'poolChanged', { poolId: pool.id })
    return this.#show({ ...pool, browser: settings.browser, available: 0, acquired: 0 }, caller)
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; query?: string; name?: string; region?: string },
  ): Promise<OffsetPage<BrowserPool[]>> {
    const { limit = 20, offset = 0, region: asked, ...filters } = query
    const projectId = projectOf(caller)
    const rows = await store.listPools(db, {
      ...filters,
      ...(asked && { region: { asked, own: this.#options.region } }),
      projectId,
      limit: limit + 1,
      offset,
    })
    const joined = await this.#options.policies.joinListed(db, rows)
    return toPage(
      joined.map((row) => this.#show(row, caller)),
      limit,
    )
  }

  async get(db: Db, caller: Caller, idOrName: string): Promise<BrowserPool> {
    const pool = await this.find(db, caller, idOrName)
    return this.#show(await this.#options.policies.join(db, pool), caller)
  }

  async update(
    tx: Db,
    caller: Caller,
    idOrName: string,
    body: UpdateBrowserPoolRequest,
  ): Promise<BrowserPool> {
    const found = await this.find(tx, caller, idOrName)
    // Places are locked before the pool. Everyone takes the two locks in this order, to avoid a deadlock.
    if (body.size !== undefined) {
      const { id: poolId, project_id: projectId } = found
      await takePlaces(tx, { projectId, poolId, size: body.size }, this.#options.ceilings)
    }
    const { policies } = this.#options
    const pool = await policies.join(tx, await this.#lock(tx, found))
    const settings = settingsAtUpdate(pool, body, caller.telemetryAge)
    const references = await this.#check(tx, pool.project_id, settings)
    const updated = await withFreeName(settings.name, () =>
      store.updatePool(tx, pool.id, { ...policies.seal(pool.id, settings), ...references }),
    )
    if (body.discard_all_idle) await endPooled(tx, pool.id, { reason: 'deleted' })
    else await endExcess(tx, updated)
    await announceChange(tx, 'poolChanged', { poolId: pool.id })
    const counted = await store.countPool(tx, pool.id)
    return this.#show({ ...counted, browser: settings.browser }, caller)
  }

  async delete(tx: Db, caller: Caller, idOrName: string, { force }: { force: boolean }): Promise<void> {
    // Deleting twice succeeds, because a client that lost the first answer repeats the request.
    if (await wasDeleted(tx, 'browser_pools', { projectId: projectOf(caller), id: idOrName })) return
    const pool = await this.#lock(tx, await this.find(tx, caller, idOrName))
    const leased = await countLeased(tx, pool.id)
    if (leased > 0 && !force) {
      throw new AppError(
        'pool_in_use',
        `Cannot delete pool "${idOrName}": ${leased} of its browsers are leased; release them first, or set force`,
      )
    }
    await endPooled(tx, pool.id, { reason: 'deleted', includeLeased: true })
    await store.markDeleted(tx, pool.id)
    await announceChange(tx, 'poolChanged', { poolId: pool.id })
  }

  async flush(tx: Db, caller: Caller, idOrName: string): Promise<void> {
    const pool = await this.#lock(tx, await this.find(tx, caller, idOrName))
    await endPooled(tx, pool.id, { reason: 'deleted' })
  }

  /** A pool of another project looks exactly like one that does not exist. */
  async find(db: Db, caller: Caller, idOrName: string): Promise<CountedPool> {
    const pool = await store.findPool(db, projectOf(caller), idOrName)
    if (!pool) throw notFound(idOrName)
    return pool
  }

  #show(pool: CountedPool, { telemetryAge }: Caller): BrowserPool {
    return toBrowserPool(pool, { age: telemetryAge, ownRegion: this.#options.region })
  }

  async #lock(tx: Db, { id }: PoolRecord): Promise<PoolRecord> {
    const pool = await store.lockPool(tx, id)
    if (!pool) throw notFound(id)
    return pool
  }

  /** Checks the browser settings as if one were created now. */
  async #check(tx: Db, projectId: string, { browser }: PoolSettings): Promise<References> {
    if (browser.proxy_id) await this.#options.holdProxy(tx, projectId, browser.proxy_id)
    // Does not wait for a running profile save, because that would block everyone who needs the pool's lock. The
    // filler waits for it.
    const place = { projectId, telemetryAge: 'opt-in' } as const
    const planned = await this.#options.browsers.plan(browser, place, { db: tx, waits: false })
    return referencesOf(planned)
  }
}

function referencesOf({ extras }: PlannedBrowser): References {
  const known = extras.map(({ refersTo }) => refersTo)
  return {
    profileId: known.find((each) => each?.profileId !== undefined)?.profileId ?? null,
    extensionIds: known.flatMap((each) => each?.extensionIds ?? []),
  }
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find browser pool "${idOrName}"`)
}
