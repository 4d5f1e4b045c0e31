import type { Selectable } from 'kysely'
import type { CredentialsTable, Db } from '../../platform/database/schema.ts'

export type CredentialRecord = Selectable<CredentialsTable>

/** By the name of the field. */
export type LoginValues = Readonly<Record<string, string>>

/** What is sealed, and where: it opens nowhere else. */
export interface SealedPlace {
  readonly id: string
  readonly project_id: string
}

/** Something that refers to credentials by name, and goes on without one that is deleted. May be told twice. */
export interface CredentialUse {
  readonly renamed: (tx: Db, projectId: string, change: { from: string; to: string }) => Promise<void>
  readonly deleted: (tx: Db, projectId: string, name: string) => Promise<void>
}
