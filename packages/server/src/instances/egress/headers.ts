// Decides which headers are forwarded. Headers about one connection (RFC 9110, 7.6.1) and everything
// meant for a proxy are removed: credentials for an upstream belong to the host, never to the instance.
import type { IncomingMessage } from 'node:http'
import { PROXY_ERROR_HEADER } from '@berth/contracts/telemetry-events'
import { EgressRefusal } from './refusal.ts'
import { hostHeader, type HttpTarget } from './target.ts'

const ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** Rebuilt from what the parser understood, so that both sides agree where a body ends. */
const REWRITTEN = new Set(['host', 'content-length', 'expect'])

/** Ours alone: a website must not be able to tell of a failure that was none. */
const OURS = PROXY_ERROR_HEADER.toLowerCase()

/** We never ask for credentials. A client that sends some means another proxy, so refuse it. */
export function refuseCredentials({ headers }: IncomingMessage): void {
  if (headers['proxy-authorization'] === undefined) return
  throw new EgressRefusal('egress_denied', 'Cannot accept the request: it has credentials for a proxy')
}

/** Name, value, name, value, as Node accepts it; keeps order, case and duplicates. */
export function requestHeaders(request: IncomingMessage, target: HttpTarget): string[] {
  const headers = ['Host', hostHeader(target)]
  for (const [name, value] of endToEnd(request)) {
    if (!REWRITTEN.has(name.toLowerCase())) headers.push(name, value)
  }
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers
  if (coding !== undefined) headers.push('Transfer-Encoding', 'chunked')
  // Without this, Node would announce a chunked body for a POST without a body.
  else headers.push(...framing(request.method ?? 'GET', length))
  return headers
}

export function responseHeaders(response: IncomingMessage): string[] {
  return [...endToEnd(response)].flat()
}

function framing(method: string, length: string | undefined): string[] {
  if (length !== undefined) return ['Content-Length', length]
  return BODILESS.has(method) ? [] : ['Content-Length', '0']
}

const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE'])

function* endToEnd({ rawHeaders, headers }: IncomingMessage): Iterable<[name: string, value: string]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/[\s,]+/))
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    const key = name.toLowerCase()
    // A response keeps its length even if Connection names it, because the body has that length.
    const isNamed = named.has(key) && key !== 'content-length'
    if (!ONE_CONNECTION.has(key) && !key.startsWith('proxy-') && key !== OURS && !isNamed)
      yield [name, rawHeaders[index + 1]!]
  }
}
