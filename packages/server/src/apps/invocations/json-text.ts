// Checks payloads and outputs, which must be JSON. Text that nests too deeply, has a number out of range, or is not
// valid Unicode would fail later, elsewhere.
import { MAX_PAYLOAD_BYTES } from '@berth/contracts/invocations'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'

const MAX_NESTING = 500
/** Parsing takes time for each value, in which the server does nothing else. */
export const MAX_VALUES = 500_000
const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const OPENING = new Set([91, 123])
const CLOSING = new Set([93, 125])
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPED_HIGH = /\\u[dD][89abAB][0-9a-fA-F]{2}/y
const ESCAPED_LOW = /\\u[dD][c-fC-F][0-9a-fA-F]{2}/y

export function checkJson(field: string, text: string): void {
  if (Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) {
    throw new AppError(
      'payload_too_large',
      `Cannot take ${field}: it has more than ${MAX_PAYLOAD_BYTES} bytes`,
    )
  }
  const refused = !text.isWellFormed() ? 'has half a character (a lone surrogate)' : wrongIn(text)
  if (refused !== undefined) throw invalidInput(field, refused)
  try {
    JSON.parse(text)
  } catch {
    throw invalidInput(field, 'must be JSON, such as {"url": "https://example.com"}')
  }
}

function wrongIn(text: string): string | undefined {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at + 1)
      if (end === undefined) return 'has half a character (a lone surrogate)'
      at = end
    } else if (OPENING.has(code)) {
      if (++depth > MAX_NESTING) return `must not nest deeper than ${MAX_NESTING}`
      values++
    } else if (CLOSING.has(code)) depth--
    else if (code === COMMA) values++
    else if (code === 45 || (code >= 48 && code <= 57)) {
      NUMBER.lastIndex = at
      const [number] = NUMBER.exec(text) ?? []
      if (number === undefined) continue
      if (!Number.isFinite(Number(number))) return 'has a number that is too large'
      at += number.length - 1
    }
    if (values > MAX_VALUES) return `must not have more than ${MAX_VALUES} values; pass the address of a file`
  }
  return undefined
}

/** Undefined for a lone surrogate; the parser refuses an unterminated string. */
function endOfString(text: string, from: number): number | undefined {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code !== BACKSLASH) {
      at++
      continue
    }
    ESCAPED_HIGH.lastIndex = at
    ESCAPED_LOW.lastIndex = at
    if (ESCAPED_LOW.test(text)) return undefined
    if (!ESCAPED_HIGH.test(text)) {
      at += 2
      continue
    }
    ESCAPED_LOW.lastIndex = at + 6
    if (!ESCAPED_LOW.test(text)) return undefined
    at += 12
  }
  return at
}
