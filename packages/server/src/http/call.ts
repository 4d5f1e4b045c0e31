// What a handler is given, and how a handler is tied to its row of the contract.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Operation, Body, Params, Query, Response } from '@berth/contracts/operation'
import type { Db } from '../platform/database/schema.ts'
import type { Principal } from './principal.ts'

/** Its result is the answer of the operation, also when the request is repeated. */
export type Commit = <T>(work: (tx: Db) => Promise<T>) => Promise<T>

/** A body that is passed on as it comes, with the headers that describe it. */
export interface BodyStream {
  readonly body: Readable
  readonly headers: Readonly<Record<string, string>>
}

export interface Call<O> {
  readonly params: Params<O>
  readonly query: Query<O>
  readonly body: Body<O>
  /** Of the request, without the API key. */
  readonly headers: IncomingHttpHeaders
  /** For operations whose body is not read but passed on. */
  readonly stream: BodyStream | undefined
  /** For writes the one transaction that also holds the audit record; otherwise the pool. */
  readonly db: Db
  /** For acts: the one transaction that says it is done, together with the audit record. */
  readonly commit: Commit
  /** What URLs in the answer begin with, such as https://berth.example. */
  readonly origin: string
  readonly principal: Principal
  /** Project named by a header, if any; checked to exist, to be active and to be allowed. */
  readonly projectId: string | null
  /**
   * Fires when the client goes away before it was answered; a server that stops sends its clients away when their time
   * is up. Made when first asked for. Whatever waits for long takes it; cleaning up does not.
   */
  readonly signal: AbortSignal
  /** Called when the request is over, answered or not. */
  whenOver(listener: (outcome: Outcome) => void): void
}

export interface Outcome {
  readonly requestId: string
  /** 499: the client left before it was answered. */
  readonly status: number
  readonly durationMs: number
}

export interface OffsetPage<T> {
  readonly items: T
  readonly hasMore: boolean
  /** Where the next page begins, for lists that do not count their items. */
  readonly nextOffset?: number
}

export interface TokenPage<T> {
  readonly items: T
  readonly nextToken: string | undefined
}

export interface RawAnswer {
  readonly body: string | Buffer | Readable
  readonly headers?: Readonly<OutgoingHttpHeaders>
  /** Where it is not that of the operation. */
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
