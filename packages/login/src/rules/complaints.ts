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
    ...snapshot.dialogs.map((text) => ({ text, trust: 3, isAtForm: true })),
    ...snapshot.frames.flatMap(({ messages }, index) =>
      messages.map(({ text, kind, group }) => {
        const isInGroup = form?.frame === index && group === form.group
        const isMarked = kind === 'field' || kind === 'alert' || kind === 'dialog'
        return {
          text,
          trust: (isMarked ? 3 : 2) + (isInGroup ? 1 : 0),
          isAtForm: isInGroup || kind === 'field' || kind === 'dialog',
        }
      }),
    ),
    ...plainLines(snapshot, form, linesBefore).map((text) => ({ text, trust: 1, isAtForm: false })),
  ]
  const before = linesBefore && fold([...linesBefore].join('\n'))
  const isNew = (text: string) => before !== undefined && !before.includes(fold(text))
  const seen = new Set<string>()
  return (
    told
      .filter(
        ({ text }) =>
          text.length >= MIN_LENGTH &&
          text.length <= MAX_LENGTH &&
          !seen.has(text) &&
          Boolean(seen.add(text)),
      )
      .map((each) => ({ ...each, isNew: isNew(each.text) }))
      // What was there before is a help text more often than a response.
      .toSorted((one, other) => Number(other.isNew) - Number(one.isNew) || other.trust - one.trust)
      .flatMap((each) => {
        const complaint = complaintOf(each.text, form)
        return complaint ? [{ ...complaint, isNew: each.isNew, isAtForm: each.isAtForm }] : []
      })
  )
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

function complaintOf(
  text: string,
  form: ReadForm | undefined,
): Pick<Complaint, 'text' | 'about' | 'kind'> | undefined {
  const says = fold(text)
  if (lockedWords.in(says)) return { text, about: 'any', kind: 'locked' }
  if (tooManyWords.in(says)) return { text, about: 'any', kind: 'too many' }
  const isExpired = expiredWords.in(says)
  if (!isExpired && requiredWords.in(says) && !judges(says))
    return { text, about: aboutOf(says, form), kind: 'required' }
  if (!isExpired && !wrongWords.in(says)) return undefined
  // Links and headings that offer help mention problems too.
  if ((forgotWords.in(says) || signUpWords.in(says)) && !judges(says)) return undefined
  return { text, about: aboutOf(says, form), kind: isExpired ? 'expired' : 'wrong' }
}

/** Whether the text says that a value is wrong, not only that it is required. */
function judges(says: string): boolean {
  return /incorrect|invalid|wrong|match|not correct|falsch|ungultig|incorrecte|errone|no coincide|errat|onjuist|felaktig|forkert|ugyldig|vaar|nieprawidlow|nespravn|неверн|неправильн|невірн|hatali|yanlis|正しく|错误|错|不正确|올바르지|잘못|hibas|helytelen|ervenytelen|gresit|λαθος|λανθασμεν|không đung|không chinh xac|tidak valid|ไม่ถูกต้อง|نادرست|اشتباه|שגוי|грешн|невалидн|pogres|neisprav|погреш|неисправ|napacn|nepravil|neteising|nepareiz|səhv|गलत/.test(
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
