export type Header = readonly [name: string, value: string]

/** Headers that the browser sets itself, or that belong to the connection. */
const NOT_OURS_TO_SET = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Only for the original site, not for the target of a redirect. */
const FOR_ONE_ORIGIN = new Set(['authorization', 'cookie'])

const OF_A_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/** The browser's headers, with the requested headers in their place. */
export function mergedHeaders(
  own: Readonly<Record<string, string>>,
  wanted: readonly Header[],
  { isSameOrigin }: { isSameOrigin: boolean },
): Header[] {
  const set = wanted.filter(([name]) => {
    const key = name.toLowerCase()
    return !NOT_OURS_TO_SET.has(key) && (isSameOrigin || !FOR_ONE_ORIGIN.has(key))
  })
  const taken = new Set(set.map(([name]) => name.toLowerCase()))
  return [...Object.entries(own).filter(([name]) => !taken.has(name.toLowerCase())), ...set]
}

/** Length of the body, if the response says it and nothing was decoded. */
export function bodyLength(headers: readonly Header[]): number | undefined {
  const length = headers.find(([name]) => name === 'content-length')?.[1]
  const isKnown = length !== undefined && /^\d{1,15}$/.test(length)
  return isKnown && !isDecoded(headers) ? Number(length) : undefined
}

/** The headers that are true of the decoded body. */
export function headersOfBody(headers: readonly Header[]): Header[] {
  const isUntrue = isDecoded(headers) ? /^content-(encoding|length)$/ : /^$/
  return headers.filter(([name]) => !OF_A_CONNECTION.has(name) && !isUntrue.test(name))
}

/** The headers that a response of ours may contain; browsers accept more than HTTP allows. */
export function passable(headers: readonly Header[]): Header[] {
  const fitting = headers.filter(([name, value]) => TOKEN.test(name) && !UNFIT_VALUE.test(value))
  return fitting.map(([name, value]) => [name, NOT_LATIN.test(value) ? asBytes(value) : value])
}

export const sizeOf = (headers: readonly Header[]) =>
  headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
/** Control characters except the tab. */
// oxlint-disable-next-line no-control-regex -- this pattern looks for them
const UNFIT_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/
const NOT_LATIN = /[^\p{ASCII}\u0080-\u00ff]/u
const asBytes = (text: string) => Buffer.from(text).toString('latin1')

const isDecoded = (headers: readonly Header[]) => headers.some(([name]) => name === 'content-encoding')
