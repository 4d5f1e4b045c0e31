import type { FastifyReply } from 'fastify'
import type { Principal } from './principal.ts'

/** What the server knows about a request once it has recognised the caller. */
export interface RequestContext {
  readonly principal: Principal
  /** How the caller was recognised. */
  readonly authStrategy: 'api_key' | 'sign_in' | 'session_token' | 'flow_token'
  /** What the operation needs; empty for callers with a token instead of a key. */
  readonly scope: string
  projectId: string | null
  readonly receivedAt: Date
  /** Empty when the connection closed before the address was read. */
  readonly clientIp: string
  /** Set when the record was written together with the change. */
  isAudited: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is passed on unread. */
    isBodyStream?: boolean
  }
  interface FastifyRequest {
    context: RequestContext | null
    /** Its place among the requests of its project, until it is over. */
    place: Disposable | null
    /** The contract's path, with its parameters unfilled. */
    route: string
    /** True while a handler works; the request is not over before it returns, even if the client left. */
    isHandling: boolean
    /** Counts, records and logs the request when it is over. */
    whenOver: (request: FastifyRequest, reply: FastifyReply) => void
  }
}

/**
 * Fires when the connection closes before the answer was sent. Do not use `request.signal`: Fastify 5.12
 * passes it to POST handlers already aborted.
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new ClientGone())
  })
  if (reply.raw.destroyed) controller.abort(new ClientGone())
  return controller.signal
}

/** nginx's status for a client that left; no client ever sees it. */
export const CLIENT_GONE = 499

/** The status the caller got. An event stream may never end, so it counts as answered once it has begun. */
export function statusSeen({ raw, statusCode }: FastifyReply): number {
  const isStream = raw.headersSent && String(raw.getHeader('content-type')).startsWith('text/event-stream')
  return raw.writableFinished || isStream ? statusCode : CLIENT_GONE
}

export class ClientGone extends Error {
  constructor() {
    super('The client disconnected')
  }
}
