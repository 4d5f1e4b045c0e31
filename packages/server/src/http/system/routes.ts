import * as contract from '@berth/contracts/system'
import { route, type Route } from '../call.ts'
import type { DocsFiles } from '../docs-files.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { Readiness } from './readiness.ts'
import type { StatusReport } from './status.ts'

export interface SystemOptions {
  readonly version: string
  readonly readiness: Readiness
  readonly status: StatusReport
  readonly metrics: Metrics
  /** Called on the first request for the document, to keep the start fast. */
  readonly openApi: () => string
  readonly docs: DocsFiles
}

export function systemRoutes({ version, readiness, status, metrics, openApi, docs }: SystemOptions): Route[] {
  const document = once(openApi)
  return [
    route(contract.getHealth, () => ({ status: 'ok' as const, version })),
    route(contract.getReadiness, () => readiness.check()),
    route(contract.getStatus, () => status.read()),
    route(contract.getMetrics, async () => ({ body: await metrics.render() })),
    route(contract.getOpenApi, () => ({ body: document() })),
    route(contract.getDocs, ({ headers }) => docs.reference(headers['accept-encoding'])),
  ]
}

function once(make: () => string): () => string {
  let made: string | undefined
  return () => (made ??= make())
}
