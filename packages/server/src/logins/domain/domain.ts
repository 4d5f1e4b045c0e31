// Domains as people write them, in the one way to compare them.

const NAME = /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/
const MAX_NAME_LENGTH = 253
/** They go without saying. */
const USUAL_PORTS = new Set(['80', '443'])

/** Host and, unless it is a usual one, port: of `https://GitHub.com/login` it is `github.com`. Undefined for what is none. */
export function readDomain(text: string): string | undefined {
  const trimmed = text.trim()
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(trimmed)?.[0].toLowerCase()
  if (scheme !== undefined && scheme !== 'https://' && scheme !== 'http://') return undefined
  const url = URL.parse(scheme === undefined ? `https://${trimmed}` : trimmed)
  // A name before an @ is there to be taken for the host.
  if (!url || url.username || url.password) return undefined
  const host = url.hostname.replace(/\.$/, '')
  const isName = NAME.test(host) && host.length <= MAX_NAME_LENGTH && !host.includes('..')
  if (!isName && !host.startsWith('[')) return undefined
  return url.port === '' || USUAL_PORTS.has(url.port) ? host : `${host}:${url.port}`
}
