import type { Selectable } from 'kysely'
import type { DestinationRef } from '@berth/contracts/telemetry'
import type { Db, TelemetryDestinationsTable } from '../../../platform/database/schema.ts'

export type DestinationRecord = Selectable<TelemetryDestinationsTable>

/** Counts the sessions that export to a destination, which then cannot be deleted. */
export type CountExporting = (tx: Db, destinationId: string) => Promise<number>

/** What else refers to destinations. */
export interface DestinationUse {
  /** Such as "auth connections". */
  readonly what: string
  /** The destinations that those of a project name, each once. */
  readonly namedIn: (tx: Db, projectId: string) => Promise<readonly DestinationRef[]>
}
