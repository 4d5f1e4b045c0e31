import type { OtlpDestination } from '@berth/contracts/telemetry-destinations'
import type { Waiting } from './store.ts'
import type { DestinationRecord } from './types.ts'

export function toOtlpDestination(
  record: DestinationRecord,
  { backlog, expired }: Waiting = { backlog: 0, expired: 0 },
): OtlpDestination {
  return {
    id: record.id,
    name: record.name,
    endpoint: record.endpoint,
    headers: Object.fromEntries(record.header_names.map((name) => [name, ''])),
    ...(record.description !== null && { description: record.description }),
    created_at: record.created_at,
    updated_at: record.updated_at,
    delivery: {
      ...(record.last_success_at !== null && { last_success_at: record.last_success_at }),
      ...(record.last_error !== null && { last_error: record.last_error }),
      ...(record.last_error_at !== null && { last_error_at: record.last_error_at }),
      consecutive_failures: record.consecutive_failures,
      ...(record.next_attempt_at !== null && { next_attempt_at: record.next_attempt_at }),
      backlog_events: backlog,
      delivered_events: Number(record.delivered_events),
      rejected_events: Number(record.rejected_events),
      expired_events: Number(record.expired_events) + expired,
    },
  }
}
