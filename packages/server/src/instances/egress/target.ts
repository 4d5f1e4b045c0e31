// What a request asks for. CONNECT and absolute URLs share one way to read a host, so that the policy
// judges the one canonical address.
import { isIP } from 'node:net'
import { AuthorityError, readAuthority, type Authority } from '@berth/kit/authority'
import { EgressRefusal } from './refusal.ts'

export type Target = Authority

export interface HttpTarget extends Target {
  /** Path and query as they were sent. */
  readonly path: string
}

// Path and query hold visible bytes only; a fragment never leaves a browser.
const ABSOLUTE_URL = /^http:\/\/([^/?#]*)([/?][!-"$-\u00ff]*)?$/i

/** `example.com:443`, as CONNECT has it: the port is a must. */
export function readConnectTarget(authority: string): Target {
  return readTarget(authority)
}

/** `http://example.com/path`, as a request to a proxy has it. Other schemes come by CONNECT. */
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

// Neither repeats what was sent: a target that cannot be read may hold anything, passwords included.
const malformed = (reason: string) => new EgressRefusal('bad_request', `Cannot read the target: ${reason}`)
const denied = (reason: string) => new EgressRefusal('egress_denied', `Cannot accept the target: ${reason}`)
