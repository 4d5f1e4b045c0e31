import type { Selectable } from 'kysely'
import type { Db, Tables } from '../../platform/database/schema.ts'

/** Listed explicitly: unread columns are not parsed, and a new column changes no prepared statement. */
export const summaryColumns = ['id', 'name', 'status', 'created_at', 'updated_at'] as const
export const projectColumns = [
  ...summaryColumns,
  'is_default',
  'max_concurrent_sessions',
  'max_concurrent_invocations',
  'max_pooled_sessions',
  'max_storage_bytes',
] as const

/** The fields of a project that the API shows. */
export type ProjectSummary = Pick<Selectable<Tables['projects']>, (typeof summaryColumns)[number]>
export type ProjectRecord = Pick<Selectable<Tables['projects']>, (typeof projectColumns)[number]>

export const limitNames = [
  'max_concurrent_sessions',
  'max_concurrent_invocations',
  'max_pooled_sessions',
  'max_storage_bytes',
] as const
export type LimitName = (typeof limitNames)[number]

/** A resource type that can live in a project and prevents its deletion. */
export interface ProjectContent {
  /** Plural, for the message: "API keys". */
  readonly what: string
  countIn(db: Db, projectId: string): Promise<number>
}
