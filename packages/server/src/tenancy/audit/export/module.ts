// The export of the audit log to stores of the organisation.
import type { Config } from '../../../config/config.ts'
import type { Route } from '../../../http/call.ts'
import type { Platform } from '../../../platform/module.ts'
import type { AwsIdentity } from '../../../platform/s3/roles.ts'
import type { AuditTrail } from '../trail.ts'
import { AuditExporter } from './exporter.ts'
import { auditExportRoutes } from './routes.ts'
import { AuditExportService } from './service.ts'
import type { ExportNetwork } from './types.ts'
import { DestinationWriter } from './writer.ts'

export interface AuditExports {
  readonly routes: readonly Route[]
  start(): Promise<void>
  close(): Promise<void>
}

export function newAuditExports(options: {
  platform: Platform
  audit: AuditTrail
  network: ExportNetwork
}): AuditExports {
  const { audit, network } = options
  const { config, db, box, serverId, changes, metrics, log } = options.platform
  const writer = new DestinationWriter({ box, network, identity: identityOf(config) })
  const exporter = new AuditExporter({
    db,
    serverId,
    writer,
    holdSeconds: config.BERTH_AUDIT_EXPORT_HOLD_SECONDS,
    flush: () => audit.flush(),
    log,
  })
  const service = new AuditExportService({
    db,
    writer,
    network,
    identityArn: config.BERTH_AWS_IDENTITY_ARN,
  })
  for (const change of ['auditExportsChanged', 'unknownChange'] as const) {
    changes.on(change, () => exporter.wake())
  }
  metrics.counter({
    name: 'berth_audit_exported_records_total',
    help: 'Audit records that this server exported',
    read: () => exporter.counts.records,
  })
  metrics.counter({
    name: 'berth_audit_export_failures_total',
    help: 'Failed attempts to export audit records',
    read: () => exporter.counts.failures,
  })
  return {
    routes: auditExportRoutes(service),
    start: () => exporter.start(),
    close: () => exporter.close(),
  }
}

function identityOf(config: Config): AwsIdentity {
  const accessKeyId = config.BERTH_AWS_ACCESS_KEY_ID
  const secretAccessKey = config.BERTH_AWS_SECRET_ACCESS_KEY
  return {
    credentials: accessKeyId === '' ? undefined : { accessKeyId, secretAccessKey },
    stsUrl: config.BERTH_AWS_STS_URL?.href,
  }
}
