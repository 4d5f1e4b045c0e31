// Text of a website may repeat what was typed. This module removes our values from it, and leaves the website's own words:
// a gap in a known sentence would tell everybody the word. docs/decisions/0071 has the rules.
import { isOrdinary } from '../words/ordinary.ts'

const MIN_LENGTH = 3
/** A longer run of letters is in no other word by chance. */
const MAX_WORD_LENGTH = 15
const GAP = '•••'
/** Between these, a word is what somebody typed and not the website's own. */
const QUOTES = [
  '“”',
  '„“',
  '„”',
  '""',
  "''",
  '‘’',
  '‚‘',
  '«»',
  '»«',
  '‹›',
  '``',
  '「」',
  '『』',
  '()',
  '[]',
] as const

export function mask(text: string, values: Iterable<string>): string {
  const ours = [...new Set(values)]
    .filter((value) => value.trim().length >= MIN_LENGTH)
    .toSorted((one, other) => other.length - one.length)
  let masked = text
  for (const value of ours) {
    masked = masked.replaceAll(new RegExp(patternOf(value), 'giu'), GAP)
  }
  return masked
}

export function holdsAny(text: string, values: Iterable<string>): boolean {
  return mask(text, values) !== text
}

function patternOf(value: string): string {
  const source = escaped(value).replaceAll(/\s+/g, String.raw`\s+`)
  if (isOrdinary(value)) {
    const inQuotes = QUOTES.map(
      ([open = '', close = '']) => `(?<=${escaped(open)})${source}(?=${escaped(close)})`,
    )
    return [...inQuotes, String.raw`(?<==)${source}(?=[&;,\s]|$)`].join('|')
  }
  if (isWord(value)) return String.raw`(?<![\p{L}\p{M}])${source}(?![\p{L}\p{M}])`
  return source
}

/** Of a script that has spaces between words. */
function isWord(value: string): boolean {
  return (
    value.length <= MAX_WORD_LENGTH &&
    /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{M}]+$/u.test(value)
  )
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
