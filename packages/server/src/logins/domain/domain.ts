// Normalises domains as people write them, so that they can be compared.

const NAME = /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/
const MAX_NAME_LENGTH = 253
/** Default ports are left out. */
const USUAL_PORTS = new Set(['80', '443'])

/** Host and, unless it is a default, port: `https://GitHub.com/login` gives `github.com`. Undefined if the text is not a domain. */
export function readDomain(text: string): string | undefined {
  const trimmed = text.trim()
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(trimmed)?.[0].toLowerCase()
  if (scheme !== undefined && scheme !== 'https://' && scheme !== 'http://') return undefined
  const url = URL.parse(scheme === undefined ? `https://${trimmed}` : trimmed)
  // A user name before an @ can be mistaken for the host.
  if (!url || url.username || url.password) return undefined
  const host = url.hostname.replace(/\.$/, '')
  const isName = NAME.test(host) && host.length <= MAX_NAME_LENGTH && !host.includes('..')
  if (!isName && !host.startsWith('[')) return undefined
  return url.port === '' || USUAL_PORTS.has(url.port) ? host : `${host}:${url.port}`
}
