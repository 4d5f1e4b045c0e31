// What http tells of each request. Who keeps it, and how, is for others to know.
import type { Db } from '../platform/database/schema.ts'

export interface RequestRecord {
  readonly timestamp: Date
  /** Null: the request was for the whole organisation. */
  readonly project_id: string | null
  readonly key_id: string
  readonly request_id: string
  readonly service: string
  readonly auth_strategy: string
  readonly user_id: string
  readonly email: string
  readonly status: number
  readonly method: string
  readonly path: string
  readonly route: string
  readonly domain: string
  readonly duration_ms: number
  readonly client_ip: string
  readonly user_agent: string
}

export interface RequestAudit {
  /** In the transaction of a change, so that there is no change without a record. */
  recordIn(tx: Db, record: RequestRecord): Promise<void>
  /** For reads and refusals: written soon. */
  record(record: RequestRecord): void
}
