// What a login is given, what it says while it goes on, and what it comes to. Nothing here knows of rows or servers.
import type { ChoiceKind, FieldKind, MfaType } from '@berth/contracts/auth-connections'
import type { PageActions } from './page-actions.ts'
import type { Checks, Plan } from './memory.ts'

export type { ChoiceKind, FieldKind, MfaType }

/** Something that the person is to fill in. */
export interface AskedField {
  /** Names it within this question; stable for a page that is shown again. */
  readonly id: string
  /** Under which its value is kept in a credential, such as `email` or `company_id`. */
  readonly ref: string
  readonly kind: FieldKind
  /** As old clients know it. */
  readonly inputType: 'text' | 'email' | 'password' | 'tel' | 'number' | 'url' | 'code' | 'totp'
  readonly label: string
  readonly placeholder: string | undefined
  readonly hint: string | undefined
  readonly isRequired: boolean
  readonly linkedMfaType: MfaType | undefined
  /** The page refused what was there before. */
  readonly replacesExisting: boolean
  readonly selector: string
}

export interface AskedChoice {
  readonly id: string
  readonly kind: ChoiceKind
  readonly label: string
  readonly description: string | undefined
  /** Of an mfa_method. */
  readonly mfaType: MfaType | undefined
  /** Of an mfa_method: a masked number or address. */
  readonly target: string | undefined
  /** Of an sso_provider, such as `google`. */
  readonly provider: string | undefined
  /** CSS, and XPath. */
  readonly selector: string
  readonly xpath: string
}

/** What a login waits for. */
export interface Question {
  /** Another one for every question: a submission for an earlier one is refused. */
  readonly interactionId: string
  readonly fields: readonly AskedField[]
  readonly choices: readonly AskedChoice[]
  /** Set where the person has to do something elsewhere: approve a push, open a link. */
  readonly externalAction: string | undefined
  /** What the website says is wrong, in its own words, without any value of ours. */
  readonly websiteError: string | undefined
}

export type RunState =
  | { readonly step: 'DISCOVERING' }
  | { readonly step: 'SUBMITTING' }
  | { readonly step: 'AWAITING_INPUT' | 'AWAITING_EXTERNAL_ACTION'; readonly question: Question }

/** By field id; or a choice by its id, with fields that belong to it at most. */
export interface Submission {
  readonly interactionId: string
  readonly values: Readonly<Record<string, string>>
  readonly choiceId: string | undefined
}

export interface OneTimeCode {
  readonly code: string
  /** Lies ahead for a code of a later window: it is worth waiting until then. */
  readonly validFrom: Date
  readonly expiresAt: Date
}

/** What is known beforehand. */
export interface KnownValues {
  /** By ref, such as `email`, `username`, `password`, `company_id`. */
  readonly values: Readonly<Record<string, string>>
  /** The code of this moment; `notBefore` asks for one of a later window than that, which may not count yet. */
  readonly totp: ((notBefore?: Date) => OneTimeCode) | undefined
  /** Click this provider's button first, and fill in at the provider. */
  readonly ssoProvider: string | undefined
}

/** What a flow needed, in order, of a person or a credential. */
export const requirements = [
  'identifier',
  'password',
  'text',
  'totp',
  'sms_code',
  'email_code',
  'code',
  'choice',
  'external_action',
] as const
export type Requirement = (typeof requirements)[number]

export const failureCodes = [
  'credentials_invalid',
  'totp_code_rejected',
  'totp_required',
  'sms_code_required',
  'email_code_required',
  'account_choice_required',
  'customer_input_required',
  'external_action_required',
  'account_locked',
  'unsupported_auth_method',
  'rate_limited',
  'website_error',
  'bot_detected',
  'captcha_blocked',
  'login_form_not_found',
  'navigation_confused',
  'domain_not_allowed',
  'stuck_in_loop',
  'max_attempts_reached',
  'max_steps_exceeded',
  'network_error',
  'element_not_found',
  'browser_error',
  'awaiting_input_timeout',
  'external_action_timeout',
  'session_expired',
  'no_active_flow',
  'flow_failed',
  'mfa_required',
  'internal_error',
] as const
export type FailureCode = (typeof failureCodes)[number]

export interface LoginOptions {
  readonly pageActions: PageActions
  /** Such as `example.com` or `intranet.example:8443`. */
  readonly domain: string
  readonly loginUrl: string | undefined
  /** Besides the domain and the usual identity providers. */
  readonly allowedDomains: readonly string[]
  readonly known: KnownValues | undefined
  /** Otherwise nobody is there to answer: what is missing ends it with its own code. */
  readonly isAttended: boolean
  /** Of the last success. */
  readonly plan: Plan | undefined
  readonly checks: Checks | undefined
  readonly onState: (state: RunState) => void
  /** Resolves with what the person submits; rejects when the signal fires. */
  readonly submitted: (question: Question, signal: AbortSignal) => Promise<Submission>
  readonly signal: AbortSignal
}

export type LoginOutcome =
  | {
      readonly isSuccess: true
      readonly postLoginUrl: string
      /** Where the login page was found. */
      readonly loginUrl: string
      readonly plan: Plan | undefined
      readonly checks: Checks
      readonly requirements: readonly Requirement[]
      /** What was typed, by ref, to be kept in a credential; no one-time codes. */
      readonly values: Readonly<Record<string, string>>
      readonly ssoProvider: string | undefined
    }
  | {
      readonly isSuccess: false
      readonly code: FailureCode
      readonly message: string
      readonly websiteError: string | undefined
    }

export type CheckOutcome = {
  readonly result: 'in' | 'out' | 'inconclusive'
  /** For people. */
  readonly reason: string
  readonly url: string
}
