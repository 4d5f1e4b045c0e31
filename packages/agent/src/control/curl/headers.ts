export type Header = readonly [name: string, value: string]

/** The browser's own, or of the connection. */
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

/** Meant for who was asked, not for whoever is redirected to. */
const FOR_ONE_ORIGIN = new Set(['authorization', 'cookie'])

const OF_A_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/** Those of the browser, with those that were asked for in their place. */
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

/** How many bytes the body will have, where the answer says so and nothing was decoded. */
export function bodyLength(headers: readonly Header[]): number | undefined {
  const length = headers.find(([name]) => name === 'content-length')?.[1]
  const isKnown = length !== undefined && /^\d{1,15}$/.test(length)
  return isKnown && !isDecoded(headers) ? Number(length) : undefined
}

/** Those that are true of what is given back: the browser has decoded the body. */
export function headersOfBody(headers: readonly Header[]): Header[] {
  const isUntrue = isDecoded(headers) ? /^content-(encoding|length)$/ : /^$/
  return headers.filter(([name]) => !OF_A_CONNECTION.has(name) && !isUntrue.test(name))
}

/** Those that can be passed on in a head of our own; browsers take more for a header than HTTP does. */
export function passable(headers: readonly Header[]): Header[] {
  const fitting = headers.filter(([name, value]) => TOKEN.test(name) && !UNFIT_VALUE.test(value))
  return fitting.map(([name, value]) => [name, NOT_LATIN.test(value) ? asBytes(value) : value])
}

export const sizeOf = (headers: readonly Header[]) =>
  headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
/** Control characters, but for the tab. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNFIT_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/
const NOT_LATIN = /[^\p{ASCII}\u0080-\u00ff]/u
const asBytes = (text: string) => Buffer.from(text).toString('latin1')

const isDecoded = (headers: readonly Header[]) => headers.some(([name]) => name === 'content-encoding')
