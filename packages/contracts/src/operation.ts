// An endpoint is one row. The server mounts it, OpenAPI and the docs describe it, tests walk it.
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * Who may call: anyone, the holder of any API key, or only the holder of an organisation-wide key. flow-token: the
 * holder of any API key, or of the token of the login flow of the connection that the path names. handoff: who has the
 * one-time code that the body carries.
 */
export type Auth = 'none' | 'bearer' | 'organization-key' | 'flow-token' | 'handoff'

/** Whether it is called without a key and without a token. */
export function isOpen({ auth }: Pick<Operation, 'auth'>): boolean {
  return auth === 'none' || auth === 'handoff'
}

/**
 * events: server-sent events, each with one `response` as its data. relay: status, headers and body are those
 * of somebody else's answer.
 */
export type Kind = 'json' | 'empty' | 'text' | 'html' | 'binary' | 'events' | 'relay'

export type Effect = 'read' | 'write' | 'act' | 'control'

/** How a list is paged: by offset headers, or by an opaque token. */
export type Paging = 'offset' | 'token' | 'cursor'

export interface Operation {
  readonly id: string
  readonly tag: string
  readonly summary: string
  /** What the summary leaves open, in markdown. */
  readonly description?: string
  readonly method: Method
  readonly path: string
  /** Further paths that serve the same operation, for clients of another age. */
  readonly aliases: readonly string[]
  readonly auth: Auth
  /** Path below a session's `base_url`, where the session's own token is enough. */
  readonly sessionPath?: string
  readonly kind: Kind
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  /** A body that is passed on as it comes instead of being read: raw bytes, or a multipart form. */
  readonly bodyStream?: 'bytes' | 'multipart'
  /** Fields of that form. They are for its reader to check, as nobody sees them on their way. */
  readonly form?: TObject
  /** Of a JSON body; 1 MiB where it is not said. */
  readonly maxBodyBytes?: number
  /** Whether a request without a body is taken as `{}`. */
  readonly bodyOptional: boolean
  readonly status: number
  /** Other answers that are no errors, and when. */
  readonly alsoAnswers?: Readonly<Record<number, string>>
  /** The status is another when this field of the answer has one of these values. */
  readonly statusWhen?: {
    readonly field: string
    readonly values: readonly string[]
    readonly status: number
  }
  readonly response?: TSchema
  readonly contentType?: string
  readonly paging?: Paging
  readonly errors: readonly ErrorCode[]
  /**
   * A read changes nothing. A write is one transaction, with its audit record. An act reaches beyond the
   * database, and commits what it did when it did it, with the audit record. A control reaches into the
   * instance of a session, leaves nothing in the database, and is audited as reads are.
   */
  readonly effect: Effect
  /** Of an act that may wait for long before it commits: then nothing is held for it, nor for its Idempotency-Key. */
  readonly waits?: true
  /** Fields of the answer that are shown once and never replayed from an Idempotency-Key. */
  readonly onceOnly: readonly string[]
}

interface Defaults {
  aliases: readonly string[]
  auth: Auth
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
  const defaults: Defaults = {
    aliases: [],
    auth: 'bearer',
    kind: 'json',
    bodyOptional: false,
    errors: [],
    effect: row.method === 'GET' ? 'read' : 'write',
    onceOnly: [],
  }
  return { ...defaults, ...row }
}

type In<O, K extends string> = O extends { [P in K]: infer S extends TSchema } ? Static<S> : undefined
export type Params<O> = In<O, 'params'>
export type Query<O> = In<O, 'query'>
export type Body<O> = In<O, 'body'>
export type Response<O> = O extends { response: infer S extends TSchema } ? Static<S> : void

/** The JSON POSTs of the control plane take an Idempotency-Key; of what is passed on nobody knows whether it is the same. */
export function takesIdempotencyKey(row: Operation): boolean {
  const { method, kind, effect, bodyStream } = row
  return method === 'POST' && kind === 'json' && !isOpen(row) && effect !== 'control' && !bodyStream
}

export function pathsOf({ path, aliases }: Operation): string[] {
  return [path, ...aliases]
}

/** Below base_url: aliases below the session are served there, too. */
export function sessionPathsOf({ sessionPath, aliases }: Operation): string[] {
  if (sessionPath === undefined) return []
  const below = '/browsers/{id}'
  return [
    sessionPath,
    ...aliases.filter((path) => path.startsWith(`${below}/`)).map((path) => path.slice(below.length)),
  ]
}

/** Among the exports of a contract, which has constants and schemas as well. */
export function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value
}
