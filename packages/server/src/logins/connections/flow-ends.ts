// Ends flows and updates their connection, in the caller's transaction.
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import * as flows from './flow-store.ts'
import * as store from './store.ts'
import { isOver } from './transitions.ts'
import type { FlowRecord } from './types.ts'

/**
 * Errors that may not happen again: the site, the network or the clock caused them. Anything else is a refusal, and
 * another attempt would only lock the account.
 */
const passing: ReadonlySet<string> = new Set([
  'website_error',
  'network_error',
  'browser_error',
  'internal_error',
  'element_not_found',
  'flow_failed',
  'rate_limited',
  'session_expired',
  'totp_code_rejected',
])

export interface FlowEnd {
  readonly error_code: string | null
  readonly error_message: string | null
  readonly website_error?: string | null
}

/** Undefined when it had already ended: the first end counts. Locks the connection, then the flow. */
export async function endFlow(
  tx: Db,
  flowId: string,
  event: 'fails' | 'expires' | 'is_canceled' | 'is_dropped',
  end: FlowEnd,
): Promise<FlowRecord | undefined> {
  const before = await flows.findFlow(tx, flowId)
  if (!before || isOver(before)) return undefined
  const connection = await store.lockConnection(tx, before.connection_id)
  const ended = await flows.transition(tx, flowId, event, end)
  if (!ended) return undefined
  // It started because the profile is logged out, and that has not changed.
  if (connection && ended.type === 'REAUTH') {
    await store.updateConnection(tx, connection.id, {
      status: 'NEEDS_AUTH',
      ...(ended.error_code !== null &&
        event === 'fails' &&
        !passing.has(ended.error_code) && { is_reauth_stopped: true }),
    })
  }
  await announceChange(tx, 'connectionChanged', {
    connectionId: ended.connection_id,
    serverId: ended.server_id,
  })
  return ended
}

/** Why a flow expired, depending on its step. */
export function expiryOf({ step, deadline_at, expires_at }: FlowRecord): FlowEnd {
  const isWait = Date.parse(deadline_at) < Date.parse(expires_at)
  if (isWait && step === 'AWAITING_INPUT') {
    return {
      error_code: 'awaiting_input_timeout',
      error_message: 'Nobody answered the login in time',
    }
  }
  if (isWait && step === 'AWAITING_EXTERNAL_ACTION') {
    return {
      error_code: 'external_action_timeout',
      error_message: 'The action that the login waited for did not happen in time',
    }
  }
  return { error_code: 'session_expired', error_message: 'The login took longer than allowed' }
}
