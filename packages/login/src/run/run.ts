// Input, progress and outcome of a login, independent of databases and servers.
import type { ChoiceKind, FieldKind, MfaType } from '@berth/contracts/auth-connections'
import type { Passkey } from '@berth/contracts/page-snapshot'
import type { PageActions } from './page-actions.ts'
import type { SolveCaptcha } from './captcha.ts'
import type { Mailbox } from './mailbox.ts'
import type { Checks, Plan } from './memory.ts'
import type { ExplainedStep } from './step.ts'

export type { ChoiceKind, FieldKind, MfaType, Passkey }

/** A field that the user must fill in. */
export interface AskedField {
  /** Unique within the question. Stays the same when the page is shown again. */
  readonly id: string
  /** Name of the value in a credential, such as `email` or `company_id`. */
  readonly ref: string
  readonly kind: FieldKind
  /** Type in the format of old clients. */
  readonly inputType: 'text' | 'email' | 'password' | 'tel' | 'number' | 'url' | 'code' | 'totp'
  readonly label: string
  readonly placeholder: string | undefined
  readonly hint: string | undefined
  readonly isRequired: boolean
  readonly linkedMfaType: MfaType | undefined
  /** The page rejected the previous value. */
  readonly replacesExisting: boolean
  readonly selector: string
}

export interface AskedChoice {
  readonly id: string
  readonly kind: ChoiceKind
  readonly label: string
  readonly description: string | undefined
  /** Only for an mfa_method. */
  readonly mfaType: MfaType | undefined
  /** Only for an mfa_method: a masked phone number or email address. */
  readonly target: string | undefined
  /** Only for an sso_provider, such as `google`. */
  readonly provider: string | undefined
  /** CSS selector. */
  readonly selector: string
  readonly xpath: string
}

/** The input that a login waits for. */
export interface Question {
  /** Unique for each question. A submission for an earlier question is rejected. */
  readonly interactionId: string
  readonly fields: readonly AskedField[]
  readonly choices: readonly AskedChoice[]
  /** What the user must do elsewhere, such as approve a push notification or open a link. */
  readonly externalAction: string | undefined
  /** Error message of the website, without our values. */
  readonly websiteError: string | undefined
}

export type RunState =
  | { readonly step: 'DISCOVERING' }
  | { readonly step: 'SUBMITTING' }
  | { readonly step: 'AWAITING_INPUT' | 'AWAITING_EXTERNAL_ACTION'; readonly question: Question }

/** Values by field id, or a choice by its id. */
export interface Submission {
  readonly interactionId: string
  readonly values: Readonly<Record<string, string>>
  readonly choiceId: string | undefined
}

export interface OneTimeCode {
  readonly code: string
  /** In the future for a code of a later time window. Wait until then. */
  readonly validFrom: Date
  readonly expiresAt: Date
}

/** Values that are known before the login starts. */
export interface KnownValues {
  /** Values by ref, such as `email`, `username`, `password`, `company_id`. */
  readonly values: Readonly<Record<string, string>>
  /** The current one-time code. With `notBefore`, the code of the next time window after that moment. */
  readonly totp: ((notBefore?: Date) => OneTimeCode) | undefined
  /** Where codes and links arrive that the website sends by mail. */
  readonly mailbox?: Mailbox | undefined
  /** Only mails to this address count, if it is set. */
  readonly mailAddress?: string | undefined
  /** Click the button of this provider first, and fill in the values at the provider. */
  readonly ssoProvider: string | undefined
  /**
   * Host patterns of the places where the values and codes may be typed. The credential says so itself: whoever chooses
   * the login page cannot add to them.
   */
  readonly hosts: readonly string[]
  /** Keys of the credential. They answer for the user on pages of `hosts`. */
  readonly passkeys?: readonly Passkey[]
}

/** What a login does about passkeys, besides using those of the credential. */
export interface PasskeyWishes {
  /** Whether those that the website makes are kept. Otherwise it makes none. */
  readonly areKept: boolean
  /** Where the website may make them. */
  readonly hosts: readonly string[]
  /** The login goes on, once its person is signed in, until they have added one. */
  readonly isWanted: boolean
  /** Resolves when the news are stored. */
  readonly onChange: (news: PasskeyNews) => Promise<void>
}

export interface PasskeyNews {
  /** By the website, while its person was there. */
  readonly made: readonly Passkey[]
  readonly used: readonly Passkey[]
}

/** Cookies and local storage that a person exported from their own browser. */
export interface ImportedSession {
  readonly cookies: readonly {
    readonly name: string
    readonly value: string
    readonly host: string
    readonly isHostOnly: boolean
    readonly path: string
    readonly isSecure: boolean
    readonly isHttpOnly: boolean
    readonly sameSite?: 'Strict' | 'Lax' | 'None'
    /** Seconds since 1970. Absent for a cookie of the session. */
    readonly expires?: number
  }[]
  readonly origins: readonly {
    readonly origin: string
    readonly items: readonly { readonly name: string; readonly value: string }[]
  }[]
}

/** What a flow can need from the user or a credential. */
export const requirements = [
  'identifier',
  'password',
  'text',
  'totp',
  'sms_code',
  'email_code',
  'email_link',
  'code',
  'choice',
  'captcha',
  'external_action',
  'passkey',
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
  'imported_session_rejected',
  'internal_error',
] as const
export type FailureCode = (typeof failureCodes)[number]

export interface LoginOptions {
  readonly pageActions: PageActions
  /** Such as `example.com` or `intranet.example:8443`. */
  readonly domain: string
  readonly loginUrl: string | undefined
  /** Allowed in addition to the domain and the usual identity providers. */
  readonly allowedDomains: readonly string[]
  readonly known: KnownValues | undefined
  /** Whether a user can answer questions. If not, a missing value ends the login. */
  readonly isAttended: boolean
  /** From the last successful login. */
  readonly plan: Plan | undefined
  readonly checks: Checks | undefined
  /** Instead of a login: put these into the browser, and see whether the website takes them. */
  readonly imported?: ImportedSession | undefined
  readonly passkeys?: PasskeyWishes | undefined
  readonly onState: (state: RunState) => void
  /** Called with each decision, when it is known what became of it. Contains no value that anybody typed. */
  readonly onStep?: ((step: ExplainedStep) => void) | undefined
  /** Resolves with the submission of the user. Rejects when the signal fires. */
  readonly submitted: (question: Question, signal: AbortSignal) => Promise<Submission>
  /** Absent: only a person solves captchas. */
  readonly solveCaptcha?: SolveCaptcha | undefined
  readonly signal: AbortSignal
}

export type LoginOutcome =
  | {
      readonly isSuccess: true
      readonly postLoginUrl: string
      /** Where the login page was found. Empty if it was not seen. */
      readonly loginUrl: string
      readonly plan: Plan | undefined
      readonly checks: Checks
      readonly requirements: readonly Requirement[]
      /** Values that the user typed, by ref, to store in a credential. Contains no one-time codes and no known values. */
      readonly values: Readonly<Record<string, string>>
      /** Hosts where the user's values were typed. Absent in outcomes of older servers. */
      readonly typedAt?: readonly string[]
      readonly ssoProvider: string | undefined
      /** Keys that the website made, to store in a credential. */
      readonly passkeys?: readonly Passkey[]
    }
  | {
      readonly isSuccess: false
      readonly code: FailureCode
      readonly message: string
      readonly websiteError: string | undefined
    }

export type CheckOutcome = {
  readonly result: 'in' | 'out' | 'inconclusive'
  /** Human-readable. */
  readonly reason: string
  readonly url: string
}
