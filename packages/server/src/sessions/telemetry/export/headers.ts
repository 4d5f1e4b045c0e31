// The headers that a destination adds to each request. Their values are secrets: stored sealed, never shown.
import { MAX_HEADER_BYTES } from '@berth/contracts/telemetry-destinations'
import { invalidInput } from '../../../platform/errors/app-error.ts'

/** By canonical name. */
export type Headers = Readonly<Record<string, string>>

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What HTTP allows, without line ends. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/

/** They belong to the connection or describe the body. */
const RESERVED = new Set([
  'Connection',
  'Content-Encoding',
  'Content-Length',
  'Content-Type',
  'Expect',
  'Host',
  'Keep-Alive',
  'Proxy-Authorization',
  'Proxy-Connection',
  'Te',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
])

/** `x-api-key` becomes `X-Api-Key`. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())
}

/** The headers after a change: a string sets one, null removes it, and the others stay. */
export function changedHeaders(before: Headers, change: Readonly<Record<string, string | null>>): Headers {
  const after: Record<string, string> = { ...before }
  const seen = new Set<string>()
  for (const [given, value] of Object.entries(change)) {
    if (!TOKEN.test(given))
      throw invalidInput('headers', `has "${shown(given)}", which is no name of a header`)
    const name = canonicalName(given)
    if (RESERVED.has(name)) throw invalidInput('headers', `must not have ${name}: the export sets it itself`)
    if (seen.has(name)) throw invalidInput('headers', `has ${name} twice: names differ only in their case`)
    seen.add(name)
    if (value === null) delete after[name]
    else after[name] = checkedValue(name, value)
  }
  const bytes = Object.entries(after).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (bytes > MAX_HEADER_BYTES) {
    throw invalidInput(
      'headers',
      `have ${bytes} bytes, names and values together, but at most ${MAX_HEADER_BYTES} are allowed`,
    )
  }
  return after
}

function checkedValue(name: string, value: string): string {
  // Records show every value as an empty string, so this is most likely a record that was sent back.
  if (value === '') {
    throw invalidInput(
      'headers',
      `must have a value for ${name}; leave it out to keep it, or send null to remove it`,
    )
  }
  if (!VALUE.test(value)) {
    throw invalidInput('headers', `has a value for ${name} with characters that a header cannot have`)
  }
  return value
}

const shown = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 60)
