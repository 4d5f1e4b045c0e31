// Passes a request through the session's browser to its target, and the answer back. Both stay unchanged, except for
// headers that belong to the connections in between or to this server.
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { relay } from '@berth/contracts/link'
import { AppError } from '../../platform/errors/app-error.ts'
import type { RawAnswer } from '../../http/call.ts'
import { AgentError } from '../../instances/agent/errors.ts'

const OF_A_CONNECTION = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The browser sets its own, or they reveal proxies in front of this server. */
const NOT_FOR_TARGETS = new Set(['host', 'expect', 'accept-encoding', 'forwarded', 'via', 'x-real-ip'])
const NOT_FOR_TARGETS_FROM = ['sec-', 'x-forwarded-', 'x-stainless-', 'x-kernel-']

/** Defaults that clients add, which would replace the browser's own headers. */
const OF_CLIENTS: Readonly<Record<string, RegExp>> = {
  'user-agent': /^Kernel\//,
  'accept-language': /^\*$/,
}

/** Every browser sends one of these with pages and scripts; the first one only to hosts with TLS or on loopback. */
const OF_BROWSERS = ['sec-fetch-site', 'upgrade-insecure-requests', 'origin', 'referer']

export function relayedHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  // A web page would get the target's pages and cookies under this server's origin.
  if (isOfBrowser(headers)) {
    throw new AppError(
      'forbidden',
      'Cannot pass this request on: it comes from a web page; send it from a program',
    )
  }
  const named = namedBy(headers.connection)
  const passed = Object.entries(headers).filter(([name, value]) => {
    if (value === undefined || OF_A_CONNECTION.has(name) || NOT_FOR_TARGETS.has(name)) return false
    if (named.has(name) || NOT_FOR_TARGETS_FROM.some((start) => name.startsWith(start))) return false
    return !OF_CLIENTS[name]?.test(String(value))
  })
  return Object.fromEntries(passed.map(([name, value]) => [relay.header + name, value]))
}

/** `origin` and `referer` are also sent by programs, about the target. */
function isOfBrowser(headers: IncomingHttpHeaders): boolean {
  return OF_BROWSERS.some((name) => {
    const value = headers[name]
    if (name === 'origin' || name === 'referer') {
      return typeof value === 'string' && URL.parse(value)?.host === headers.host
    }
    return value !== undefined
  })
}

/**
 * The answer is a stranger's, on this server's origin. A browser that shows it after all must not run it: it is saved
 * instead, has no origin, may load nothing, and is not taken for another type.
 */
function disarmed(headers: Record<string, string | string[]>): Record<string, string | string[]> {
  const { 'content-disposition': disposition, 'content-security-policy': policy = [] } = headers
  const isSaved = typeof disposition === 'string' && /^attachment\s*(;|$)/i.test(disposition)
  return {
    ...headers,
    'content-disposition': isSaved ? disposition : 'attachment',
    'content-security-policy': [...[policy].flat(), "sandbox; default-src 'none'"],
    'x-content-type-options': 'nosniff',
  }
}

export function relayedAnswer(answer: IncomingMessage): RawAnswer {
  const { [relay.status]: status, 'content-length': length } = answer.headers
  if (typeof status !== 'string' || !/^[2-5]\d\d$/.test(status)) {
    answer.destroy()
    throw new AgentError('The agent passed on an answer without a status')
  }
  const headers: Record<string, string | string[]> = {}
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    if (!name.startsWith(relay.header)) continue
    const own = name.slice(relay.header.length)
    if (own !== '' && !OF_A_CONNECTION.has(own)) headers[own] = values.length === 1 ? values[0]! : values
  }
  // The agent states the length and Node checks it; the target's value is not trusted.
  if (length !== undefined) headers['content-length'] = length
  // Otherwise published clients would retry requests that the target answered with an error.
  headers['x-should-retry'] ??= 'false'
  return { status: Number(status), headers: disarmed(headers), body: answer }
}

function namedBy(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
}
