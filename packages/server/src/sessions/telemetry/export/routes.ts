import * as contract from '@berth/contracts/telemetry-destinations'
import { route, type Route } from '../../../http/call.ts'
import type { DestinationService } from './service.ts'

export function destinationRoutes(destinations: DestinationService): Route[] {
  return [
    route(contract.createTelemetryDestination, (call) => destinations.create(call, call.body, call)),
    route(contract.listTelemetryDestinations, (call) => destinations.list(call, call.query)),
    route(contract.getTelemetryDestination, (call) => destinations.get(call, call.params.id_or_name)),
    route(contract.updateTelemetryDestination, (call) =>
      destinations.update(call, call.params.id_or_name, call.body, call),
    ),
    route(contract.deleteTelemetryDestination, (call) =>
      destinations.delete(call.db, call, call.params.id_or_name),
    ),
  ]
}
