// One way to read `host:port`, and it is the browser's own: every spelling of an address (2130706433,
// 0x7f.1, full-width digits) ends as the one canonical address.
import { isIP } from 'node:net'

export interface Authority {
  /** Canonical: a lower-case name without trailing dot, or an address without brackets. */
  readonly host: string
  readonly port: number
}

/** The message does not repeat what was given: it may hold anything, passwords included. */
export class AuthorityError extends Error {
  /** `forbidden`: it can be read, and has more than a host and a port. */
  readonly kind: 'malformed' | 'forbidden'

  constructor(kind: AuthorityError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/
const MAX_NAME_LENGTH = 253
const MAX_LABEL_LENGTH = 63

/** `example.com:443` or `[::1]:80`. Without a default, the port must be there. */
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
  // Only what URL parsing takes for a host and nothing else: a second reading of ours would be the
  // one that an attacker finds a difference in.
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
