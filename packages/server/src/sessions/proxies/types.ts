import type { Selectable } from 'kysely'
import type { ProxyConfig, ProxyProtocol, ProxyStatus, ProxyType } from '@berth/contracts/proxies'
import type { Db, ProxiesTable } from '../../platform/database/schema.ts'

export type ProxyRecord = Selectable<ProxiesTable>

export interface Credentials {
  readonly username?: string
  readonly password?: string
}

/** What a caller asked for, checked and in the one way to write it. */
export interface ProxyDefinition {
  readonly type: ProxyType
  readonly protocol: ProxyProtocol
  readonly bypassHosts: readonly string[]
  /** Without what is secret. */
  readonly config: ProxyConfig
  readonly credentials: Credentials | null
  readonly caBundle: string | null
}

export interface CheckResult {
  readonly status: ProxyStatus
  /** Where it could be learned. */
  readonly ipAddress: string | undefined
}

/** Something that may use a proxy, and keeps it from being deleted. */
export interface ProxyUse {
  /** Plural, for the message: "browser sessions". */
  readonly what: string
  readonly countUsing: (tx: Db, proxyId: string) => Promise<number>
}
