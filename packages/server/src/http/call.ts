// What a handler receives, and how it is bound to its operation in the contract.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Operation, Body, Params, Query, Response } from '@berth/contracts/operation'
import type { Db } from '../platform/database/schema.ts'
import type { Principal } from './principal.ts'

/** The result is the operation's answer, also for a repeated request. */
export type Commit = <T>(work: (tx: Db) => Promise<T>) => Promise<T>

/** A body that is passed on unread, with the headers that describe it. */
export interface BodyStream {
  readonly body: Readable
  readonly headers: Readonly<Record<string, string>>
}

export interface Call<O> {
  readonly params: Params<O>
  readonly query: Query<O>
  readonly body: Body<O>
  /** The request's headers, without the API key or the cookie of the sign-in. */
  readonly headers: IncomingHttpHeaders
  /** Set for operations that pass their body on unread. */
  readonly stream: BodyStream | undefined
  /** For writes, the transaction that also holds the audit record; otherwise the pool. */
  readonly db: Db
  /** For acts: commits the result together with the audit record. */
  readonly commit: Commit
  /** The start of every URL in the answer, such as https://berth.example. */
  readonly origin: string
  readonly principal: Principal
  /** The project that a header names, if any. It exists, is active, and the caller may use it. */
  readonly projectId: string | null
  /**
   * Fires when the client disconnects before the answer, or when a stopping server disconnects it after the grace
   * period. Created on first use. Pass it to everything that waits for long, but not to cleanup.
   */
  readonly signal: AbortSignal
  /** Further headers of the answer. */
  addHeaders(headers: Readonly<Record<string, string>>): void
  /** Called when the request ends, with or without an answer. */
  whenOver(listener: (outcome: Outcome) => void): void
}

export interface Outcome {
  readonly requestId: string
  /** 499 when the client left before the answer. */
  readonly status: number
  readonly durationMs: number
}

export interface OffsetPage<T> {
  readonly items: T
  readonly hasMore: boolean
  /** Where the next page begins, for lists without a total count. */
  readonly nextOffset?: number
}

export interface TokenPage<T> {
  readonly items: T
  readonly nextToken: string | undefined
}

export interface RawAnswer {
  readonly body: string | Buffer | Readable
  readonly headers?: Readonly<OutgoingHttpHeaders>
  /** Set when it differs from the operation's status. */
  readonly status?: number
}

export type Answer<O> = O extends { paging: 'offset' }
  ? OffsetPage<Response<O>>
  : O extends { paging: 'token' }
    ? TokenPage<Response<O>>
    : O extends { kind: 'text' | 'html' | 'binary' | 'events' | 'relay' }
      ? RawAnswer
      : O extends { alsoAnswers: { 204: string } }
        ? Response<O> | undefined
        : Response<O>

export interface Route {
  readonly operation: Operation
  handle(call: Call<unknown>): unknown
}

export function route<O extends Operation>(
  operation: O,
  handle: (call: Call<O>) => Answer<O> | Promise<Answer<O>>,
): Route {
  return {
    operation,
    // The server has validated the call against this operation's own schemas.
    handle,
  }
}
