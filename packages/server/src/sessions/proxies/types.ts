import type { Selectable } from 'kysely'
import type { ProxyConfig, ProxyProtocol, ProxyStatus, ProxyType } from '@berth/contracts/proxies'
import type { Db, ProxiesTable } from '../../platform/database/schema.ts'

export type ProxyRecord = Selectable<ProxiesTable>

export interface Credentials {
  readonly username?: string
  readonly password?: string
}

/** A checked request in canonical form. */
export interface ProxyDefinition {
  readonly type: ProxyType
  readonly protocol: ProxyProtocol
  readonly bypassHosts: readonly string[]
  /** Without secrets. */
  readonly config: ProxyConfig
  readonly credentials: Credentials | null
  readonly caBundle: string | null
}

export interface CheckResult {
  readonly status: ProxyStatus
  /** Undefined when unknown. */
  readonly ipAddress: string | undefined
}

/** A kind of resource that uses proxies. A proxy in use cannot be deleted. */
export interface ProxyUse {
  /** Plural, for the message: "browser sessions". */
  readonly what: string
  readonly countUsing: (tx: Db, proxyId: string) => Promise<number>
}
