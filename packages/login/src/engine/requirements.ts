// What a login needs from the user or a credential: recorded when available, and the reason for a failure when not.
import type { ReadChoice, ReadField } from '../rules/reading.ts'
import type { Requirement } from '../run/run.ts'
import { LoginFailed } from './failure.ts'
import { isCode } from './values.ts'

export function requirementOf(
  field: ReadField,
  { wasTotp, wasMail }: { wasTotp: boolean; wasMail: boolean },
): Requirement {
  if (field.kind === 'identifier' || field.kind === 'password' || field.kind === 'text') return field.kind
  if (wasTotp) return 'totp'
  if (wasMail) return 'email_code'
  if (field.mfaType === 'sms') return 'sms_code'
  if (field.mfaType === 'email') return 'email_code'
  return field.mfaType === 'totp' ? 'totp' : 'code'
}

/** Why the login cannot continue without the user. */
export function lacking(missing: readonly ReadField[]): LoginFailed {
  const code = missing.find((field) => isCode(field))
  const names = missing.map(({ label }) => `"${label}"`).join(', ')
  if (!code || code.ref.startsWith('backup')) {
    return new LoginFailed(
      'customer_input_required',
      `The website asks for ${names}, which the credential does not contain`,
    )
  }
  if (code.mfaType === 'sms')
    return new LoginFailed('sms_code_required', 'The website asks for a code that it sent to the phone')
  if (code.mfaType === 'email')
    return new LoginFailed('email_code_required', 'The website asks for a code that it sent by email')
  return new LoginFailed(
    'totp_required',
    'The website asks for a one-time code, and the credential has no TOTP secret',
  )
}

/** Why the login does not type what the credential contains. */
export function withheld(origin: string): LoginFailed {
  const host = URL.parse(origin)?.host || 'this page'
  return new LoginFailed(
    'domain_not_allowed',
    `Cannot log in at ${host}: the credential is not for it. Add the host to the item's URLs at its provider, or with an organisation-wide key to the credential's allowed_domains`,
  )
}

/** Why the login cannot choose without the user. */
export function undecided(choices: readonly ReadChoice[]): LoginFailed {
  const has = (type: string) => choices.some(({ mfaType }) => mfaType === type)
  if (choices.some(({ kind }) => kind === 'account')) {
    return new LoginFailed('account_choice_required', 'The website asks which account to use')
  }
  if (has('totp'))
    return new LoginFailed(
      'totp_required',
      'The website asks for a second factor, and the credential has no TOTP secret',
    )
  if (has('sms') || has('call'))
    return new LoginFailed(
      'sms_code_required',
      'The website asks for a second factor that it sends to the phone',
    )
  if (has('email'))
    return new LoginFailed(
      'email_code_required',
      'The website asks for a second factor that it sends by email',
    )
  if (has('push'))
    return new LoginFailed(
      'external_action_required',
      'The website asks for a second factor on another device',
    )
  return new LoginFailed(
    'customer_input_required',
    'The website asks for a choice that only the user can make',
  )
}
