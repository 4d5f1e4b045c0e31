import type { OrganizationLimits } from '@berth/contracts/organization'
import type { Db } from '../../platform/database/schema.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { Principal } from '../../http/principal.ts'
import type { Ceilings, OrganizationUse, SessionPlaces } from './types.ts'

export class OrganizationService {
  readonly #ceilings: Ceilings
  readonly #use: OrganizationUse

  constructor({ ceilings, use }: { ceilings: Ceilings; use: OrganizationUse }) {
    this.#ceilings = ceilings
    this.#use = use
  }

  async getLimits(db: Db, { projectId }: Pick<Principal, 'projectId'>): Promise<OrganizationLimits> {
    const row = await db
      .selectFrom('organization')
      .select('default_project_max_concurrent_sessions')
      .executeTakeFirstOrThrow()
    const places = await this.#use.sessionPlaces(db, projectId)
    return {
      max_concurrent_sessions: this.#ceilings.maxConcurrentSessions,
      max_concurrent_invocations: this.#ceilings.maxConcurrentInvocations,
      max_pooled_sessions: this.#ceilings.maxPooledSessions,
      default_project_max_concurrent_sessions: row.default_project_max_concurrent_sessions,
      concurrent_sessions_used: projectId === null ? places.ofOrganization : places.ofProject,
      concurrent_sessions_available: this.#available(places),
      auth_connections_used: await this.#use.authConnections(db, projectId),
      max_auth_connections: null,
      min_health_check_interval_seconds: this.#ceilings.minHealthCheckSeconds,
      vaults_used: 0,
      max_vaults: 0,
    }
  }

  /** Sessions may exceed a limit that was lowered. */
  #available({ ofOrganization, ofProject, projectCap }: SessionPlaces): number {
    const left = this.#ceilings.maxConcurrentSessions - ofOrganization
    return Math.max(0, projectCap === null ? left : Math.min(left, projectCap - ofProject))
  }

  async updateLimits(
    tx: Db,
    principal: Pick<Principal, 'projectId'>,
    change: { default_project_max_concurrent_sessions?: number | null },
  ): Promise<OrganizationLimits> {
    const cap = change.default_project_max_concurrent_sessions
    if (cap !== undefined) {
      const ceiling = this.#ceilings.maxConcurrentSessions
      if (cap !== null && cap > ceiling) {
        throw invalidInput(
          'default_project_max_concurrent_sessions',
          `must be at most ${ceiling}, the limit of the organisation`,
        )
      }
      await tx
        .updateTable('organization')
        .set({ default_project_max_concurrent_sessions: cap || null })
        .execute()
    }
    return this.getLimits(tx, principal)
  }
}
