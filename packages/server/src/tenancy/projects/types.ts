import type { Selectable } from 'kysely'
import type { Db, Tables } from '../../platform/database/schema.ts'

/** Named one by one: what is not read is not parsed, and a new column changes no prepared statement. */
export const summaryColumns = ['id', 'name', 'status', 'created_at', 'updated_at'] as const
export const projectColumns = [
  ...summaryColumns,
  'is_default',
  'max_concurrent_sessions',
  'max_concurrent_invocations',
  'max_pooled_sessions',
] as const

/** What the API shows of a project. */
export type ProjectSummary = Pick<Selectable<Tables['projects']>, (typeof summaryColumns)[number]>
export type ProjectRecord = Pick<Selectable<Tables['projects']>, (typeof projectColumns)[number]>

export type LimitName = 'max_concurrent_sessions' | 'max_concurrent_invocations' | 'max_pooled_sessions'
export const limitNames: readonly LimitName[] = [
  'max_concurrent_sessions',
  'max_concurrent_invocations',
  'max_pooled_sessions',
]

/** Another resource that may live in a project and keeps it from being deleted. */
export interface ProjectContent {
  /** Plural, for the message: "API keys". */
  readonly what: string
  countIn(db: Db, projectId: string): Promise<number>
}
