// The audit data http reports for each request. It does not know how records are stored.
import type { Db } from '../platform/database/schema.ts'

export interface RequestRecord {
  readonly timestamp: Date
  /** Null for a request to the whole organisation. */
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
  readonly scope: string
}

export interface RequestAudit {
  /** Writes the record in the transaction of the change, so no change lacks a record. */
  recordIn(tx: Db, record: RequestRecord): Promise<void>
  /** For reads and refusals: queues the record to be written soon. */
  record(record: RequestRecord): void
}
