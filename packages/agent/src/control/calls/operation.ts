// The agent's side of a control operation. The server has validated the request against the contract. The agent
// checks JSON bodies again, with code generated from the contract, and what only the instance knows, such as whether
// a file exists or how large the screen is.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { ErrorBody, ErrorCode } from '@berth/contracts/errors'

export interface ControlCall {
  /** Path parameters, such as process_id. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The JSON body, not yet checked; undefined when the body is a stream or empty. */
  readonly body: unknown
  /** The request itself, for a body that is a stream. */
  readonly request: IncomingMessage
  /** Directory that holds uploads until their destination is known. */
  readonly spool: string
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal
}

/** Lines of JSON; each becomes an event. */
export interface EventLines {
  readonly events: AsyncIterable<object>
}

export interface Bytes {
  /** A buffer is given away: its memory is used again when it is sent. */
  readonly bytes: Readable | Buffer
  /** Whether nobody else has the pieces of `bytes`. */
  readonly areSpent?: boolean
  readonly length?: number
  readonly contentType?: string
}

/** Another server's answer, unchanged. */
export interface Relayed extends Bytes {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export type ControlAnswer = object | EventLines | Bytes | Relayed | undefined | void

export interface ControlOperation {
  readonly method: string
  /** As in the contract, such as /process/{process_id}/kill. */
  readonly path: string
  readonly takesStream?: boolean
  readonly handle: (call: ControlCall) => Promise<ControlAnswer> | ControlAnswer
}

/** An error that the API's caller sees. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly code: ErrorCode
  /** Fields of the error body besides code and message. */
  readonly fields: Partial<ErrorBody>

  constructor(
    code: ErrorCode,
    message: string,
    { fields = {}, ...options }: ErrorOptions & { fields?: Partial<ErrorBody> } = {},
  ) {
    super(message, options)
    this.code = code
    this.fields = fields
  }
}

/** Compares the name, because packed modules have their own copy of the class. */
export function isControlError(error: unknown): error is ControlError {
  return error instanceof Error && error.name === 'ControlError'
}
