import type { UpstreamProxy } from './route.ts'

/** What a proxy did wrong. The message continues "the proxy of the session". */
export class ProxyFailure extends Error {}

/** The value of Proxy-Authorization, or undefined without credentials. */
export function basicCredentials({ username, password = '' }: UpstreamProxy): string | undefined {
  if (username === undefined) return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
