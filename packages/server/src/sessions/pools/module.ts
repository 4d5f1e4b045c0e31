// Assembles pools: the filler, the leases and the waiting queue.
import type { Route } from '../../http/call.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { Platform } from '../../platform/module.ts'
import { findDefaultProject } from '../../tenancy/projects/store.ts'
import type { BrowserService } from '../browsers/service.ts'
import type { SessionExports } from '../browsers/session-exports.ts'
import type { Sessions } from '../browsers/sessions.ts'
import { Filler } from './filler.ts'
import { Leases } from './leases.ts'
import { PoolPolicies } from './policies.ts'
import { poolRoutes } from './routes.ts'
import { PoolService } from './service.ts'
import { Waiters } from './waiters.ts'

export interface PoolsModule {
  readonly routes: readonly Route[]
  /** Starts to fill the pools. */
  start(): void
  /** Rejects every caller that waits for a browser. */
  closeWaiters(): void
  close(): Promise<void>
}

export function newPools(options: {
  platform: Platform
  browsers: BrowserService
  sessions: Sessions
  exports: SessionExports
  /** Keeps a proxy from being deleted until the transaction ends. */
  holdProxy: (tx: Db, projectId: string, proxyId: string) => Promise<void>
  /** Whether this host can run sessions. */
  isAble: () => boolean
  endRecordings: (sessionId: string) => Promise<unknown>
}): PoolsModule {
  const { platform, ...given } = options
  const { config, db, pool, box, serverId, changes, log } = platform
  const policies = new PoolPolicies(box)
  const shared = {
    ...given,
    db,
    pool,
    serverId,
    region: config.BERTH_REGION,
    policies,
    maxWaitSeconds: config.BERTH_ACQUIRE_WAIT_SECONDS,
    ceilings: {
      maxSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
      maxPooledSessions: config.BERTH_MAX_POOLED_SESSIONS,
    },
    defaultProject: findDefaultProject,
    log,
  }
  const service = new PoolService(shared)
  const filler = new Filler(shared)
  const waiters = new Waiters({ db, log })
  const leases = new Leases({ ...shared, waiters, filler })
  changes.on('poolChanged', ({ poolId }) => {
    filler.wake()
    waiters.wake(poolId)
  })
  return {
    routes: poolRoutes(service, leases),
    start: () => filler.start(),
    closeWaiters: () => waiters.close(),
    close: () => filler.close(),
  }
}
