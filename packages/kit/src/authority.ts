// Parses `host:port` exactly like a browser: every spelling of an IP address (2130706433, 0x7f.1, full-width digits)
// becomes the same canonical address.
import { isIP } from 'node:net'

export interface Authority {
  /** Canonical: a lower-case name without a trailing dot, or an IP address without brackets. */
  readonly host: string
  readonly port: number
}

/** The message does not repeat the input, which may contain a password. */
export class AuthorityError extends Error {
  /** `forbidden`: the input is readable but contains more than a host and a port. */
  readonly kind: 'malformed' | 'forbidden'

  constructor(kind: AuthorityError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** `example.com:443` or `[::1]:80`. Without a default, the port is required. */
export function readAuthority(authority: string, defaultPort?: number): Authority {
  if (authority.includes('@')) throw forbidden('the target must not have a user or password')
  if (/[/\\]/.test(authority)) throw forbidden('the target is a path, not a host')
  const match = AUTHORITY.exec(authority)
  if (!match) throw malformed('the target must be a host and a port')
  const [, hostText = '', portText] = match
  const port = portText === undefined ? defaultPort : Number(portText)
  if (port === undefined || port < 1 || port > 65_535) throw malformed('the port must be from 1 to 65535')
  return { host: readHost(hostText), port }
}

function readHost(text: string): string {
  // Leave the parsing to URL. Any difference between our own parser and the browser's could be exploited.
  const url = /[\s?#]/.test(text) ? null : URL.parse(`http://${text}/`)
  if (!url || url.pathname !== '/' || url.username || url.password || url.port || url.search) {
    throw malformed('the host is not valid')
  }
  const bracketed = /^\[(.*)\]$/.exec(url.hostname)
  if (bracketed) return bracketed[1]!
  const host = url.hostname.replace(/\.$/, '')
  if (isIP(host) !== 0) return host
  const labels = host.split('.')
  if (host.length > MAX_NAME_LENGTH || labels.some((label) => !label || label.length > MAX_LABEL_LENGTH)) {
    throw malformed('the host is not valid')
  }
  return host
}

const malformed = (reason: string) => new AuthorityError('malformed', reason)
const forbidden = (reason: string) => new AuthorityError('forbidden', reason)
