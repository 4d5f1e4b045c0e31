// Projects, the organisation's limits, API keys, and the audit log.
import type { IsOwnOrigin } from '../http/credential.ts'
import { OpenStreams } from '../http/open-streams.ts'
import type { Route } from '../http/call.ts'
import type { Platform } from '../platform/module.ts'
import { KeyAuthenticator } from './api-keys/authenticator.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { ApiKeyService } from './api-keys/service.ts'
import { countLiveApiKeys } from './api-keys/store.ts'
import { newAuditExports, type AuditExports } from './audit/export/module.ts'
import type { ExportNetwork } from './audit/export/types.ts'
import { auditRoutes } from './audit/routes.ts'
import { AuditService } from './audit/service.ts'
import type { AuditTrail } from './audit/trail.ts'
import { newChanges, type Changes } from './changes/module.ts'
import type { ChangeSources } from './changes/types.ts'
import { entitlementsOf } from './organization/entitlements.ts'
import { organizationRoutes } from './organization/routes.ts'
import { OrganizationService } from './organization/service.ts'
import type { OrganizationUse } from './organization/types.ts'
import { projectRoutes } from './projects/routes.ts'
import { ProjectService } from './projects/service.ts'
import type { ProjectContent } from './projects/types.ts'
import type { StorageLimits } from './storage/storage-limits.ts'
import { signInRoutes } from './sign-ins/routes.ts'
import { SignInService } from './sign-ins/service.ts'
import { StorageTotals } from './storage/totals.ts'
import { usedBytes } from './storage/use.ts'
import { newWebhooks, type Webhooks } from './webhooks/module.ts'
import { countWebhooks } from './webhooks/store.ts'
import type { WebhookNetwork } from './webhooks/types.ts'

export interface TenancyModule {
  readonly authenticator: KeyAuthenticator
  readonly projects: ProjectService
  readonly openStreams: OpenStreams
  readonly auditExports: AuditExports
  readonly webhooks: Webhooks
  readonly changes: Pick<Changes, 'close'>
  readonly routes: readonly Route[]
}

export function newTenancy(options: {
  platform: Platform
  audit: AuditTrail
  storage: StorageLimits
  /** What a project can contain, counted by the rooms that own it. Only an empty project can be deleted. */
  contents: readonly ProjectContent[]
  organizationUse: OrganizationUse
  auditExportNetwork: ExportNetwork
  webhookNetwork: WebhookNetwork
  isOwn: IsOwnOrigin
  version: string
  /** Whether sessions of this server can have a GPU. */
  hasGpu: boolean
  changeSources: ChangeSources
}): TenancyModule {
  const { audit, storage, organizationUse } = options
  const { config, db, changes, metrics, listener, log } = options.platform
  const authenticator = new KeyAuthenticator({ db, canRemember: () => listener.isListening })
  const openStreams = new OpenStreams(authenticator, options.isOwn)
  const projects = new ProjectService({
    db,
    storage,
    contents: [
      { what: 'API keys', countIn: countLiveApiKeys },
      { what: 'webhooks', countIn: countWebhooks },
      ...options.contents,
    ],
  })
  const organization = new OrganizationService({
    ceilings: {
      maxConcurrentSessions: config.BERTH_MAX_CONCURRENT_SESSIONS,
      maxConcurrentInvocations: config.BERTH_MAX_CONCURRENT_INVOCATIONS,
      maxPooledSessions: config.BERTH_MAX_POOLED_SESSIONS,
      minHealthCheckSeconds: config.BERTH_HEALTH_CHECK_MIN_SECONDS,
    },
    use: organizationUse,
  })

  changes.on('keyChanged', ({ publicId }) => {
    authenticator.forget(publicId)
    openStreams.check()
  })
  for (const change of ['projectChanged', 'unknownChange'] as const) {
    changes.on(change, () => {
      authenticator.forgetAll()
      openStreams.check()
    })
  }
  const auditExports = newAuditExports({
    platform: options.platform,
    audit,
    network: options.auditExportNetwork,
  })
  const webhooks = newWebhooks(options.platform, {
    network: options.webhookNetwork,
    version: options.version,
    maxDeliveries: config.BERTH_WEBHOOK_MAX_DELIVERIES,
    usesOf: async (tx, projectId) => {
      const stored = await storage.use(tx, projectId)
      const places = await organizationUse.sessionPlaces(tx, projectId)
      return [
        { quota: 'storage', used: usedBytes(stored), limit: stored.maxBytes },
        { quota: 'sessions', used: places.ofProject, limit: places.projectCap ?? Infinity },
      ]
    },
  })
  const followed = newChanges(options.platform, options.changeSources)
  const totals = new StorageTotals({ db, kinds: storage.kinds, log })
  metrics.gaugeBy('kind', {
    name: 'berth_storage_bytes',
    help: 'Bytes that all projects store, by kind, up to a minute old',
    read: () => totals.read(),
  })
  metrics.counter({
    name: 'berth_storage_refusals_total',
    help: 'Writes that were refused because their project may not store more',
    read: () => storage.refusedCount,
  })
  metrics.counter({
    name: 'berth_audit_records_dropped_total',
    help: 'Audit records lost while the database was unreachable',
    read: () => audit.droppedCount,
  })

  return {
    authenticator,
    projects,
    openStreams,
    auditExports,
    webhooks,
    changes: followed,
    routes: [
      ...projectRoutes(projects),
      ...organizationRoutes(organization, entitlementsOf(config, options)),
      ...apiKeyRoutes(new ApiKeyService()),
      ...signInRoutes(new SignInService({ version: options.version })),
      ...auditRoutes(new AuditService(audit)),
      ...auditExports.routes,
      ...webhooks.routes,
      ...followed.routes,
    ],
  }
}
