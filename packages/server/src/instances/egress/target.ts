// What a request asks for. There is one way to read a host, for CONNECT and for absolute URLs, and it
// is the browser's own: every spelling of an address (2130706433, 0x7f.1, full-width digits) ends as
// the one canonical address, which the policy then judges.
import { isIP } from 'node:net'
import { EgressRefusal } from './refusal.ts'

export interface Target {
  /** Canonical: a lower-case name without trailing dot, or an address without brackets. */
  readonly host: string
  readonly port: number
}

export interface HttpTarget extends Target {
  /** Path and query as they were sent. */
  readonly path: string
}

const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/
// Path and query hold visible bytes only; a fragment never leaves a browser.
const ABSOLUTE_URL = /^http:\/\/([^/?#]*)([/?][!-"$-\u00ff]*)?$/i
const LONGEST_NAME = 253
const LONGEST_LABEL = 63

/** `example.com:443`, as CONNECT has it: the port is a must. */
export function readConnectTarget(authority: string): Target {
  return readAuthority(authority)
}

/** `http://example.com/path`, as a request to a proxy has it. Other schemes come by CONNECT. */
export function readHttpTarget(url: string): HttpTarget {
  const match = ABSOLUTE_URL.exec(url)
  if (!match) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(url)) throw denied('only http URLs are forwarded; use CONNECT for others')
    throw malformed('the request needs an absolute URL; this is a proxy')
  }
  const [, authority = '', path = '/'] = match
  return { ...readAuthority(authority, 80), path: path.startsWith('/') ? path : `/${path}` }
}

/** The value of the Host header for this target. */
export function hostHeader(target: Target): string {
  return target.port === 80 ? nameOf(target) : authorityOf(target)
}

/** `example.com:443`, `[::1]:80`. */
export function authorityOf(target: Target): string {
  return `${nameOf(target)}:${target.port}`
}

function nameOf({ host }: Target): string {
  return isIP(host) === 6 ? `[${host}]` : host
}

function readAuthority(authority: string, defaultPort?: number): Target {
  if (authority.includes('@')) throw denied('the target must not have a user or password')
  if (/[/\\]/.test(authority)) throw denied('the target is a path, not a host')
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
  if (host.length > LONGEST_NAME || labels.some((label) => !label || label.length > LONGEST_LABEL)) {
    throw malformed('the host is not valid')
  }
  return host
}

// Neither repeats what was sent: a target that cannot be read may hold anything, passwords included.
const malformed = (reason: string) => new EgressRefusal('bad_request', `Cannot read the target: ${reason}`)
const denied = (reason: string) => new EgressRefusal('egress_denied', `Cannot accept the target: ${reason}`)
