// Each endpoint is one row. The server mounts it, OpenAPI and the docs describe it, and tests iterate over all rows.
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { derivedScope, type OperationScope } from './scopes.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * Who may call the operation. none: anyone. bearer: any API key. organization-key: only an organisation-wide key.
 * flow-token: any API key, or the token of the login flow of the connection in the path. handoff: anyone with the
 * one-time code in the body.
 */
export type Auth = 'none' | 'bearer' | 'organization-key' | 'flow-token' | 'handoff'

/** Whether callers need neither a key nor a token. */
export function isOpen({ auth }: Pick<Operation, 'auth'>): boolean {
  return auth === 'none' || auth === 'handoff'
}

/**
 * events: server-sent events, each with one `response` as its data. relay: status, headers and body of another
 * server's response.
 */
export type Kind = 'json' | 'empty' | 'text' | 'html' | 'binary' | 'events' | 'relay'

export type Effect = 'read' | 'write' | 'act' | 'control'

/** How a list is paged: by offset, or by an opaque token or cursor. */
export type Paging = 'offset' | 'token' | 'cursor'

export interface Operation {
  readonly id: string
  /** Its names in the reference's OpenAPI document: of the path, then of each alias that has one. */
  readonly referenceIds?: readonly string[]
  readonly tag: string
  readonly summary: string
  /** Details beyond the summary, in markdown. */
  readonly description?: string
  readonly deprecated?: true
  readonly method: Method
  readonly path: string
  /** Further paths of the same operation, for older clients. */
  readonly aliases: readonly string[]
  readonly auth: Auth
  /**
   * What a key with scopes needs. Derived from the tag and the effect, unless the answer of a read lets the caller act,
   * or a control only reads.
   */
  readonly scope: OperationScope | null
  /**
   * Web pages of any origin may call it, with the token or the code of a login flow. An API key from such a page is
   * refused.
   */
  readonly anyOrigin?: true
  /** Any key may call it, whatever its scopes: it says only what the key itself is, or filters by the scopes itself. */
  readonly needsNoScope?: true
  /** An app's own key may not call it, because the operation makes or changes keys. */
  readonly closedToApps?: true
  /** Path below a session's `base_url`, which accepts the session's own token. */
  readonly sessionPath?: string
  readonly kind: Kind
  readonly params?: TObject
  readonly query?: TObject
  /** Headers that the handler reads and checks itself. */
  readonly headers?: TObject
  readonly body?: TObject
  /** The body is streamed instead of parsed: raw bytes, or a multipart form. */
  readonly bodyStream?: 'bytes' | 'multipart'
  /** Fields of the multipart form. The handler validates them, because the HTTP layer does not parse the form. */
  readonly form?: TObject
  /** Limit for a JSON body. Defaults to 1 MiB. */
  readonly maxBodyBytes?: number
  /** Whether a missing body counts as `{}`. */
  readonly bodyOptional: boolean
  readonly status: number
  /** Other successful statuses, and when the operation returns them. */
  readonly alsoAnswers?: Readonly<Record<number, string>>
  /** Replaces `status` when this field of the response has one of these values. */
  readonly statusWhen?: {
    readonly field: string
    readonly values: readonly string[]
    readonly status: number
  }
  readonly response?: TSchema
  /** Describes the response in the OpenAPI document, where `response` says only what the serializer needs. */
  readonly described?: TSchema
  readonly contentType?: string
  readonly paging?: Paging
  readonly errors: readonly ErrorCode[]
  /**
   * A read changes nothing. A write is one transaction that includes its audit record. An act has effects outside the
   * database; it commits its result together with the audit record when it is done. A control works inside the instance
   * of a session, stores nothing in the database, and is audited like a read.
   */
  readonly effect: Effect
  /** The act may wait long before it commits, so the server holds no transaction or Idempotency-Key lock for it. */
  readonly waits?: true
  /** Response fields that are shown once and left out when an Idempotency-Key replays the response. */
  readonly onceOnly: readonly string[]
}

interface Defaults {
  aliases: readonly string[]
  auth: Auth
  scope: OperationScope | null
  kind: Kind
  bodyOptional: boolean
  errors: readonly ErrorCode[]
  effect: Effect
  onceOnly: readonly string[]
}

export type Row = Omit<Operation, keyof Defaults> & Partial<Defaults>

export type Resolved<R extends Row> = Omit<R, keyof Defaults> &
  Defaults & { [K in keyof R & keyof Defaults]: R[K] }

export function operation<const R extends Row>(row: R): Resolved<R> {
  const effect = row.effect ?? (row.method === 'GET' ? 'read' : 'write')
  const defaults: Defaults = {
    aliases: [],
    auth: 'bearer',
    scope:
      row.auth === 'none' || row.auth === 'handoff' || row.needsNoScope
        ? null
        : derivedScope({ tag: row.tag, effect }),
    kind: 'json',
    bodyOptional: false,
    errors: [],
    effect,
    onceOnly: [],
  }
  return { ...defaults, ...row }
}

type In<O, K extends string> = O extends { [P in K]: infer S extends TSchema } ? Static<S> : undefined
export type Params<O> = In<O, 'params'>
export type Query<O> = In<O, 'query'>
export type Body<O> = In<O, 'body'>
export type Response<O> = O extends { response: infer S extends TSchema } ? Static<S> : void

/** Only JSON POSTs take an Idempotency-Key: the server cannot compare streamed bodies or control calls. */
export function takesIdempotencyKey(row: Operation): boolean {
  const { method, kind, effect, bodyStream } = row
  return method === 'POST' && kind === 'json' && !isOpen(row) && effect !== 'control' && !bodyStream
}

export function pathsOf({ path, aliases }: Operation): string[] {
  return [path, ...aliases]
}

/** The name that clients see, in OpenAPI and in telemetry: the reference's where it has one. */
export function publicIdOf({ id, referenceIds }: Pick<Operation, 'id' | 'referenceIds'>): string {
  return referenceIds?.[0] ?? id
}

/** Paths below `base_url`, including the aliases below the session. */
export function sessionPathsOf({ sessionPath, aliases }: Operation): string[] {
  if (sessionPath === undefined) return []
  const below = '/browsers/{id}'
  return [
    sessionPath,
    ...aliases.filter((path) => path.startsWith(`${below}/`)).map((path) => path.slice(below.length)),
  ]
}

/** Tells operations from the constants and schemas that a contract also exports. */
export function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value
}
