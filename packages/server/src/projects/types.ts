import type { Selectable } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'

export type ProjectRecord = Selectable<Tables['projects']>

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
