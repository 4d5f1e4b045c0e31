// Turns the operations of the contract into routes. Schemas, access, transaction, audit record and
// idempotent answer work the same for all of them, so a handler holds only its own logic.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Pool } from 'pg'
import { SESSION_BASE } from '@berth/contracts/control'
import {
  isOpen,
  pathsOf,
  sessionPathsOf,
  takesIdempotencyKey,
  type Operation,
} from '@berth/contracts/operation'
import { crashPoint } from '../platform/errors/crash-point.ts'
import type { Change } from '../platform/database/change-events.ts'
import { changesAnnouncedIn } from '../platform/database/changes.ts'
import type { Db } from '../platform/database/schema.ts'
import { inTransaction, type Transaction } from '../platform/database/transaction.ts'
import type { Access, Guard } from './access.ts'
import { preflightRoutes, urlOf, type CrossOrigin } from './cross-origin.ts'
import { actOnce } from './act-once.ts'
import { auditRecord } from './audit-hook.ts'
import type { BodyStream, Call, Commit, OffsetPage, Outcome, RawAnswer, Route, TokenPage } from './call.ts'
import type { IdempotentAnswers } from './idempotency.ts'
import { ignoredHeader } from './ignored-fields.ts'
import type { OpenStreams } from './open-streams.ts'
import { cutLimit, offsetHeaders, tokenHeaders } from './paging.ts'
import { projectOf, type Principal } from './principal.ts'
import type { FairTurns } from '@berth/kit/fair-turns'
import type { KeyLocks } from '../platform/database/key-locks.ts'
import type { RequestAudit } from './request-audit.ts'
import { RawJson } from './raw-json.ts'
import { discardRest } from './rest-of-body.ts'
import { clientGone, ClientGone, statusSeen, type RequestContext } from './request-context.ts'

export interface MountOptions {
  readonly db: Db
  readonly pool: Pool
  readonly access: Access
  /** Admits callers with a session's token. */
  readonly sessionGuard: Guard
  readonly crossOrigin: CrossOrigin
  readonly audit: RequestAudit
  readonly answers: IdempotentAnswers
  readonly originOf: (request: FastifyRequest) => string
  /** Acts with the same Idempotency-Key wait for each other. */
  readonly locks: KeyLocks
  /** By project. See act-once.ts. */
  readonly heldActs: FairTurns
  /** Ends streams whose key was deleted or has expired. */
  readonly openStreams: OpenStreams
  /** Called for each change after its commit, before the caller gets the answer. */
  readonly onChange: (change: Change) => void
}

export function mount(server: FastifyInstance, routes: readonly Route[], options: MountOptions): void {
  const place = (into: FastifyInstance, route: Route) => {
    const { operation } = route
    const guard = isOpen(operation) ? undefined : options.access.guard(operation)
    for (const path of pathsOf(operation)) into.route(toFastifyRoute(route, { path, guard }, options))
    for (const below of sessionPathsOf(operation)) {
      const path = SESSION_BASE + below
      into.route(toFastifyRoute(route, { path, guard: options.sessionGuard }, options))
    }
  }
  const [streaming, others] = partition(routes, ({ operation }) => operation.bodyStream !== undefined)
  for (const route of others) place(server, route)
  // In a scope of its own: everywhere else, a body that is not JSON is refused.
  void server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    for (const route of streaming) place(scope, route)
    done()
  })
  const all = routes.flatMap(({ operation }) =>
    [...pathsOf(operation), ...sessionPathsOf(operation).map((below) => SESSION_BASE + below)].map(
      (path) => ({
        operation,
        path,
      }),
    ),
  )
  for (const preflight of preflightRoutes(all, options.crossOrigin)) server.route(preflight)
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

interface Place {
  readonly path: string
  readonly guard: Guard | undefined
}

function toFastifyRoute(route: Route, { path, guard }: Place, options: MountOptions): RouteOptions {
  const { operation } = route
  const { params, query, body, response } = operation
  const url = urlOf(path)
  return {
    method: operation.method,
    url,
    schema: {
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      ...(response && operation.kind === 'json' && { response: responsesOf(operation) }),
    },
    onRequest: beginning(operation, { url, guard, crossOrigin: options.crossOrigin }),
    ...(operation.maxBodyBytes !== undefined && { bodyLimit: operation.maxBodyBytes }),
    ...(operation.bodyStream && { bodyLimit: Number.MAX_SAFE_INTEGER, config: { isBodyStream: true } }),
    ...(operation.bodyOptional && {
      preValidation: (request, _reply, done) => {
        request.body ??= {}
        done()
      },
    }),
    handler: (request, reply) => handle(route, request, reply, options),
  }
}

function responsesOf({ status, statusWhen, response }: Operation): Record<number, unknown> {
  return { [status]: response, ...(statusWhen && { [statusWhen.status]: response }) }
}

function beginning(
  operation: Operation,
  {
    url,
    guard,
    crossOrigin,
  }: { url: string; guard: Guard | undefined; crossOrigin: MountOptions['crossOrigin'] },
): Guard {
  return (request, reply, done) => {
    request.route = url
    // First, so that errors have the headers too.
    crossOrigin.admit(operation, request, reply)
    if (!guard) return done()
    if (!operation.anyOrigin) return guard(request, reply, done)
    guard(request, reply, (error) => done(error ?? crossOrigin.refusalOf(request)))
  }
}

async function handle(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  options: MountOptions,
): Promise<unknown> {
  const { operation } = route
  const { context } = request
  request.isHandling = true
  if (operation.paging === 'offset') cutLimit(request.query as { limit?: number })
  try {
    const result =
      operation.effect === 'read' || operation.effect === 'control' || !context
        ? await route.handle(new RequestCall(request, reply, options))
        : await change(route, { context, request, reply, ...options })
    if (operation.kind === 'events') options.openStreams.watch(request, reply)
    void reply.headers(ignoredHeader(request.body))
    return send(operation, result, request, reply)
  } finally {
    request.isHandling = false
    if (operation.bodyStream) discardRest(request.raw)
    if (reply.raw.closed) request.whenOver(request, reply)
  }
}

class RequestCall implements Call<unknown> {
  readonly params: undefined
  readonly query: undefined
  readonly body: undefined
  readonly principal: Principal
  readonly projectId: string | null
  readonly db: Db
  readonly commit: Commit
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #originOf: MountOptions['originOf']
  #signal: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, options: CallOptions) {
    // SAFETY: the operation's schemas validated it; `route()` restores the types.
    this.params = request.params as undefined
    this.query = request.query as undefined
    this.body = request.body as undefined
    // SAFETY: an operation without a guard does not use the principal.
    this.principal = request.context?.principal as Principal
    this.projectId = request.context?.projectId ?? null
    this.db = options.db
    this.commit = options.commit ?? ((work) => work(options.db))
    this.#request = request
    this.#reply = reply
    this.#originOf = options.originOf
    this.#signal = options.signal
  }

  /** Created on first use: most reads end before a client could leave. */
  get signal(): AbortSignal {
    return (this.#signal ??= clientGone(this.#reply))
  }

  get headers(): IncomingHttpHeaders {
    const { authorization, cookie, ...headers } = this.#request.headers
    const strategy = this.#request.context?.authStrategy
    return {
      ...headers,
      // What is not the caller's secret is for whoever the request is passed on to.
      ...(authorization !== undefined && strategy === 'session_token' && { authorization }),
      ...(cookie !== undefined && strategy !== 'sign_in' && { cookie }),
    }
  }

  get stream(): BodyStream | undefined {
    const { body, headers } = this.#request
    if (!(body instanceof Readable)) return undefined
    const described = ['content-type', 'content-length'].flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value] as const] : []
    })
    return { body, headers: Object.fromEntries(described) }
  }

  get origin(): string {
    return this.#originOf(this.#request)
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    void this.#reply.headers(headers)
  }

  whenOver(listener: (outcome: Outcome) => void): void {
    const { raw } = this.#reply
    const tell = () => {
      const { id: requestId } = this.#request
      const status = statusSeen(this.#reply)
      listener({ requestId, status, durationMs: Math.round(this.#reply.elapsedTime) })
    }
    if (raw.closed) tell()
    else raw.once('close', tell)
  }
}

interface CallOptions extends Pick<MountOptions, 'originOf'> {
  readonly db: Db
  readonly commit?: Commit
  /** Set when the caller already has a signal. */
  readonly signal?: AbortSignal | undefined
}

interface WriteContext extends MountOptions {
  readonly context: RequestContext
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** One transaction: the change, its audit record, and the answer to a repeated request. */
async function change(route: Route, options: WriteContext): Promise<unknown> {
  const { operation } = route
  const { context, request, reply, db, answers, originOf } = options
  const idempotent = takesIdempotencyKey(operation)
    ? answers.read(request.headers['idempotency-key'], {
        principal: context.principal,
        projectId: context.projectId,
        operationId: operation.id,
        input: [request.params, request.query, request.body],
      })
    : undefined
  const repeated = ({ replay }: { replay: unknown }) => {
    void reply.header('idempotent-replayed', 'true')
    return { answer: replay, isRepeated: true }
  }
  if (operation.effect === 'act' && idempotent && !operation.waits) {
    const signal = clientGone(reply)
    const outcome = await actOnce({
      request: idempotent,
      answers,
      locks: options.locks,
      turns: options.heldActs,
      projectId: projectOf(context),
      db,
      signal,
      record: (work) => recorded(operation, options, work),
      keep: operation,
      act: async (commit) => route.handle(new RequestCall(request, reply, { db, commit, originOf, signal })),
    })
    return outcome.isRepeated ? repeated({ replay: outcome.answer }).answer : outcome.answer
  }
  if (operation.effect === 'act') {
    // When the act waits, the first request to finish claims the key, and the other gets the same answer.
    const commit: Commit = <T>(work: (tx: Db) => Promise<T>) =>
      recorded<T>(operation, options, async (tx, alongCommit) => {
        const earlier = idempotent && (await answers.claim(tx, idempotent))
        // SAFETY: this operation stored the answer.
        if (earlier) return repeated(earlier) as { answer: T; isRepeated: boolean }
        const answer = await work(tx)
        if (idempotent) alongCommit(() => answers.keep(tx, idempotent, { ...operation, answer }))
        return { answer, isRepeated: false }
      })
    return route.handle(new RequestCall(request, reply, { db, commit, originOf }))
  }
  return recorded(operation, options, async (tx, alongCommit) => {
    const earlier = idempotent && (await answers.claim(tx, idempotent))
    if (earlier) return repeated(earlier)
    const answer = await route.handle(new RequestCall(request, reply, { db: tx, originOf }))
    if (idempotent) alongCommit(() => answers.keep(tx, idempotent, { ...operation, answer }))
    return { answer, isRepeated: false }
  })
}

/** Commits the work with its audit record, then publishes the changes in it. */
async function recorded<T>(
  operation: Operation,
  { context, request, reply, pool, audit, onChange }: WriteContext,
  work: (tx: Db, alongCommit: Transaction['alongCommit']) => Promise<{ answer: T; isRepeated: boolean }>,
): Promise<T> {
  let changes: readonly Change[] = []
  const { answer, isRepeated } = await inTransaction(pool, async ({ db: tx, alongCommit }) => {
    const outcome = await work(tx, alongCommit)
    if (outcome.isRepeated) return outcome
    // The last moment to stop a write, because nobody would see its result. An act has already happened.
    if (operation.effect === 'write' && reply.raw.destroyed) throw new ClientGone()
    crashPoint('before-commit')
    alongCommit(() => audit.recordIn(tx, auditRecord(request, context, operation.status)))
    changes = changesAnnouncedIn(tx)
    return outcome
  })
  crashPoint('after-commit')
  context.isAudited = !isRepeated
  changes.forEach(onChange)
  return answer
}

/**
 * What a session, a tenant or a website wrote must not be shown as a page of this server's origin. Videos are played, so
 * they are not saved unless their handler says so.
 */
function strangersFile({ contentType = 'application/octet-stream' }: Operation): Record<string, string> {
  const isShown = /^(video|image)\//.test(contentType)
  return {
    'x-content-type-options': 'nosniff',
    ...(!isShown && {
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
    }),
  }
}

function send(operation: Operation, result: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
  void reply.code(operation.status)
  if (operation.kind === 'empty') return reply.send()
  if (operation.kind === 'events') {
    // SAFETY: see below.
    const { body } = result as RawAnswer
    void reply.headers({ 'cache-control': 'no-store', 'x-sse-content-type': 'application/json' })
    return reply.type('text/event-stream').send(body)
  }
  if (operation.kind === 'relay') {
    return passOn(result as RawAnswer, reply)
  }
  if (operation.kind !== 'json') {
    // SAFETY: Answer<O> makes handlers of these kinds return a RawAnswer.
    const { body, headers, status } = result as RawAnswer
    if (operation.kind === 'binary') void reply.headers(strangersFile(operation))
    if (headers) void reply.headers(headers)
    if (status !== undefined) void reply.code(status)
    return reply.type(operation.contentType ?? 'application/octet-stream').send(body)
  }
  if (result instanceof RawJson) return reply.type('application/json; charset=utf-8').send(result.body)
  if (result === undefined && operation.alsoAnswers?.[204]) return reply.code(204).send()
  const { limit, offset = 0 } = request.query as { limit: number; offset?: number }
  switch (operation.paging) {
    case 'offset': {
      const page = result as OffsetPage<unknown>
      void reply.headers(offsetHeaders(page, { limit, offset, request: request.headers }))
      return reply.send(page.items)
    }
    case 'token': {
      const page = result as TokenPage<unknown>
      void reply.headers(tokenHeaders(page, limit))
      return reply.send(page.items)
    }
    default:
      return reply.code(statusOf(operation, result)).send(result)
  }
}

function statusOf({ status, statusWhen }: Operation, result: unknown): number {
  if (!statusWhen) return status
  const value = (result as Readonly<Record<string, unknown>>)[statusWhen.field]
  return statusWhen.values.some((each) => each === value) ? statusWhen.status : status
}

/** Bypasses Fastify, which delays the head until there is a body and turns a missing body into an error. */
function passOn({ status = 200, headers, body }: RawAnswer, reply: FastifyReply): FastifyReply {
  reply.hijack()
  const all: OutgoingHttpHeaders = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...headers }
  reply.raw.writeHead(status, all)
  reply.raw.flushHeaders()
  const source = body instanceof Readable ? body : Readable.from([body])
  // If one side breaks, pipeline closes the other.
  pipeline(source, reply.raw).catch(() => {})
  return reply
}
