import { MAX_FAILURES, type Overview } from '@berth/contracts/overview'
import { Briefly } from '@berth/kit/briefly'
import type { Instances, Kind } from '../../instances/stock/instances.ts'
import type { Db } from '../../platform/database/schema.ts'
import { readOccupancy } from '../browsers/store.ts'
import * as store from './store.ts'

const DAY_MS = 24 * 3_600_000
const TODAY_REMEMBERED_MS = 10_000
/** On earlier days only sessions that still run change. */
const HISTORY_REMEMBERED_MS = 5 * 60_000
const MAX_REMEMBERED = 500

type Capacity = Overview['capacity']

export interface OverviewOptions {
  readonly instances: Pick<Instances, 'readyCount' | 'wantedCount'>
  readonly maxSessions: number
  readonly maxPooledSessions: number
}

export class OverviewService {
  readonly #options: OverviewOptions
  readonly #today = new Briefly<readonly store.DayCount[]>({
    forMs: TODAY_REMEMBERED_MS,
    maxKeys: MAX_REMEMBERED,
  })
  readonly #history = new Briefly<readonly store.DayCount[]>({
    forMs: HISTORY_REMEMBERED_MS,
    maxKeys: MAX_REMEMBERED,
  })

  constructor(options: OverviewOptions) {
    this.#options = options
  }

  async get(db: Db, projectId: string | null, days: number): Promise<Overview> {
    const [capacity, byDay, failures] = await Promise.all([
      this.#capacity(db, projectId),
      this.#byDay(db, projectId, days),
      store.listFailures(db, projectId, MAX_FAILURES),
    ])
    return { capacity, days: byDay, failures: failures.map(toFailure) }
  }

  async #byDay(db: Db, projectId: string | null, count: number): Promise<Overview['days']> {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    const dates = Array.from({ length: count }, (_, index) => dateOf(today - (count - 1 - index) * DAY_MS))
    const read = (since: string, until: number) =>
      store.countByDay(db, projectId, { since: `${since}T00:00:00Z`, until: `${dateOf(until)}T00:00:00Z` })
    const key = `${dateOf(today)} ${projectId ?? ''}`
    const counts = await Promise.all([
      this.#today.get(key, () => read(dateOf(today), today + DAY_MS)),
      count === 1 ? [] : this.#history.get(`${count} ${key}`, () => read(dates[0]!, today)),
    ])
    const known = new Map(counts.flat().map((day) => [day.date, day]))
    return dates.map((date) => {
      const { sessions, uptimeMs } = known.get(date) ?? { sessions: 0, uptimeMs: 0 }
      return { date, sessions, minutes: Math.round(uptimeMs / 6_000) / 10 }
    })
  }

  async #capacity(db: Db, projectId: string | null): Promise<Capacity> {
    const { maxSessions, maxPooledSessions } = this.#options
    const [counts, places, pooled] = await Promise.all([
      store.countSessions(db, projectId),
      readOccupancy(db, projectId),
      store.readPooledPlaces(db, projectId),
    ])
    return {
      sessions: toSessions(counts),
      warm: {
        headless: this.#stock('headless'),
        headful: this.#stock('headful'),
        gpu: this.#stock('gpu'),
        empty: this.#stock('empty'),
      },
      places: {
        used: projectId === null ? places.ofOrganization : places.ofProject,
        max: maxSessions,
        project_max: projectId === null ? null : places.projectCap,
        pooled_used: pooled.used,
        pooled_max: maxPooledSessions,
        project_pooled_max: pooled.projectCap,
      },
    }
  }

  #stock(kind: Kind): Capacity['warm'][Kind] {
    const { instances } = this.#options
    return { ready: instances.readyCount(kind), wanted: instances.wantedCount(kind) }
  }
}

function toSessions(counts: readonly store.SessionCount[]): Capacity['sessions'] {
  const of = (use: store.SessionUse) => {
    const count = (isHeadless: boolean) =>
      counts.find((each) => each.use === use && each.headless === isHeadless)?.count ?? 0
    return { headless: count(true), headful: count(false) }
  }
  return {
    starting: of('starting'),
    in_use: of('in_use'),
    standby: of('standby'),
    idle_in_pools: of('idle_in_pools'),
  }
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function toFailure(failed: store.FailedSession): Overview['failures'][number] {
  return {
    session_id: failed.id,
    ...(failed.name !== null && { name: failed.name }),
    ...(failed.pool_id !== null && { pool_id: failed.pool_id }),
    end_reason: failed.end_reason,
    created_at: failed.created_at,
    deleted_at: failed.deleted_at,
  }
}
