import type { AuthAgent, AuthInvocation, InvocationStep } from '@berth/contracts/auth-agents'
import type { ManagedAuth } from '@berth/contracts/auth-connections'
import { statusOf } from '../connections/transitions.ts'
import type { ConnectionRecord, FlowRecord } from '../connections/types.ts'
import { toAsked, type FlowLinks } from '../connections/view.ts'

/** The original shows the name of the organisation, and an installation has none. */
const APP_NAME = 'Berth'

export function toAuthAgent(shown: ManagedAuth): AuthAgent {
  const { credential, post_login_url: address } = shown
  return {
    id: shown.id,
    domain: shown.domain,
    profile_name: shown.profile_name,
    status: shown.status,
    ...(shown.last_auth_check_at !== undefined && { last_auth_check_at: shown.last_auth_check_at }),
    ...(credential && { credential }),
    ...(credential?.name !== undefined && { credential_name: credential.name }),
    ...(shown.can_reauth !== undefined && { can_reauth: shown.can_reauth }),
    ...(shown.can_reauth_reason && { can_reauth_reason: shown.can_reauth_reason }),
    ...(shown.allowed_domains && { allowed_domains: shown.allowed_domains }),
    ...(address != null && { post_login_url: address.replace(/[?#].*$/s, '') }),
  }
}

export function toAuthInvocation(
  flow: FlowRecord,
  { domain }: ConnectionRecord,
  links: FlowLinks | undefined,
): AuthInvocation {
  const asked = toAsked(flow.question)
  return {
    app_name: APP_NAME,
    domain,
    target_domain: domain,
    status: statusOf(flow),
    step: stepOf(flow),
    type: typeOf(flow),
    expires_at: flow.expires_at,
    pending_fields: asked.discovered_fields ?? null,
    mfa_options: asked.mfa_options ?? null,
    sign_in_options: asked.sign_in_options ?? null,
    pending_sso_buttons: asked.pending_sso_buttons ?? null,
    external_action_message: asked.external_action_message ?? null,
    error_message: flow.error_message,
    live_view_url: links?.liveViewUrl ?? null,
    sso_provider: flow.sso_provider,
  }
}

export function typeOf({ type }: FlowRecord): 'login' | 'reauth' {
  return type === 'LOGIN' ? 'login' : 'reauth'
}

const steps = {
  DISCOVERING: 'discovering',
  AWAITING_INPUT: 'awaiting_input',
  AWAITING_EXTERNAL_ACTION: 'awaiting_external_action',
  SUBMITTING: 'submitting',
  COMPLETED: 'completed',
} as const satisfies Record<FlowRecord['step'], InvocationStep>

function stepOf({ state, step, browser_id }: FlowRecord): InvocationStep {
  if (state === 'EXPIRED') return 'expired'
  return step === 'DISCOVERING' && browser_id === null ? 'initialized' : steps[step]
}
