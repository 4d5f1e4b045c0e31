// Disables a webhook whose receiver is gone, so that nothing is sent to it for ever.
import { newId } from '@berth/kit/ids'
import type { Db } from '../../platform/database/schema.ts'
import { insertAuditRecords } from '../audit/store.ts'
import { disableWebhook, type LockedWebhook } from './delivery-store.ts'
import type { Attempt } from './types.ts'

const DAY_MS = 24 * 3_600_000
/** Every attempt of so many days has failed, */
const MAX_FAILING_DAYS = 5
/** and there were so many. */
const MIN_FAILURES = 20

export type Disabler = 'failures' | 'receiver'

/** In the transaction of a failed attempt; the webhook is as it was before it. Undefined when it stays as it is. */
export async function disableIfHopeless(
  tx: Db,
  webhook: LockedWebhook,
  attempt: Attempt,
): Promise<Disabler | undefined> {
  const by = hopelessBecause(webhook, attempt)
  if (by === undefined) return undefined
  await disableWebhook(tx, webhook.id, by)
  await insertAuditRecords(tx, [recordOf(webhook, by)])
  return by
}

function hopelessBecause(
  { status, consecutive_failures: failures, failing_since: since }: LockedWebhook,
  { isGone }: Attempt,
): Disabler | undefined {
  if (status !== 'enabled') return undefined
  if (isGone) return 'receiver'
  const isLong = since !== null && Date.now() - Date.parse(since) > MAX_FAILING_DAYS * DAY_MS
  return isLong && failures + 1 >= MIN_FAILURES ? 'failures' : undefined
}

/** Like that of a request which disables it, but of the server itself. */
function recordOf({ id, project_id: projectId }: LockedWebhook, by: Disabler) {
  return {
    timestamp: new Date(),
    project_id: projectId,
    key_id: '',
    request_id: newId('req_'),
    service: 'api',
    auth_strategy: 'system',
    user_id: 'system',
    email: '',
    status: 200,
    method: 'PATCH',
    path: `/webhooks/${id}`,
    route: '/webhooks/{id}',
    domain: '',
    duration_ms: 0,
    client_ip: '',
    user_agent:
      by === 'receiver' ? 'disabled: the receiver answered 410' : 'disabled: every delivery failed for days',
    scope: 'webhooks:write',
  }
}
