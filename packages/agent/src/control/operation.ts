// How the agent's part of a control looks. What it is given was checked by the server against the
// contract; what only the instance can know (whether a file is there, how large the screen is) is checked
// here.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { ErrorBody, ErrorCode } from '@berth/contracts/errors'

export interface ControlCall {
  /** Of the path, such as process_id. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** What was sent as JSON; undefined when the body is a stream or there is none. */
  readonly body: unknown
  /** The request itself, for a body that is a stream. */
  readonly request: IncomingMessage
  /** Directory for uploads, until it is known where they go. */
  readonly spool: string
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** Lines of JSON, each of which becomes an event. */
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

/** Somebody else's answer, as it is. */
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

/** A refusal that the caller of the API sees. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly code: ErrorCode
  /** Of the body, besides code and message. */
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

/** By its name, as parts that are packed have the class once more. */
export function isControlError(error: unknown): error is ControlError {
  return error instanceof Error && error.name === 'ControlError'
}
