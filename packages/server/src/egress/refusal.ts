import type { Target } from './target.ts'

/** Every way a request out of an instance can fail, and the status it is answered with. */
const statuses = {
  bad_request: 400,
  egress_denied: 403,
  egress_failed: 502,
  egress_busy: 503,
  egress_timeout: 504,
} as const

export type RefusalCode = keyof typeof statuses

/** The one error that becomes an answer of the proxy. Its message goes to the instance: it says nothing of the host. */
export class EgressRefusal extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string, options: { cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.name = 'EgressRefusal'
    this.code = code
  }

  get status(): number {
    return statuses[this.code]
  }

  get body(): string {
    return JSON.stringify({ code: this.code, message: this.message })
  }
}

/** What is no refusal is a fault of a connection; its text may name addresses, so it is not repeated. */
export function toRefusal(error: unknown, host: string): EgressRefusal {
  if (error instanceof EgressRefusal) return error
  return new EgressRefusal('egress_failed', `Cannot reach "${host}": the connection failed`, { cause: error })
}

export function deniedBecause({ host, port }: Target, reason: string): EgressRefusal {
  return new EgressRefusal('egress_denied', `Cannot reach "${host}:${port}": ${reason}`)
}
