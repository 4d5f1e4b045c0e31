// The composition of connections and their login flows, for sessions-part.ts.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { BrowserService } from '../../sessions/browsers/service.ts'
import type { Sessions } from '../../sessions/browsers/sessions.ts'
import type { Config } from '../../config/config.ts'
import type { CredentialResolver } from '../credentials/resolver.ts'
import type { Db } from '../../platform/database/schema.ts'
import type { SessionTokens } from '../../sessions/gateway/tokens.ts'
import type { Route } from '../../http/call.ts'
import type { SaveWatch } from '../../sessions/profiles/save-watch.ts'
import { findDefaultProject } from '../../tenancy/projects/store.ts'
import type { Instances } from '../../instances/instances.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { serviceSecret } from '../../platform/secrets/service-secret.ts'
import { LoginBrowsers } from './browsers.ts'
import type { LoginEngine } from './engine.ts'
import { FlowEvents } from './events.ts'
import { FlowTokens } from './flow-tokens.ts'
import { HealthChecks } from './health-checks.ts'
import { LinkMaker } from './links.ts'
import { connectionRoutes } from './routes.ts'
import { FlowRunner } from './runner.ts'
import { ConnectionService } from './service.ts'
import { FlowSettling } from './settling.ts'

export interface ConnectionsPart {
  readonly routes: readonly Route[]
  readonly tokens: FlowTokens
  readonly runningCount: number
  /** Something changed in a connection, here or at another server; and which one has its flow. */
  changed(connectionId: string, serverId: string | undefined): void
  /** Takes up what an earlier run left, and begins to look after connections. */
  resume(): Promise<void>
  close(options: { endAll: boolean }): Promise<void>
}

export async function newConnections(options: {
  config: Config
  db: Db
  pool: Pool
  box: SealedBox
  serverId: string
  browsers: BrowserService
  sessions: Sessions
  instances: Instances
  saves: SaveWatch
  sessionTokens: SessionTokens
  credentials: CredentialResolver
  engine: LoginEngine
  log: Logger
}): Promise<ConnectionsPart> {
  const { config, db, pool, box, serverId, sessions, instances, saves, credentials, engine, log } = options
  const limits = {
    totalSeconds: config.BERTH_LOGIN_SECONDS,
    waitSeconds: config.BERTH_LOGIN_WAIT_SECONDS,
  }
  const secret = await serviceSecret(db, box, 'flow-tokens')
  const tokens = new FlowTokens({ db, key: { kid: 'flow-tokens', secret } })
  const links = new LinkMaker({ tokens: options.sessionTokens, box })
  const events = new FlowEvents({ db, links })
  const browsers = new LoginBrowsers({
    db,
    pool,
    browsers: options.browsers,
    sessions,
    hasScreens: () => instances.capabilities.headful,
  })
  const settling = new FlowSettling({ db, pool, box, saves, credentials, log })
  const shared = { db, pool, box, serverId, browsers, engine, credentials, limits, log }
  const runner = new FlowRunner({ ...shared, settling, leaseSeconds: config.BERTH_LEASE_SECONDS })
  const checks = new HealthChecks({
    ...shared,
    mostAtOnce: config.BERTH_LOGIN_CHECKS_AT_ONCE,
    isAble: () => instances.shortcomings.length === 0,
  })
  const service = new ConnectionService({
    db,
    box,
    serverId,
    links,
    tokens,
    credentials,
    limits,
    leastInterval: config.BERTH_HEALTH_CHECK_MIN_SECONDS,
    shortcomings: instances.shortcomings,
    defaultProject: findDefaultProject,
  })
  return {
    routes: connectionRoutes(service, { events, checks }),
    tokens,
    get runningCount() {
      return runner.count
    },
    changed: (connectionId, of) => {
      events.changed(connectionId)
      void runner.changed(connectionId, of)
      checks.wake()
    },
    resume: async () => {
      await runner.resume()
      await checks.start()
    },
    close: async (how) => {
      await checks.close()
      await runner.close(how)
    },
  }
}
