// Calls from web pages of other origins. A browser sends them only after a preflight that allows them, and shows the
// page only answers that name its origin. So whatever this module does not open stays closed.
//
// The token and the code of a login flow work from any origin: the customer's page shows the login. Cookies are never
// involved, and an API key in such a page is refused, because every visitor could read it.
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Operation } from '@berth/contracts/operation'
import { AppError } from '../platform/errors/app-error.ts'

/** What published clients and login components send. */
const OPEN_HEADERS =
  /^(authorization|content-type|accept|last-event-id|user-agent|cache-control|idempotency-key|x-stainless-[a-z-]{1,40})$/
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const MAX_HEADERS = 50
/** How long a browser may remember the answer to a preflight. */
const REMEMBER_SECONDS = 600
const MAX_QUOTE_LENGTH = 100

export interface CrossOriginOptions {
  /** Origins whose pages may call every operation. */
  readonly listed: readonly string[]
  readonly isOwn: (origin: string, host: string | undefined) => boolean
}

export class CrossOrigin {
  readonly #listed: ReadonlySet<string>
  readonly #isOwn: CrossOriginOptions['isOwn']

  constructor({ listed, isOwn }: CrossOriginOptions) {
    this.#listed = new Set(listed)
    this.#isOwn = isOwn
  }

  get hasListed(): boolean {
    return this.#listed.size > 0
  }

  isListed(origin: string): boolean {
    return this.#listed.has(origin)
  }

  /** Lets the page read the answer, also if it is an error. */
  admit(operation: Operation, request: FastifyRequest, reply: FastifyReply): void {
    const { origin } = request.headers
    if (origin === undefined) return
    const allowed = this.#allowedFor(operation, origin)
    if (allowed === undefined) return
    void reply.headers({
      'access-control-allow-origin': allowed,
      'access-control-expose-headers': '*',
      vary: 'Origin',
    })
  }

  /** Why a page of another origin may not do this; for operations that are open to any origin. */
  refusalOf({ headers, context }: FastifyRequest): AppError | undefined {
    const { origin, host } = headers
    if (origin === undefined || !context || context.principal.flowId !== undefined) return undefined
    if (this.#listed.has(origin) || this.#isOwn(origin, host)) return undefined
    return new AppError(
      'forbidden',
      `Cannot use an API key from a page of ${origin.slice(0, MAX_QUOTE_LENGTH)}: use the token of the login flow, or add the origin to BERTH_ALLOWED_ORIGINS`,
    )
  }

  /** The headers that answer a preflight; undefined if the call is not allowed. */
  preflight(operation: Operation, { headers }: FastifyRequest): Record<string, string> | undefined {
    const { origin } = headers
    const allowed = origin === undefined ? undefined : this.#allowedFor(operation, origin)
    if (allowed === undefined) return undefined
    const isNamed = allowed === '*' ? OPEN_HEADERS : HEADER_NAME
    const names = (headers['access-control-request-headers'] ?? '')
      .split(',', MAX_HEADERS)
      .map((name) => name.trim().toLowerCase())
      .filter((name) => isNamed.test(name))
    return {
      'access-control-allow-origin': allowed,
      'access-control-allow-methods': operation.method,
      ...(names.length > 0 && { 'access-control-allow-headers': names.join(', ') }),
      'access-control-max-age': String(REMEMBER_SECONDS),
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    }
  }

  /** A browser takes `*` only for calls without credentials of its own. */
  #allowedFor({ anyOrigin }: Operation, origin: string): string | undefined {
    if (this.#listed.has(origin)) return origin
    return anyOrigin ? '*' : undefined
  }
}

interface Placed {
  readonly operation: Operation
  readonly path: string
}

/** Routes that answer preflights. A path that is closed to all other origins has none. */
export function preflightRoutes(rows: readonly Placed[], crossOrigin: CrossOrigin): RouteOptions[] {
  const open = rows.filter(({ operation }) => crossOrigin.hasListed || operation.anyOrigin)
  const byPath = Map.groupBy(open, ({ path }) => path.replaceAll(/\{\w+\}/g, '{}'))
  return [...byPath.values()].map((placed): RouteOptions => {
    const url = urlOf(placed[0]!.path)
    return {
      method: 'OPTIONS',
      url,
      onRequest: (request, _reply, done) => {
        request.route = url
        done()
      },
      handler: (request, reply) => {
        const method = request.headers['access-control-request-method']
        const row = placed.find(({ operation }) => operation.method === method)
        const headers = row && crossOrigin.preflight(row.operation, request)
        if (!headers) return reply.callNotFound()
        return reply.code(204).headers(headers).send()
      },
    }
  })
}

/** The path as the router writes it. */
export function urlOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}
