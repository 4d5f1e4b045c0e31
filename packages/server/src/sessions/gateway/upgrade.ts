// Admits clients. Websocket upgrades and plain requests pass the same checks: Host, Origin, token, then the request
// itself. Nothing reaches the instance before all of them pass.
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../platform/errors/app-error.ts'
import { audiencesOf, targetOf, type Target } from '../session/target.ts'
import type { SessionTokens, Verification } from './tokens.ts'

export interface AdmissionOptions {
  readonly tokens: Pick<SessionTokens, 'verify'>
  /** Throws for a foreign Host. */
  readonly checkHost: (host: string | undefined) => void
  readonly isOwnOrigin: (origin: string, host: string | undefined) => boolean
}

export interface Admitted extends Verification {
  readonly token: string
  readonly query: URLSearchParams
  readonly target: Target
}

/**
 * For the HTTP server's option `shouldUpgradeCallback`. Without it, requests that only offer an upgrade, as some
 * clients do for HTTP/2, would not reach the API routes.
 */
export function isGatewayUpgrade(request: IncomingMessage): boolean {
  return targetOf(splitUrl(request.url).path) !== undefined
}

export async function admit(request: IncomingMessage, options: AdmissionOptions): Promise<Admitted> {
  const { path } = splitUrl(request.url)
  const target = targetOf(path)
  const audiences = target ? audiencesOf[target.purpose] : []
  const isDevtools = target?.purpose === 'devtools'
  const admitted = await admitFor(request, options, audiences, isDevtools ? { token: target.token } : {})
  // Without a target there is no audience, so admission has already failed.
  return { ...admitted, target: target! }
}

/**
 * Like `admit`, for any set of audiences. A token in the path also admits pages without an origin: the front end of
 * DevTools runs in a sandbox, and there its token is all it has.
 */
export async function admitFor(
  request: IncomingMessage,
  { tokens, checkHost, isOwnOrigin }: AdmissionOptions,
  audiences: readonly string[],
  inPath: { readonly token?: string } = {},
): Promise<Omit<Admitted, 'target'>> {
  const host = onlyHeader(request, 'host')
  checkHost(host)
  const url = splitUrl(request.url)
  // An absolute request target wins over the Host header, so it is checked as well.
  if (url.host !== undefined) checkHost(url.host)
  if (audiences.length === 0) throw new AppError('not_found', 'Cannot find a session at this path')
  // Browsers always send a true Origin, so this keeps out pages of other sites.
  const origin = onlyHeader(request, 'origin')
  const isSandbox = origin === 'null' && inPath.token !== undefined
  if (origin !== undefined && !isSandbox && !isOwnOrigin(origin, host)) {
    throw new AppError('forbidden', 'Cannot connect from a page of another origin')
  }
  const query = new URLSearchParams(url.query)
  const given = query.getAll('jwt')
  const token = inPath.token ?? (given.length === 1 ? given[0]! : '')
  return { ...(await tokens.verify(token, ...audiences)), token, query }
}

const KEY = /^[A-Za-z0-9+/]{22}==$/

/** The key of a proper websocket handshake (RFC 6455, section 4.2.1). */
export function readHandshake(request: IncomingMessage): string {
  if (request.method !== 'GET') {
    throw new AppError('method_not_allowed', `Cannot ${request.method} here`, { headers: { allow: 'GET' } })
  }
  const upgrade = onlyHeader(request, 'upgrade')?.toLowerCase()
  if (upgrade !== 'websocket' || onlyHeader(request, 'sec-websocket-version') !== '13') {
    throw new AppError('upgrade_required', 'Cannot answer a plain request here: open a websocket', {
      headers: { upgrade: 'websocket', 'sec-websocket-version': '13' },
    })
  }
  const key = onlyHeader(request, 'sec-websocket-key')
  if (request.httpVersion !== '1.1' || key === undefined || !KEY.test(key)) {
    throw new AppError(
      'bad_request',
      'Cannot open a websocket: its HTTP version or Sec-WebSocket-Key is wrong',
    )
  }
  // The gateway would read a body as frames, but a proxy in between as a body.
  if (hasHeader(request, 'content-length') || hasHeader(request, 'transfer-encoding')) {
    throw new AppError('bad_request', 'Cannot open a websocket: the request must not have a body')
  }
  return key
}

function hasHeader(request: IncomingMessage, name: string): boolean {
  return request.headers[name] !== undefined
}

/** Refuses repeated headers, which request smuggling uses. Node would join or drop them. */
function onlyHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let value: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]!.toLowerCase() !== name) continue
    if (value !== undefined) throw new AppError('bad_request', `Cannot accept two headers "${name}"`)
    value = rawHeaders[index + 1]
  }
  return value
}

/** Splits the usual form by hand, because a URL parser would read `//name/path` as a host. */
function splitUrl(url = ''): { host?: string; path: string; query: string } {
  if (!url.startsWith('/')) {
    const parsed = URL.parse(url)
    return parsed
      ? { host: parsed.host, path: parsed.pathname, query: parsed.search }
      : { path: '', query: '' }
  }
  const mark = url.indexOf('?')
  return mark === -1 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark) }
}
