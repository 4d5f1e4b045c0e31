import { errorCatalogue, type ErrorBody, type ErrorCode } from '@berth/contracts/errors'

export interface ErrorDetail {
  readonly code: string
  readonly message: string
}

/** The only error that services throw; only http/errors.ts turns it into an answer. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Extra fields of the error body. */
  readonly fields: Readonly<Partial<ErrorBody>> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown
      details?: readonly ErrorDetail[]
      headers?: Record<string, string>
      fields?: Partial<ErrorBody>
    } = {},
  ) {
    // A refusal is an answer, not a fault: nobody reads its stack, and building one is expensive.
    const { stackTraceLimit } = Error
    if (errorCatalogue[code].status < 500) Error.stackTraceLimit = 0
    super(message, 'cause' in options ? { cause: options.cause } : {})
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.headers = options.headers
    this.fields = options.fields
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }
}

/** For a wrong value that the schema cannot check. Names the field like a schema error does. */
export function invalidInput(field: string, message: string): AppError {
  const text = `${field}: ${message}`
  return new AppError('bad_request', `Cannot accept the request: ${text}`, {
    details: [{ code: 'invalid_input', message: text }],
  })
}
