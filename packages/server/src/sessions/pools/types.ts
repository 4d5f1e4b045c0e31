import type { Selectable } from 'kysely'
import type { BrowserPoolsTable, PooledBrowserRequest } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'

/** Its policies, which may be large, are read apart. */
export type PoolRecord = Omit<Selectable<BrowserPoolsTable>, 'sealed_policy'>

/** With how many of its browsers wait, and how many are leased. */
export interface CountedPool extends PoolRecord {
  readonly available: number
  readonly acquired: number
}

/** All that a pool is, checked; what its making and its changes write. */
export interface PoolSettings {
  readonly name: string | null
  readonly size: number
  readonly fillRatePerMinute: number
  readonly timeoutSeconds: number
  readonly refreshOnProfileUpdate: boolean
  readonly browser: PooledBrowserRequest
  readonly telemetry: Selection
}

/** As it is written. */
export interface StoredSettings extends PoolSettings {
  readonly browser: Omit<PooledBrowserRequest, 'chrome_policy'>
  readonly sealedPolicy: Buffer | null
}

/** What its browsers refer to, by id. */
export interface References {
  readonly profileId: string | null
  readonly extensionIds: readonly string[]
}
