import type { Duplex } from 'node:stream'
import type { Selectable } from 'kysely'
import type { WebhookDeliveriesTable, WebhooksTable } from '../../platform/database/schema.ts'

/** Listed explicitly: a new column changes no prepared statement. */
export const webhookColumns = [
  'id',
  'project_id',
  'url',
  'description',
  'event_types',
  'status',
  'disabled_by',
  'sealed_secret',
  'sealed_old_secret',
  'old_secret_until',
  'consecutive_failures',
  'failing_since',
  'last_success_at',
  'last_error',
  'last_error_at',
  'dropped_events',
  'last_dropped_at',
  'created_at',
  'updated_at',
  'deleted_at',
] as const
export type WebhookRecord = Pick<Selectable<WebhooksTable>, (typeof webhookColumns)[number]>

export const deliveryColumns = [
  'seq',
  'event_id',
  'event_type',
  'subject',
  'data',
  'state',
  'attempts',
  'created_at',
  'next_attempt_at',
  'finished_at',
] as const
export type DeliveryRecord = Pick<Selectable<WebhookDeliveriesTable>, (typeof deliveryColumns)[number]>

/** What a receiver verifies requests with. */
export interface Secrets {
  readonly current: string
  /** From before a rotation, while it still counts. */
  readonly old: string | undefined
}

/** What is sent. */
export interface Message {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly data: object
}

/** How one attempt went. */
export interface Attempt {
  readonly startedAt: Date
  readonly durationMs: number
  /** Null when no answer came. */
  readonly status: number | null
  readonly answer: string | null
  /** Null when the receiver accepted the event. */
  readonly error: string | null
  /** Not before that, says the receiver. */
  readonly retryAfterMs?: number
  /** The receiver wants no more events. */
  readonly isGone?: true
}

/** The rules for connections to addresses that projects choose. */
export interface WebhookNetwork {
  /** Why the address cannot be used; undefined if it can. */
  refusalOf(url: URL, signal: AbortSignal): Promise<string | undefined>
  /** Rejects with Unreachable, or with the signal's reason. */
  connect(url: URL, signal: AbortSignal): Promise<Duplex>
}

/** Its message may be shown to the owner of the webhook. */
export class Unreachable extends Error {}
