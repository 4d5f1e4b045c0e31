// What a request says about the export of a session.
import type { DestinationRef, TelemetryRequest } from '@berth/contracts/telemetry'
import { invalidInput } from '../../../platform/errors/app-error.ts'
import type { Selection } from '../selection.ts'

/** Null stops the export; undefined leaves it as it is. */
export type ExportChoice = DestinationRef | null | undefined

export interface Captured {
  /** What the same request makes of the selection; undefined when it leaves it as it is. */
  readonly selection: Selection | undefined
  /** Whether the session exports already. */
  readonly isExporting: boolean
}

export function exportChoice(
  request: TelemetryRequest | null | undefined,
  { selection, isExporting }: Captured,
): ExportChoice {
  const { destination, enabled } = request?.export?.otlp ?? {}
  if (destination === undefined) {
    if (enabled === true && !isExporting) {
      throw invalidInput('telemetry.export.otlp', 'needs a destination when enabled is true')
    }
    // Without capture there is nothing to export.
    return isExporting && (enabled === false || selection === null) ? null : undefined
  }
  if (enabled === false) {
    throw invalidInput('telemetry.export.otlp', 'cannot have enabled: false together with a destination')
  }
  if ((destination.id === undefined) === (destination.name === undefined)) {
    throw invalidInput('telemetry.export.otlp.destination', 'must have either id or name')
  }
  if (!selection) {
    throw invalidInput(
      'telemetry.export.otlp.destination',
      'needs events in the same request: set telemetry.enabled to true, or turn on categories in telemetry.browser',
    )
  }
  return destination
}

/** For what cannot export: throws when the request asks for it. */
export function refuseExport(request: TelemetryRequest | null | undefined, remedy: string): void {
  if (request?.export?.otlp?.destination === undefined && request?.export?.otlp?.enabled !== true) return
  throw invalidInput('telemetry.export', remedy)
}
