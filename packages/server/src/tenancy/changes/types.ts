import type { ChangeKind } from '@berth/contracts/changes'
import type { Db } from '../../platform/database/schema.ts'

/** Something that exists now. What happened to it is found by comparing two looks. */
export interface LiveRow {
  readonly kind: ChangeKind
  readonly id: string
  readonly projectId: string
  /** Differs when readers should hear of it. */
  readonly state: string
}

/** The projects of these ids, without those that are unknown. */
export type FindProjects = (db: Db, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** What the rooms above know of changes. */
export interface ChangeSources {
  /** For kinds that are announced by their ids alone. */
  readonly projectsOf: Readonly<Partial<Record<ChangeKind, FindProjects>>>
  /** For kinds whose changes are not announced. Read once a second while somebody follows. */
  readonly live: readonly ((db: Db) => Promise<LiveRow[]>)[]
}

/** Null for something that belongs to the organisation; undefined when it is not known yet. */
export type Owner = string | null | undefined
