import type { Selectable } from 'kysely'
import type { BrowsersTable } from '../../platform/database/schema.ts'
import type { Selection } from '../telemetry/selection.ts'

export type BrowserRecord = Selectable<BrowsersTable>

/** What is to be known of one whose row has just ended. */
export type EndedBrowser = Pick<BrowserRecord, 'id' | 'profile_id'>

export interface Viewport {
  readonly width: number
  readonly height: number
  readonly refreshRate: number
}

/** What a caller asked for, checked and with its defaults filled in. */
export interface NewBrowser {
  readonly projectId: string
  readonly name: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly headless: boolean
  readonly stealth: boolean
  readonly gpu: boolean
  readonly kioskMode: boolean
  readonly timeoutSeconds: number
  /** Silence after which it sleeps although clients are connected; null: then never. */
  readonly standbyAfterSeconds: number | null
  readonly viewport: Viewport
  readonly startUrl: string | null
  readonly proxyId: string | null
  /** Null: what an instance has by itself. */
  readonly locale: string | null
  readonly timezone: string | null
  readonly hasChromePolicy: boolean
  /** What is captured; null: nothing. */
  readonly telemetry: Selection
}

/** What is left out stays. */
export interface ProxyChange {
  readonly proxyId?: string | null
  readonly isDefaultProxyDisabled?: boolean
}
