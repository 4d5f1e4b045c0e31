// Connections and flows as the API shows them.
import type {
  InputMode,
  ManagedAuth,
  ManagedAuthEvent,
  TimelineEvent,
} from '@berth/contracts/auth-connections'
import { ownHosts } from '@berth/login/hosts/hosts'
import type { AskedChoice, AskedField, Question } from '@berth/login/run/run'
import { isPartyOf } from '../credentials/passkeys.ts'
import type { CredentialStanding } from '../credentials/resolver.ts'
import { reauthOf, type Reauth } from './reauth.ts'
import type { TimelineRecord } from './timeline-store.ts'
import { isOver, statusOf } from './transitions.ts'
import type { CheckRecord, ConnectionRecord, FlowRecord } from './types.ts'

/** Data of a connection that is stored elsewhere. */
export interface ConnectionBelongings {
  readonly flow: FlowRecord | undefined
  /** Undefined when it has none, or when it was deleted. */
  readonly credential: CredentialStanding | undefined
}

/** URLs of a running flow, made for the caller. */
export interface FlowLinks {
  readonly hostedUrl: string
  readonly liveViewUrl: string | undefined
}

export function toManagedAuth(
  record: ConnectionRecord,
  { flow, credential }: ConnectionBelongings,
  links: FlowLinks | undefined,
): ManagedAuth {
  const reauth = reauthFor(record, credential)
  const loginUrl = record.login_url ?? record.learned_login_url
  return {
    id: record.id,
    domain: record.domain,
    profile_name: record.profile_name,
    status: record.status,
    save_credentials: record.save_credentials,
    record_session: record.record_session,
    allowed_domains: record.allowed_domains,
    ...(record.redirect_urls.length > 0 && { redirect_urls: record.redirect_urls }),
    auto_reauth: record.auto_reauth,
    health_checks: record.health_checks,
    health_check_interval: record.health_check_interval,
    can_reauth: reauth.can,
    can_reauth_reason: reauth.reason,
    ...(record.credential !== null && { credential: record.credential }),
    ...(record.sealed_captcha_solver !== null && { has_captcha_solver: true }),
    browser: toBrowser(record),
    ...(record.proxy_id !== null && { proxy_id: record.proxy_id }),
    ...(record.telemetry !== null && { browser_telemetry: record.telemetry }),
    ...(loginUrl !== null && { login_url: loginUrl }),
    ...(record.last_auth_check_at !== null && {
      last_auth_check_at: record.last_auth_check_at,
      last_auth_at: record.last_auth_check_at,
    }),
    flow_status: flow ? statusOf(flow) : null,
    flow_step: flow?.step ?? null,
    flow_type: flow?.type ?? null,
    flow_expires_at: flow?.expires_at ?? null,
    ...toAsked(flow?.question ?? null),
    website_error: flow?.website_error ?? null,
    error_code: flow?.error_code ?? null,
    error_message: flow?.error_message ?? null,
    ...(record.post_login_url !== null && { post_login_url: record.post_login_url }),
    hosted_url: links?.hostedUrl ?? null,
    live_view_url: links?.liveViewUrl ?? null,
    sso_provider: flow?.sso_provider ?? record.sso_provider,
    browser_session_id: flow && !isOver(flow) ? flow.browser_id : null,
    created_at: record.created_at,
  }
}

function toBrowser({
  stealth,
  proxy_id: id,
  proxy_mode: mode,
  telemetry,
}: ConnectionRecord): NonNullable<ManagedAuth['browser']> {
  return {
    stealth,
    ...(id !== null && { proxy: { id } }),
    ...(mode !== null && { proxy: { mode } }),
    ...(telemetry !== null && { telemetry }),
  }
}

export function reauthFor(record: ConnectionRecord, credential: CredentialStanding | undefined): Reauth {
  return reauthOf({
    hasSucceeded: record.last_success_at !== null,
    credential,
    requirements: record.requirements,
    hasPlan: record.has_plan,
    hasPasskey: credential?.passkeyRpIds?.some((rpId) => isPartyOf(rpId, ownHosts(record.domain))) ?? false,
    hasSolver: record.sealed_captcha_solver !== null,
  })
}

/** Omits absent fields: readers rely on what is missing. */
export function toStateEvent(
  flow: FlowRecord,
  { postLoginUrl, links }: { postLoginUrl: string | null; links: FlowLinks | undefined },
): ManagedAuthEvent {
  const asked = Object.entries(toAsked(flow.question)).filter(([, value]) => value !== null)
  return {
    event: 'managed_auth_state',
    timestamp: flow.updated_at,
    flow_status: statusOf(flow),
    flow_step: flow.step,
    flow_type: flow.type,
    ...Object.fromEntries(asked),
    ...(flow.website_error !== null && { website_error: flow.website_error }),
    ...(flow.error_code !== null && { error_code: flow.error_code }),
    ...(flow.error_message !== null && { error_message: flow.error_message }),
    ...(flow.state === 'SUCCESS' && postLoginUrl !== null && { post_login_url: postLoginUrl }),
    ...(links && { hosted_url: links.hostedUrl }),
    ...(links?.liveViewUrl !== undefined && { live_view_url: links.liveViewUrl }),
  }
}

type Asked = Pick<
  ManagedAuth,
  | 'fields'
  | 'choices'
  | 'discovered_fields'
  | 'mfa_options'
  | 'sign_in_options'
  | 'pending_sso_buttons'
  | 'interaction_id'
  | 'external_action_message'
>

const nothingAsked: Asked = {
  fields: null,
  choices: null,
  discovered_fields: null,
  mfa_options: null,
  sign_in_options: null,
  pending_sso_buttons: null,
  interaction_id: null,
  external_action_message: null,
}

/** One question in both formats: the current one and that of older clients. */
export function toAsked(question: Question | null): Asked {
  if (!question) return nothingAsked
  const { fields, choices } = question
  const kinds = Map.groupBy(choices, sortOf)
  return {
    fields: orNull(
      fields.map((field) => ({
        id: field.id,
        ref: field.ref,
        type: field.kind,
        label: field.label,
        required: field.isRequired,
        reason: field.replacesExisting ? 'rejected' : 'missing',
        ...(field.hint !== undefined && { hint: field.hint }),
        ...inputModeOf(field),
        observed_selector: field.selector,
        replace_existing: field.replacesExisting,
      })),
    ),
    choices: orNull(
      choices.map((choice) => ({
        id: choice.id,
        type: choice.kind,
        label: choice.label,
        ...describedBy(choice),
        context: choice.description ?? null,
        display_text: choice.label,
        masked_destination: choice.target ?? null,
        mfa_type: choice.mfaType ?? (choice.kind === 'mfa_method' ? 'other' : null),
        observed_selector: choice.selector,
      })),
    ),
    discovered_fields: orNull(
      fields.map((field) => ({
        name: field.id,
        type: field.inputType,
        label: field.label,
        selector: field.selector,
        required: field.isRequired,
        ...(field.placeholder !== undefined && { placeholder: field.placeholder }),
        ...(field.hint !== undefined && { hint: field.hint }),
        ...(field.linkedMfaType !== undefined && { linked_mfa_type: field.linkedMfaType }),
        ...(field.replacesExisting && { replace_existing: true }),
      })),
    ),
    mfa_options: orNull(
      (kinds.get('mfa') ?? []).map((choice) => ({
        type: choice.mfaType ?? 'switch',
        label: choice.label,
        ...(choice.target !== undefined && { target: choice.target }),
        ...(choice.description !== undefined && { description: choice.description }),
      })),
    ),
    sign_in_options: orNull(
      (kinds.get('sign-in') ?? []).map((choice) => ({
        id: choice.id,
        label: choice.label,
        ...(choice.description !== undefined && { description: choice.description }),
      })),
    ),
    pending_sso_buttons: orNull(
      (kinds.get('sso') ?? []).map((choice) => ({
        provider: choice.provider ?? choice.label,
        label: choice.label,
        selector: choice.xpath,
      })),
    ),
    interaction_id: question.interactionId,
    external_action_message: question.externalAction ?? null,
  }
}

/** The keyboard that fits. A password is typed on the usual one. */
function inputModeOf({ kind, ref, inputType }: AskedField): { input_mode?: InputMode } {
  // Backup codes have letters.
  if (kind === 'code' || kind === 'totp_code') {
    return { input_mode: ref.startsWith('backup') ? 'text' : 'numeric' }
  }
  switch (inputType) {
    case 'email':
    case 'tel':
    case 'text':
      return { input_mode: inputType }
    case 'number':
      return { input_mode: 'numeric' }
    default:
      return {}
  }
}

/** If there is only a masked number or address, it is the description. */
function describedBy({ description, target }: AskedChoice): { description?: string } {
  const text = description ?? target
  return text === undefined ? {} : { description: text }
}

/** The list of the older format that contains it. */
export function sortOf({ kind }: AskedChoice): 'mfa' | 'sso' | 'sign-in' {
  if (kind === 'mfa_method') return 'mfa'
  return kind === 'sso_provider' ? 'sso' : 'sign-in'
}

function orNull<T>(items: T[]): T[] | null {
  return items.length > 0 ? items : null
}

export function toTimelineEvent(entry: TimelineRecord): TimelineEvent {
  return entry.kind === 'flow' ? ofFlow(entry.flow) : ofCheck(entry.check)
}

function ofFlow(flow: FlowRecord): TimelineEvent {
  return {
    id: flow.id,
    type: flow.type === 'LOGIN' ? 'login' : 'reauth',
    timestamp: flow.created_at,
    status: statusOf(flow),
    step: flow.step,
    ...(flow.error_code !== null && { error_code: flow.error_code }),
    ...(flow.error_message !== null && { error_message: flow.error_message }),
    ...(flow.website_error !== null && { website_error: flow.website_error }),
    ...ofBrowser(flow),
    updated_at: flow.updated_at,
  }
}

function ofCheck(check: CheckRecord): TimelineEvent {
  const seen = { in: 'AUTHENTICATED', out: 'NEEDS_AUTH', inconclusive: check.previous_status } as const
  return {
    id: check.id,
    type: 'health_check',
    timestamp: check.created_at,
    status: seen[check.result],
    previous_status: check.previous_status,
    ...(check.result === 'inconclusive' && { error_code: 'inconclusive', error_message: check.reason }),
    ...ofBrowser(check),
  }
}

function ofBrowser(
  record: Pick<FlowRecord, 'browser_id' | 'replay_id' | 'telemetry_captured'>,
): Partial<TimelineEvent> {
  return {
    ...(record.browser_id !== null && {
      browser_session_id: record.browser_id,
      telemetry_captured: record.telemetry_captured,
    }),
    ...(record.replay_id !== null && { replay_id: record.replay_id }),
  }
}
