import type { Insertable, Selectable } from 'kysely'
import type { AuditLogsTable } from '../../platform/database/schema.ts'

export type NewAuditRecord = Insertable<AuditLogsTable>
export type AuditRecord = Selectable<AuditLogsTable>

export interface AuditFilter {
  /** Null for the whole organisation. */
  readonly projectId: string | null
  readonly start: Date
  readonly end: Date
  readonly authStrategy: string | undefined
  readonly service: string | undefined
  readonly method: string | undefined
  readonly excludeMethods: readonly string[]
  readonly search: string | undefined
  readonly searchUserIds: readonly string[]
}

/** The end of a page; the next page starts right after it. */
export interface AuditPosition {
  readonly timestamp: Date
  readonly id: string
}
