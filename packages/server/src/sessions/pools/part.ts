// The composition of pools, for sessions-part.ts.
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { BrowserService } from '../browsers/service.ts'
import type { Sessions } from '../browsers/sessions.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { Route } from '../../http/call.ts'
import { Filler } from './filler.ts'
import { Leases } from './leases.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { Ceilings } from './places.ts'
import { PoolPolicies } from './policies.ts'
import { poolRoutes } from './routes.ts'
import { PoolService } from './service.ts'
import { Waiters } from './waiters.ts'

export interface PoolsPart {
  readonly service: PoolService
  readonly routes: readonly Route[]
  /** Begins to fill them. */
  start(): void
  /** Something changed in a pool, here or at another server. */
  changed(poolId: string): void
  /** Sends those away who wait. */
  closeWaiters(): void
  close(): Promise<void>
}

export function newPools(options: {
  db: Db
  pool: Pool
  browsers: BrowserService
  sessions: Sessions
  box: SealedBox
  serverId: string
  mostWaitSeconds: number
  ceilings: Ceilings
  holdProxy: (tx: Db, projectId: string, proxyId: string) => Promise<void>
  defaultProject: (db: Db) => Promise<{ id: string }>
  isAble: () => boolean
  endRecordings: (sessionId: string) => Promise<unknown>
  log: Logger
}): PoolsPart {
  const { db, log } = options
  const policies = new PoolPolicies(options.box)
  const service = new PoolService({ ...options, policies })
  const filler = new Filler({ ...options, policies })
  const waiters = new Waiters({ db, log })
  const leases = new Leases({ ...options, waiters, filler })
  return {
    service,
    routes: poolRoutes(service, leases),
    start: () => filler.start(),
    changed: (poolId) => {
      filler.wake()
      waiters.wake(poolId)
    },
    closeWaiters: () => waiters.close(),
    close: () => filler.close(),
  }
}
