import * as contract from '@berth/contracts/system'
import { route, type Route } from '../call.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { Readiness } from './readiness.ts'

export interface SystemOptions {
  readonly version: string
  readonly readiness: Readiness
  readonly metrics: Metrics
  /** Both are made when somebody first asks: a start has better things to do. */
  readonly openApi: () => string
  readonly docs: () => string
}

export function systemRoutes({ version, readiness, metrics, openApi, docs }: SystemOptions): Route[] {
  const [document, page] = [once(openApi), once(docs)]
  return [
    route(contract.getHealth, () => ({ status: 'ok' as const, version })),
    route(contract.getReadiness, () => readiness.check()),
    route(contract.getMetrics, async () => ({ body: await metrics.render() })),
    route(contract.getOpenApi, () => ({ body: document() })),
    route(contract.getDocs, () => ({ body: page(), headers: DOCS_HEADERS })),
  ]
}

function once(make: () => string): () => string {
  let made: string | undefined
  return () => (made ??= make())
}

/** The page is plain HTML with its style inside; nothing else may load or run. */
const DOCS_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
