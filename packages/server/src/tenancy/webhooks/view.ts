import type { Webhook, WebhookAttempt, WebhookDelivery } from '@berth/contracts/webhooks'
import type { DeliveryRecord, Message, WebhookRecord } from './types.ts'

export function toWebhook(record: WebhookRecord, now = Date.now()): Webhook {
  const { old_secret_until: oldUntil } = record
  return {
    id: record.id,
    project_id: record.project_id,
    url: record.url,
    ...(record.description !== null && { description: record.description }),
    event_types: record.event_types,
    status: record.status,
    ...(record.disabled_by !== null && { disabled_by: record.disabled_by }),
    ...(oldUntil !== null && Date.parse(oldUntil) > now && { old_secret_until: oldUntil }),
    consecutive_failures: record.consecutive_failures,
    ...(record.failing_since !== null && { failing_since: record.failing_since }),
    ...(record.last_success_at !== null && { last_success_at: record.last_success_at }),
    ...(record.last_error !== null && { last_error: record.last_error }),
    ...(record.last_error_at !== null && { last_error_at: record.last_error_at }),
    dropped_events: Number(record.dropped_events),
    ...(record.last_dropped_at !== null && { last_dropped_at: record.last_dropped_at }),
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}

export function toDelivery(record: DeliveryRecord): WebhookDelivery {
  return {
    id: record.event_id,
    type: record.event_type,
    subject: record.subject,
    state: record.state,
    attempts: record.attempts,
    created_at: record.created_at,
    ...(record.state === 'pending' && { next_attempt_at: record.next_attempt_at }),
    ...(record.finished_at !== null && { finished_at: record.finished_at }),
  }
}

export function toEvent(record: DeliveryRecord): Omit<Message, 'id'> {
  return { type: record.event_type, timestamp: record.created_at, data: record.data }
}

export function toAttempt(row: WebhookAttempt): WebhookAttempt {
  const { number, started_at, duration_ms, status, answer, error } = row
  return { number, started_at, duration_ms, status, answer, error }
}
