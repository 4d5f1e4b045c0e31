import type { Selectable } from 'kysely'
import type { Tables } from '../../../platform/database/schema.ts'
import type { Connect } from '../../../platform/s3/connect-agents.ts'

/** Listed explicitly: a new column changes no prepared statement. */
export const destinationColumns = [
  'id',
  'bucket',
  'prefix',
  'region',
  'kms_key_id',
  'endpoint',
  'external_id',
  'role_arn',
  'access_key_id',
  'sealed_secret',
  'status',
  'revision',
  'tested_revision',
  'consecutive_failures',
  'last_success_at',
  'last_error',
  'last_error_at',
  'last_exported_cursor',
  'next_attempt_at',
  'created_at',
  'updated_at',
  'deleted_at',
] as const

export type DestinationRecord = Pick<
  Selectable<Tables['audit_export_destinations']>,
  (typeof destinationColumns)[number]
>

/** What says where objects go, and with which credentials. */
export type DestinationConfig = Pick<
  DestinationRecord,
  | 'id'
  | 'bucket'
  | 'prefix'
  | 'region'
  | 'kms_key_id'
  | 'endpoint'
  | 'external_id'
  | 'role_arn'
  | 'access_key_id'
  | 'sealed_secret'
>

/** The rules for connections to stores, which callers of the API choose. */
export interface ExportNetwork {
  /** Why the URL cannot be used; undefined if it can. */
  refusalOf(url: URL): string | undefined
  readonly connect: Connect
}

/** Times have microseconds, as PostgreSQL has them. */
export interface ExportWindow {
  readonly start: string
  readonly end: string
  /** The number of its next object. */
  readonly chunk: number
  /** The last record of the object before. */
  readonly after: RecordPosition
}

export interface RecordPosition {
  readonly recordedAt: string
  readonly id: string
}

/** The right to export to one destination, until it runs out. */
export interface ExportLease {
  readonly leaseId: string
  readonly destination: DestinationRecord
}
