// Destinations as requests name them.
import type { DestinationRef, TelemetryRequest } from '@berth/contracts/telemetry'
import type { Db } from '../../../platform/database/schema.ts'
import { invalidInput } from '../../../platform/errors/app-error.ts'
import { findDestination } from './store.ts'

/** The id. With `isHeld`, nobody deletes the destination before the transaction ends. */
export async function resolveDestination(
  db: Db,
  projectId: string,
  ref: DestinationRef,
  { isHeld }: { isHeld: boolean },
): Promise<string> {
  const found = await findDestination(db, projectId, ref, isHeld ? { lockFor: 'use' } : {})
  if (found) return found.id
  throw invalidInput(
    'telemetry.export.otlp.destination',
    'names no telemetry destination of the project of the session; see GET /telemetry/destinations',
  )
}

/** For a request that is stored. */
export async function holdExport(
  tx: Db,
  projectId: string,
  request: TelemetryRequest | null | undefined,
): Promise<void> {
  const ref = request?.export?.otlp?.destination
  if (ref) await resolveDestination(tx, projectId, ref, { isHeld: true })
}
