// Keeps profiles logged in: connections with their login flows and health checks, and the credentials they use.
import type { FastifyInstance } from 'fastify'
import type { Route } from '../http/call.ts'
import { PerCallUpstream } from '../instances/egress/per-call-upstream.ts'
import type { Instances } from '../instances/stock/instances.ts'
import { directOptions, newEgressPolicy } from '../instances/module.ts'
import type { Platform } from '../platform/module.ts'
import { serviceSecret } from '../platform/secrets/service-secret.ts'
import type { SessionsModule } from '../sessions/module.ts'
import { findDefaultProject } from '../tenancy/projects/store.ts'
import { authAgentRoutes } from './agents/routes.ts'
import { AuthAgents } from './agents/service.ts'
import { LoginBrowsers } from './connections/browsers.ts'
import type { LoginEngine } from './connections/engine.ts'
import { FlowEvents } from './connections/events.ts'
import { FlowTokens } from './connections/flow-tokens.ts'
import { HealthChecks } from './connections/health-checks.ts'
import { attachHostedPage } from './connections/hosted-page.ts'
import { LinkMaker } from './connections/links.ts'
import { connectionRoutes } from './connections/routes.ts'
import { FlowRunner } from './connections/runner.ts'
import { ConnectionService } from './connections/service.ts'
import { FlowSettling } from './connections/settling.ts'
import { credentialUse } from './connections/store.ts'
import { CredentialPasskeys } from './credentials/passkeys.ts'
import { CredentialResolver } from './credentials/resolver.ts'
import { credentialRoutes } from './credentials/routes.ts'
import { CredentialSecrets } from './credentials/secrets.ts'
import { CredentialService } from './credentials/service.ts'
import { credentialProviderRoutes } from './providers/routes.ts'
import { Hooks } from './hooks/hook.ts'
import { Mailboxes } from './mailboxes/mailboxes.ts'
import { CaptchaSolvers } from './solvers/captcha-solvers.ts'
import { CredentialProviderService } from './providers/service.ts'
import { Sources } from './providers/sources.ts'
import { StepLog } from './steps/step-log.ts'

export interface LoginsModule {
  readonly routes: readonly Route[]
  readonly tokens: FlowTokens
  /** Resumes the flows of an earlier run, and starts the health checks. */
  start(): Promise<void>
  close(options: { endAll: boolean }): Promise<void>
}

export interface LoginsModuleOptions {
  readonly platform: Platform
  readonly instances: Instances
  readonly sessions: SessionsModule
  readonly server: FastifyInstance
  readonly engine: LoginEngine
}

export async function newLogins(options: LoginsModuleOptions): Promise<LoginsModule> {
  const { platform, instances, sessions: room, server, engine } = options
  const { config, db, pool, box, changes, metrics, serverId, log } = platform
  const limits = {
    totalSeconds: config.BERTH_LOGIN_SECONDS,
    waitSeconds: config.BERTH_LOGIN_WAIT_SECONDS,
  }
  const secrets = new CredentialSecrets(box)
  const sources = new Sources({
    box,
    policy: newEgressPolicy(config),
    upstream: new PerCallUpstream(directOptions(config)),
  })
  const direct = directOptions(config)
  const hooks = new Hooks({ policy: direct.policy, upstream: new PerCallUpstream(direct) })
  const mailboxes = new Mailboxes({ policy: direct.policy, direct, hooks })
  const solvers = new CaptchaSolvers({ box, hooks })
  const credentials = new CredentialResolver({
    db,
    secrets,
    passkeys: new CredentialPasskeys(box),
    sources,
    mailboxes,
  })
  const credentialService = new CredentialService({
    secrets,
    uses: [credentialUse],
    mailboxes,
    defaultProject: findDefaultProject,
  })
  const secret = await serviceSecret(db, box, 'flow-tokens')
  const tokens = new FlowTokens({ db, key: { kid: 'flow-tokens', secret } })
  const links = new LinkMaker({ tokens: room.tokens, box })
  const events = new FlowEvents({ db, links })
  const browsers = new LoginBrowsers({
    db,
    pool,
    browsers: room.browsers,
    sessions: room.sessions,
    hasScreens: () => instances.capabilities.headful,
  })
  const steps = new StepLog({ db, box, log })
  const shared = { db, pool, box, serverId, browsers, engine, credentials, steps, solvers, limits, log }
  const runner = new FlowRunner({
    ...shared,
    settling: new FlowSettling({ db, pool, box, saves: room.saves, credentials, log }),
    leaseSeconds: config.BERTH_LEASE_SECONDS,
  })
  const checks = new HealthChecks({
    ...shared,
    maxAtOnce: config.BERTH_LOGIN_CHECKS_AT_ONCE,
    isAble: () => instances.shortcomings.length === 0,
  })
  const connections = new ConnectionService({
    db,
    box,
    serverId,
    links,
    tokens,
    credentials,
    solvers,
    steps,
    limits,
    minInterval: config.BERTH_HEALTH_CHECK_MIN_SECONDS,
    shortcomings: instances.shortcomings,
    defaultProject: findDefaultProject,
  })
  attachHostedPage(server)

  changes.on('connectionChanged', ({ connectionId, serverId: of }) => {
    events.changed(connectionId)
    void runner.changed(connectionId, of || undefined)
    checks.wake()
  })
  metrics.gauge({
    name: 'berth_running_logins',
    help: 'Login flows that this server runs',
    read: () => runner.count,
  })

  return {
    tokens,
    routes: [
      ...connectionRoutes(connections, { events, checks }),
      ...authAgentRoutes(new AuthAgents({ connections, links })),
      ...credentialRoutes(credentialService),
      ...credentialProviderRoutes(
        new CredentialProviderService({ db, sources, defaultProject: findDefaultProject }),
      ),
    ],
    start: async () => {
      await runner.resume()
      await checks.start()
    },
    close: async (how) => {
      await checks.close()
      await runner.close(how)
    },
  }
}
