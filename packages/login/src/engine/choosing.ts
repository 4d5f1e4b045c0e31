// Choices that the login makes without the user: the credential names it, the account is known, or there is only one option.
import { fold } from '../words/match.ts'
import { emailWords, passwordWords } from '../words/fields.ts'
import type { ReadChoice, Reading } from '../rules/reading.ts'
import type { KnownValues } from '../run/run.ts'
import type { Values } from './values.ts'

export interface Knowledge {
  readonly known: KnownValues | undefined
  readonly values: Values
  /** Earlier clicks, each as a key of page and choice. */
  readonly clicked: ReadonlySet<string>
  readonly planned: ReadChoice | undefined
  readonly hasSentPassword: boolean
}

export function ownChoice(
  { choices, form }: Reading,
  { known, values, clicked, planned, hasSentPassword }: Knowledge,
): ReadChoice | undefined {
  const wasClicked = ({ kind, provider, label }: ReadChoice) =>
    [...clicked].some((key) => key.includes(` ${kind} ${provider ?? label} `))
  const open = choices.filter((choice) => !wasClicked(choice))
  const provider = known?.ssoProvider?.toLowerCase()
  const sso =
    provider === undefined
      ? undefined
      : open.find((choice) => choice.kind === 'sso_provider' && isProvider(choice, provider))
  if (sso) return sso
  // After the password, all listed accounts belong to the same user, so the user must choose.
  const accounts = hasSentPassword ? [] : open.filter(({ kind }) => kind === 'account')
  const mine = accounts.filter(({ label }) =>
    values.identifiers.some((value) => fold(label).includes(fold(value))),
  )
  if (mine.length === 1) return mine[0]
  const method = ownMethod(open, { known, values, isAtForm: form !== undefined })
  if (method) return method
  // A choice that sends a message to the user is not repeated from the plan.
  const isQuiet =
    planned &&
    planned.mfaType !== 'sms' &&
    planned.mfaType !== 'call' &&
    planned.mfaType !== 'email' &&
    planned.mfaType !== 'push'
  return planned && isQuiet && open.includes(planned) && !form ? planned : undefined
}

function isProvider({ provider, label }: ReadChoice, wanted: string): boolean {
  return provider === wanted || fold(label).includes(fold(wanted))
}

function ownMethod(
  open: readonly ReadChoice[],
  { known, values, isAtForm }: { known: KnownValues | undefined; values: Values; isAtForm: boolean },
): ReadChoice | undefined {
  if (known?.totp) {
    const totp = open.find(({ mfaType }) => mfaType === 'totp')
    if (totp) return totp
  }
  if (known?.mailbox) {
    const mail = open.find(({ mfaType }) => mfaType === 'email')
    if (mail) return mail
  }
  if (values.hasPassword) {
    const password = open.find(
      ({ kind, mfaType, label }) =>
        mfaType === 'password' ||
        ((kind === 'auth_method' || kind === 'sign_in_method') && passwordWords.in(fold(label))),
    )
    if (password) return password
  }
  const ways = open.filter(({ kind }) => kind === 'sign_in_method' || kind === 'identifier_method')
  // An account without a password: the website sends a code or a link.
  if (known?.mailbox && !values.hasPassword && !isAtForm) {
    const mail = open.find(({ label }) => emailWords.in(fold(label)))
    if (mail) return mail
  }
  if (values.hasLogin && !isAtForm) {
    const [only, ...others] = ways
    const mail = ways.find(({ label }) => emailWords.in(fold(label)))
    if (mail) return mail
    if (only && others.length === 0) return only
  }
  return open.length === 1 && ways.length === 1 && !isAtForm ? ways[0] : undefined
}
