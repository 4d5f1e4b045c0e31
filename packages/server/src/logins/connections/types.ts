import type { Selectable } from 'kysely'
import type { Checks, Plan } from '@berth/login/run/memory'
import type { AuthChecksTable, AuthConnectionsTable, AuthFlowsTable } from '../../platform/database/schema.ts'

export interface ConnectionRecord extends Selectable<AuthConnectionsTable> {
  /** The current name. */
  readonly profile_name: string
}

export type FlowRecord = Selectable<AuthFlowsTable>
export type CheckRecord = Selectable<AuthChecksTable>

/** What the last successful login stored. */
export interface Memory {
  readonly plan: Plan | undefined
  readonly checks: Checks
}

/** Time limits of a flow. */
export interface FlowLimits {
  readonly totalSeconds: number
  /** For a person to enter or do something. */
  readonly waitSeconds: number
}
