import type { OrganizationLimits } from '@berth/contracts/organization'
import type { Db } from '../../platform/database/schema.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'

/** The operator's limits for the whole organisation. They are settings, not rows. */
export interface Ceilings {
  readonly maxConcurrentSessions: number
  readonly maxConcurrentInvocations: number
  readonly maxPooledSessions: number
}

export class OrganizationService {
  readonly #ceilings: Ceilings

  constructor(ceilings: Ceilings) {
    this.#ceilings = ceilings
  }

  async getLimits(db: Db): Promise<OrganizationLimits> {
    const row = await db
      .selectFrom('organization')
      .select('default_project_max_concurrent_sessions')
      .executeTakeFirstOrThrow()
    return {
      max_concurrent_sessions: this.#ceilings.maxConcurrentSessions,
      max_concurrent_invocations: this.#ceilings.maxConcurrentInvocations,
      max_pooled_sessions: this.#ceilings.maxPooledSessions,
      default_project_max_concurrent_sessions: row.default_project_max_concurrent_sessions,
    }
  }

  async updateLimits(
    tx: Db,
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
    return this.getLimits(tx)
  }
}
