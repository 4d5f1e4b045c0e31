import type { Target } from './target.ts'

/** Every way an outgoing request can fail, and its answer. */
const kinds = {
  bad_request: { status: 400, error: 'http_request_error' },
  egress_denied: { status: 403, error: 'http_request_denied' },
  egress_failed: { status: 502, error: 'destination_unavailable' },
  egress_busy: { status: 503, error: 'connection_limit_reached' },
  egress_timeout: { status: 504, error: 'connection_timeout' },
} as const

export type RefusalCode = keyof typeof kinds

/** The only error that becomes an answer of the proxy. The instance reads its message, so it must not describe the host. */
export class EgressRefusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string, options: { cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.name = 'EgressRefusal'
    this.code = code
  }

  get status(): number {
    return kinds[this.code].status
  }

  /** From RFC 9209: the header distinguishes our error page from the website's. */
  get proxyStatus(): string {
    return `berth; error=${kinds[this.code].error}`
  }

  get body(): string {
    return JSON.stringify({ code: this.code, message: this.message })
  }
}

/** Any other error is a failed connection; its text may name addresses, so it is not repeated. */
export function toRefusal(error: unknown, host: string): EgressRefusal {
  if (error instanceof EgressRefusal) return error
  return new EgressRefusal('egress_failed', `Cannot reach "${host}": the connection failed`, { cause: error })
}

export function deniedBecause({ host, port }: Target, reason: string): EgressRefusal {
  return new EgressRefusal('egress_denied', `Cannot reach "${host}:${port}": ${reason}`)
}
