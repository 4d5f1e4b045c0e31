// Finds the members of an object in JSON text without parsing their values: to leave out what is large costs far less
// than to parse it. Only for text without spaces between its values, as JSON.stringify writes it.
import { BadInput } from '@berth/kit/bad-input'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPENING = { list: 0x5b, object: 0x7b }
const CLOSING = { list: 0x5d, object: 0x7d }

/** Where a member is: its name as it is written, between quotes, and its value. */
export interface Member {
  readonly name: string
  /** Of the quote before the name. */
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

/** The members of the object that begins at `at`, and where it ends. */
export function membersOf(text: string, at: number): { readonly members: Member[]; readonly end: number } {
  const members: Member[] = []
  expect(text, at, OPENING.object)
  if (text.charCodeAt(at + 1) === CLOSING.object) return { members, end: at + 2 }
  for (let start = at + 1; ;) {
    const { name, valueStart } = nameAt(text, start)
    const end = endOfValue(text, valueStart)
    members.push({ name, start, valueStart, end })
    if (text.charCodeAt(end) === CLOSING.object) return { members, end: end + 1 }
    expect(text, end, COMMA)
    start = end + 1
  }
}

/** Where the value of the member begins; undefined if the object has no such member. Reads no further than that. */
export function startOfValue(text: string, at: number, wanted: string): number | undefined {
  expect(text, at, OPENING.object)
  if (text.charCodeAt(at + 1) === CLOSING.object) return undefined
  for (let start = at + 1; ;) {
    const { name, valueStart } = nameAt(text, start)
    if (name === wanted) return valueStart
    const end = endOfValue(text, valueStart)
    if (text.charCodeAt(end) === CLOSING.object) return undefined
    expect(text, end, COMMA)
    start = end + 1
  }
}

function nameAt(text: string, at: number): { name: string; valueStart: number } {
  expect(text, at, QUOTE)
  const end = endOfString(text, at)
  expect(text, end, COLON)
  return { name: text.slice(at + 1, end - 1), valueStart: end + 1 }
}

function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return endOfString(text, at)
  if (first === OPENING.object || first === OPENING.list) return endOfNested(text, at)
  let end = at
  while (!isAfterValue(text.charCodeAt(end))) end++
  if (end === at || end === text.length) throw refused(end)
  return end
}

const isAfterValue = (code: number) =>
  code === COMMA || code === CLOSING.object || code === CLOSING.list || Number.isNaN(code)

function endOfNested(text: string, at: number): number {
  let depth = 0
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === QUOTE) end = endOfString(text, end) - 1
    else if (code === OPENING.object || code === OPENING.list) depth++
    else if ((code === CLOSING.object || code === CLOSING.list) && --depth === 0) return end + 1
  }
  throw refused(text.length)
}

/** After the closing quote. Searches natively: most of a text is in strings. */
function endOfString(text: string, at: number): number {
  for (let from = at + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) throw refused(text.length)
    let before = quote - 1
    while (before >= from && text.charCodeAt(before) === BACKSLASH) before--
    if ((quote - before) % 2 === 1) return quote + 1
    from = quote + 1
  }
}

function expect(text: string, at: number, code: number): void {
  if (text.charCodeAt(at) !== code) throw refused(at)
}

const refused = (at: number) => new BadInput(`Cannot read the JSON: it is cut off or malformed at ${at}`)
