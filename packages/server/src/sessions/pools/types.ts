import type { Selectable } from 'kysely'
import type { BrowserPoolsTable, PooledBrowserRequest } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'

/** Without the policies, which may be large and are read separately. */
export type PoolRecord = Omit<Selectable<BrowserPoolsTable>, 'sealed_policy'>

/** A pool with the numbers of its waiting and leased browsers. */
export interface CountedPool extends PoolRecord {
  readonly available: number
  readonly acquired: number
}

/** The checked settings of a pool, for its creation and its updates. */
export interface PoolSettings {
  readonly name: string | null
  readonly size: number
  readonly fillRatePerMinute: number
  readonly timeoutSeconds: number
  readonly refreshOnProfileUpdate: boolean
  readonly resetOnRelease: boolean
  readonly browser: PooledBrowserRequest
  readonly telemetry: Selection
}

/** The settings as stored, with the policy sealed. */
export interface StoredSettings extends PoolSettings {
  readonly browser: Omit<PooledBrowserRequest, 'chrome_policy'>
  readonly sealedPolicy: Buffer | null
}

/** The profile and extensions that the pool's browsers use. */
export interface References {
  readonly profileId: string | null
  readonly extensionIds: readonly string[]
}
