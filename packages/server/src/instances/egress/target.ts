// Parses what a request asks for. CONNECT and absolute URLs share one host parser, so that the policy
// checks one canonical address.
import { isIP } from 'node:net'
import { AuthorityError, readAuthority, type Authority } from '@berth/kit/authority'
import { EgressRefusal } from './refusal.ts'

export type Target = Authority

export interface HttpTarget extends Target {
  /** Path and query as they were sent. */
  readonly path: string
}

// Path and query contain only visible bytes; a browser never sends a fragment.
const ABSOLUTE_URL = /^http:\/\/([^/?#]*)([/?][!-"$-\u00ff]*)?$/i

/** Parses CONNECT's `example.com:443`; the port is required. */
export function readConnectTarget(authority: string): Target {
  return readTarget(authority)
}

/** Parses `http://example.com/path`, as sent to a proxy. Other schemes use CONNECT. */
export function readHttpTarget(url: string): HttpTarget {
  const match = ABSOLUTE_URL.exec(url)
  if (!match) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(url)) throw denied('only http URLs are forwarded; use CONNECT for others')
    throw malformed('the request needs an absolute URL; this is a proxy')
  }
  const [, authority = '', path = '/'] = match
  return { ...readTarget(authority, 80), path: path.startsWith('/') ? path : `/${path}` }
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

function readTarget(authority: string, defaultPort?: number): Target {
  try {
    return readAuthority(authority, defaultPort)
  } catch (error) {
    if (!(error instanceof AuthorityError)) throw error
    throw error.kind === 'forbidden' ? denied(error.message) : malformed(error.message)
  }
}

// Never repeats the input: a malformed target may contain anything, including passwords.
const malformed = (reason: string) => new EgressRefusal('bad_request', `Cannot read the target: ${reason}`)
const denied = (reason: string) => new EgressRefusal('egress_denied', `Cannot accept the target: ${reason}`)
