import type { Selectable } from 'kysely'
import type { CredentialsTable, Db } from '../../platform/database/schema.ts'

export type CredentialRecord = Selectable<CredentialsTable>

/** By field name. */
export type LoginValues = Readonly<Record<string, string>>

/** The place of a sealed value; it opens only there. */
export interface SealedPlace {
  readonly id: string
  readonly project_id: string
}

/** Refers to credentials by name, and continues without a deleted one. May be notified twice. */
export interface CredentialUse {
  readonly renamed: (tx: Db, projectId: string, change: { from: string; to: string }) => Promise<void>
  readonly deleted: (tx: Db, projectId: string, name: string) => Promise<void>
}
