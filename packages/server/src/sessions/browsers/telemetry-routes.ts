import * as contract from '@berth/contracts/telemetry'
import { callerOf } from './routes.ts'
import type { BrowserService } from './service.ts'
import { route, type Route } from '../../http/call.ts'
import type { HistoryQuery } from '../telemetry/history.ts'
import type { LinesRequest } from '../telemetry/ndjson.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

export function telemetryRoutes(browsers: BrowserService, telemetry: Telemetry): Route[] {
  return [
    route(contract.streamTelemetry, async (call) => {
      const session = await browsers.session(callerOf(call), call.params.id)
      // SAFETY: the contract has validated the query, here and below.
      const { replay } = call.query as { replay?: string }
      return { body: await telemetry.stream(session, { headers: call.headers, replay }) }
    }),
    route(contract.listTelemetryEvents, async (call) => {
      const id = await browsers.idOf(callerOf(call), call.params.id)
      return telemetry.page(id, call.query as HistoryQuery, call.headers)
    }),
    route(contract.exportTelemetryHar, async (call) => {
      const id = await browsers.idOf(callerOf(call), call.params.id)
      return {
        body: await telemetry.har(id),
        headers: { 'content-disposition': `attachment; filename="${id}.har"` },
      }
    }),
    route(contract.exportTelemetryEvents, async (call) => {
      const id = await browsers.idOf(callerOf(call), call.params.id)
      return {
        body: await telemetry.lines(id, call.query as LinesRequest),
        headers: { 'content-disposition': `attachment; filename="${id}.ndjson"` },
      }
    }),
  ]
}
