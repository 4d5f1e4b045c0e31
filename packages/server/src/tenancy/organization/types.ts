import type { Db } from '../../platform/database/schema.ts'

/** A deployment is one organisation; the first migration makes its row. */
export const ORGANIZATION_ID = 'org'

/** The operator's limits for the whole organisation. They are settings, not rows. */
export interface Ceilings {
  readonly maxConcurrentSessions: number
  readonly maxConcurrentInvocations: number
  readonly maxPooledSessions: number
  readonly minHealthCheckSeconds: number
}

/** Places for sessions that are taken. A pool takes its full size. */
export interface SessionPlaces {
  readonly ofOrganization: number
  /** 0 without a project. */
  readonly ofProject: number
  /** Null for no cap of its own. */
  readonly projectCap: number | null
}

/** What the rooms count that own it. The project is null for all projects. */
export interface OrganizationUse {
  sessionPlaces(db: Db, projectId: string | null): Promise<SessionPlaces>
  authConnections(db: Db, projectId: string | null): Promise<number>
}
