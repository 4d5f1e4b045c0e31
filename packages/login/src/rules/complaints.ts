// Finds error messages on a page, and the fields they are about.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { forgotWords, signUpWords } from '../words/actions.ts'
import { emailWords, passwordWords, usernameWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import {
  codeSubjectWords,
  expiredWords,
  lockedWords,
  requiredWords,
  tooManyWords,
  unknownUserWords,
  wrongWords,
} from '../words/messages.ts'
import type { Complaint, ReadForm } from './reading.ts'

const MIN_LENGTH = 4
const MAX_LENGTH = 400
/** Plain text only counts as a complaint if it is short. */
const MAX_LINE_LENGTH = 160

export function complaintsOf(
  snapshot: PageSnapshot,
  form: ReadForm | undefined,
  linesBefore: ReadonlySet<string> | undefined,
): Complaint[] {
  const told = [
    ...snapshot.dialogs.map((text) => ({ text, trust: 3 })),
    ...snapshot.frames.flatMap(({ messages }, index) =>
      messages.map(({ text, kind, group }) => ({
        text,
        trust:
          (kind === 'field' || kind === 'alert' || kind === 'dialog' ? 3 : 2) +
          (form?.frame === index && group === form.group ? 1 : 0),
      })),
    ),
    ...plainLines(snapshot, form, linesBefore).map((text) => ({ text, trust: 1 })),
  ]
  const seen = new Set<string>()
  return told
    .filter(
      ({ text }) =>
        text.length >= MIN_LENGTH && text.length <= MAX_LENGTH && !seen.has(text) && Boolean(seen.add(text)),
    )
    .toSorted((one, other) => other.trust - one.trust)
    .flatMap(({ text }) => complaintOf(text, form))
}

/** Some pages show errors as plain text. Lines that were there before are not a response. */
function plainLines(
  { frames }: PageSnapshot,
  form: ReadForm | undefined,
  before: ReadonlySet<string> | undefined,
): string[] {
  const { text = '' } = frames[form?.frame ?? 0] ?? {}
  if (text.length > (before ? 4_000 : 600) || (form && !before)) return []
  return text
    .split('\n')
    .filter((line) => line.length <= MAX_LINE_LENGTH && !line.includes('?') && before?.has(line) !== true)
}

function complaintOf(text: string, form: ReadForm | undefined): Complaint[] {
  const says = fold(text)
  if (lockedWords.in(says)) return [{ text, about: 'any', kind: 'locked' }]
  if (tooManyWords.in(says)) return [{ text, about: 'any', kind: 'too many' }]
  const isExpired = expiredWords.in(says)
  if (!isExpired && requiredWords.in(says) && !judges(says))
    return [{ text, about: aboutOf(says, form), kind: 'required' }]
  if (!isExpired && !wrongWords.in(says)) return []
  // Links and headings that offer help mention problems too.
  if ((forgotWords.in(says) || signUpWords.in(says)) && !judges(says)) return []
  return [{ text, about: aboutOf(says, form), kind: isExpired ? 'expired' : 'wrong' }]
}

/** Whether the text says that a value is wrong, not only that it is required. */
function judges(says: string): boolean {
  return /incorrect|invalid|wrong|match|not correct|falsch|ungultig|incorrecte|errone|no coincide|errat|onjuist|felaktig|forkert|ugyldig|vaar|nieprawidlow|nespravn|неверн|неправильн|невірн|hatali|yanlis|正しく|错误|错|不正确|올바르지|잘못/.test(
    says,
  )
}

function aboutOf(says: string, form: ReadForm | undefined): Complaint['about'] {
  const hasCode = form?.fields.some(({ kind }) => kind === 'code' || kind === 'totp_code') ?? false
  if (form?.kind === 'code') return 'code'
  if (hasCode && codeSubjectWords.in(says) && !passwordWords.in(says)) return 'code'
  if (unknownUserWords.in(says) && !passwordWords.in(says)) return 'identifier'
  if (form?.kind === 'identifier') return 'identifier'
  if (passwordWords.in(says) && !usernameWords.in(says) && !emailWords.in(says)) return 'password'
  if (form?.kind === 'password') return 'password'
  return 'any'
}
