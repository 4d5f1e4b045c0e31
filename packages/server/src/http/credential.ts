// What a request shows: an API key in its Authorization header or, from our own pages, the cookie of a sign-in.
//
// A browser adds the cookie to every request to this host, whichever page makes it. So it counts only where the browser
// says that one of our own pages does: pages on another port of this host are strangers, and count as the same site.
import type { IncomingMessage } from 'node:http'
import { bearerToken, unauthorized } from './bearer.ts'
import { signInCookie } from './sign-in-cookie.ts'

export type Credential =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'sign-in'; readonly token: string }

export type IsOwnOrigin = (origin: string, host: string | undefined) => boolean

/** Throws unless there is exactly one. The header comes before the cookie. */
export function credentialOf(request: IncomingMessage, isOwn: IsOwnOrigin): Credential {
  if (request.headers.authorization !== undefined) return { kind: 'key', key: bearerToken(request) }
  const token = signInCookie(request.headers.cookie)
  if (token === undefined) return { kind: 'key', key: bearerToken(request) }
  if (!isFromOwnPage(request, isOwn)) {
    throw unauthorized('a sign-in counts only for pages of this server; send an API key')
  }
  return { kind: 'sign-in', token }
}

function isFromOwnPage({ headers, method }: IncomingMessage, isOwn: IsOwnOrigin): boolean {
  const { origin, referer, host } = headers
  const isRead = method === 'GET' || method === 'HEAD'
  // Pages of other origins that may call the API have keys of their own.
  if (origin !== undefined) return isOwn(origin, host)
  if (!isRead) return false
  const site = headers['sec-fetch-site']
  // `none`: the person opened the address, such as that of a download.
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  // Browsers leave that header out for plain HTTP to another machine.
  const from = referer === undefined ? null : URL.parse(referer)
  return from !== null && isOwn(from.origin, host)
}
