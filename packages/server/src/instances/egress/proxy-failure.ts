import type { UpstreamProxy } from './route.ts'

/** What a working proxy says of the target: it refuses it, cannot reach it, or got no answer. */
export type TargetTrouble = 'refused' | 'unreachable' | 'silent'

/** What a proxy did wrong. The message continues "the proxy of the session". */
export class ProxyFailure extends Error {
  /** Undefined when the proxy itself is the trouble. */
  readonly trouble: TargetTrouble | undefined

  constructor(message: string, options: { cause?: unknown; trouble?: TargetTrouble | undefined } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.trouble = options.trouble
  }
}

/** The value of Proxy-Authorization, or undefined without credentials. */
export function basicCredentials({ username, password = '' }: UpstreamProxy): string | undefined {
  if (username === undefined) return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
