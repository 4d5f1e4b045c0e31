import type { Selectable } from 'kysely'
import type { BrowsersTable } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'

export type BrowserRecord = Selectable<BrowsersTable>

/** The columns that cleanup needs of a row that has just ended. */
export type EndedBrowser = Pick<BrowserRecord, 'id' | 'profile_id'>

export interface Viewport {
  readonly width: number
  readonly height: number
  readonly refreshRate: number
}

/** A checked request with its defaults filled in. */
export interface NewBrowser {
  readonly projectId: string
  readonly name: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly headless: boolean
  readonly stealth: boolean
  readonly gpu: boolean
  readonly kioskMode: boolean
  readonly timeoutSeconds: number
  /** Silence after which the session goes on standby although clients are connected; null disables this. */
  readonly standbyAfterSeconds: number | null
  readonly viewport: Viewport
  readonly startUrl: string | null
  readonly proxyId: string | null
  readonly isDefaultProxyDisabled: boolean
  /** Null when not set. */
  readonly privateHosts: readonly string[] | null
  /** Of this server. */
  readonly region: string
  readonly memoryMb: number
  /** Null for the default of the instance. */
  readonly locale: string | null
  readonly timezone: string | null
  readonly hasChromePolicy: boolean
  /** Null captures nothing. */
  readonly telemetry: Selection
}

/** Omitted fields stay unchanged. */
export interface ProxyChange {
  readonly proxyId?: string | null
  readonly isDefaultProxyDisabled?: boolean
}
