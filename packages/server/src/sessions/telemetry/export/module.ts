// Assembles the export of telemetry.
import type { Route } from '../../../http/call.ts'
import { EgressPolicy } from '../../../instances/egress/policy.ts'
import { PerCallUpstream } from '../../../instances/egress/per-call-upstream.ts'
import { newSystemNames } from '../../../instances/module.ts'
import type { Platform } from '../../../platform/module.ts'
import { findDefaultProject } from '../../../tenancy/projects/store.ts'
import { CollectorClient } from './collector-client.ts'
import { Deliverer } from './deliverer.ts'
import { destinationRoutes } from './routes.ts'
import { DestinationService } from './service.ts'
import type { CountExporting, DestinationUse } from './types.ts'

export interface TelemetryExportModule {
  readonly routes: readonly Route[]
  start(): void
  close(): Promise<void>
}

export function newTelemetryExport(
  { config, db, pool, box, changes, metrics, serverId, log }: Platform,
  options: { version: string; countExporting: CountExporting; uses: readonly DestinationUse[] },
): TelemetryExportModule {
  const { version, ...given } = options
  const direct = {
    policy: new EgressPolicy({
      allow: config.BERTH_TELEMETRY_EXPORT_ALLOW,
      listedIn: 'BERTH_TELEMETRY_EXPORT_ALLOW',
    }),
    names: newSystemNames(config),
  }
  const client = new CollectorClient({ upstream: new PerCallUpstream(direct), version })
  const deliverer = new Deliverer({ db, pool, box, client, serverId, version, log })
  changes.on('telemetryExportChanged', () => deliverer.changed())
  changes.on('telemetryStored', () => deliverer.stored())
  metrics.counterBy('result', {
    name: 'berth_telemetry_exported_events_total',
    help: 'Events that collectors accepted from this server, and that they refused',
    read: () => ({ delivered: deliverer.counts.delivered, rejected: deliverer.counts.rejected }),
  })
  metrics.counter({
    name: 'berth_telemetry_export_failures_total',
    help: 'Deliveries of telemetry by this server that collectors did not accept',
    read: () => deliverer.counts.failures,
  })
  metrics.gauge({
    name: 'berth_telemetry_exports_under_way',
    help: 'Destinations that this server delivers telemetry to at the moment',
    read: () => deliverer.underWay,
  })
  return {
    routes: destinationRoutes(
      new DestinationService({ ...given, db, box, direct, defaultProject: findDefaultProject }),
    ),
    start: () => deliverer.start(),
    close: () => deliverer.close(),
  }
}
