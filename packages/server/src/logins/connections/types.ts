import type { Selectable } from 'kysely'
import type { Checks, Plan } from '@berth/login/memory'
import type { AuthChecksTable, AuthConnectionsTable, AuthFlowsTable } from '../../platform/database/schema.ts'

export interface ConnectionRecord extends Selectable<AuthConnectionsTable> {
  /** As it is called now. */
  readonly profile_name: string
}

export type FlowRecord = Selectable<AuthFlowsTable>
export type CheckRecord = Selectable<AuthChecksTable>

/** What the last success left. */
export interface Memory {
  readonly plan: Plan | undefined
  readonly checks: Checks
}

/** How long a flow may take. */
export interface FlowLimits {
  readonly totalSeconds: number
  /** For somebody to fill in or to do something. */
  readonly waitSeconds: number
}
