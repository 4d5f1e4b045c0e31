// The code in a mail. Mails hold many numbers; the code stands near words about codes, often alone on its line.
import { codeSubjectWords } from '../words/messages.ts'
import { codeWords, notCodeWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import type { Mail } from './mail.ts'

/** `G-123456`, `123 456`, `123-456`, `A1B2C3`. */
const CANDIDATE =
  /(?<![\p{L}\p{N}.,/:@#&=?+_-])(?:[A-Z]{1,2}-)?(\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|\d{4,9}|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,10}|[A-Z0-9]{4}-[A-Z0-9]{4})(?![\p{L}\p{N}@=&_%-]|[.,:/]\d)/gu
const MAX_CANDIDATES = 60
const MIN_SCORE = 4

export interface WantedCode {
  /** Boxes for one character each, or the most that the field takes. */
  readonly length?: number | undefined
  readonly isNumeric?: boolean | undefined
}

/** Undefined when no number of the mail is likely enough to be the code. */
export function codeIn(mail: Mail, wanted: WantedCode = {}): string | undefined {
  const lines = [mail.subject, ...mail.text.split('\n')]
  const found: { code: string; score: number }[] = []
  for (const [index, line] of lines.entries()) {
    for (const match of line.matchAll(CANDIDATE)) {
      if (found.length >= MAX_CANDIDATES) break
      const code = match[1]!.replaceAll(/[ -]/g, '')
      const score = scoreOf(code, { line, index, at: match.index, lines, wanted })
      if (score > 0) found.push({ code, score })
    }
  }
  const total = new Map<string, number>()
  for (const { code, score } of found) total.set(code, Math.max(total.get(code) ?? 0, score))
  const [best, second] = [...total].toSorted(([, one], [, other]) => other - one)
  if (!best || best[1] < MIN_SCORE) return undefined
  // Two that are as likely: typing the wrong one costs an attempt.
  return second && second[1] === best[1] ? undefined : best[0]
}

interface Place {
  readonly line: string
  readonly index: number
  readonly at: number
  readonly lines: readonly string[]
  readonly wanted: WantedCode
}

const about = (text: string) => codeWords.in(text) || codeSubjectWords.in(text)

function scoreOf(code: string, { line, index, at, lines, wanted }: Place): number {
  const { length, isNumeric } = wanted
  if (length !== undefined && length >= 4 && code.length > length) return 0
  if (isNumeric === true && /\D/.test(code)) return 0
  const own = fold(line)
  const around = fold(`${lines[index - 1] ?? ''} ${lines[index + 1] ?? ''}`)
  const start = line.slice(Math.max(0, at - 12), at)
  const isYear = /^(19|20)\d\d$/.test(code)
  const isAlone = line.replaceAll(/[^\p{L}\p{N}]/gu, '').length <= code.length + 2
  let score = 0
  if (about(own)) score += 5
  else if (about(around)) score += 3
  if (isAlone) score += 3
  if (length !== undefined && code.length === length) score += 2
  else if (code.length === 6) score += 1
  if (index === 0) score += 1
  if (
    notCodeWords.in(own) ||
    /[$€£¥]\s*$|\b(tel|phone|fax|ref|order|ticket|case|invoice|№|nr)\W*$/i.test(start)
  )
    score -= 6
  // A copyright line, or a date.
  if (isYear && !isAlone) score -= 5
  if (/©|\(c\)|copyright|\d{1,2}:\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}/i.test(line) && !about(own)) score -= 3
  return score
}
