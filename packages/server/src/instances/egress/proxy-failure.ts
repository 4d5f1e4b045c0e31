import type { UpstreamProxy } from './route.ts'

/** What a proxy did wrong. Its message goes on after "the proxy of the session". */
export class ProxyFailure extends Error {}

/** The value of Proxy-Authorization, if there is anything to say. */
export function basicCredentials({ username, password = '' }: UpstreamProxy): string | undefined {
  if (username === undefined) return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
