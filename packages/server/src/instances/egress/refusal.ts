import type { ProxyErrorCode } from '@berth/contracts/telemetry-events'
import type { Target } from './target.ts'

interface Kind {
  readonly status: number
  readonly error: string
  /** Unless the refusal itself knows better. */
  readonly proxyError?: ProxyErrorCode
}

export type RefusalCode = 'bad_request' | 'egress_denied' | 'egress_failed' | 'egress_busy' | 'egress_timeout'

/** Every way an outgoing request can fail, and its answer. */
const kinds: Readonly<Record<RefusalCode, Kind>> = {
  bad_request: { status: 400, error: 'http_request_error' },
  egress_denied: { status: 403, error: 'http_request_denied', proxyError: 'destination_blocked' },
  egress_failed: { status: 502, error: 'destination_unavailable', proxyError: 'upstream_connect_failed' },
  egress_busy: { status: 503, error: 'connection_limit_reached' },
  egress_timeout: { status: 504, error: 'connection_timeout', proxyError: 'upstream_timeout' },
}

/** The only error that becomes an answer of the proxy. The instance reads its message, so it must not describe the host. */
export class EgressRefusal extends Error {
  readonly code: RefusalCode
  /** What kind of failure it is to clients; undefined for one that is about the request itself. */
  readonly proxyError: ProxyErrorCode | undefined

  constructor(
    code: RefusalCode,
    message: string,
    options: { cause?: unknown; proxyError?: ProxyErrorCode } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.name = 'EgressRefusal'
    this.code = code
    this.proxyError = options.proxyError ?? kinds[code].proxyError
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
