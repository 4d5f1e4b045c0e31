import type { FastifyReply } from 'fastify'
import type { Principal } from './principal.ts'

/** What the server knows of a request once its caller is recognised. */
export interface RequestContext {
  readonly principal: Principal
  /** How the caller was recognised. */
  readonly authStrategy: 'api_key' | 'session_token' | 'flow_token'
  projectId: string | null
  readonly receivedAt: Date
  /** Empty when the connection was gone before anyone could look. */
  readonly clientIp: string
  /** Set when the record was already written with the change itself. */
  isAudited: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is passed on as it comes. */
    isBodyStream?: boolean
  }
  interface FastifyRequest {
    context: RequestContext | null
    /** The path of the contract that was asked for, with its parameters unfilled. */
    route: string
    /** A handler is at work; the request is not over before it is, whatever its client does. */
    isHandling: boolean
    /** Counts, records and logs the request, once it is over. */
    whenOver: (request: FastifyRequest, reply: FastifyReply) => void
  }
}

/**
 * Fires when the connection closes before the answer was sent. Not `request.signal`: Fastify 5.12
 * hands that to POST handlers already aborted.
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new ClientGone())
  })
  if (reply.raw.destroyed) controller.abort(new ClientGone())
  return controller.signal
}

/** What nginx made customary for a caller that left; no client ever sees it. */
export const CLIENT_GONE = 499

/** What the caller got. A stream of events may have no end of its own: once it has begun, it is answered. */
export function statusSeen({ raw, statusCode }: FastifyReply): number {
  const isStream = raw.headersSent && String(raw.getHeader('content-type')).startsWith('text/event-stream')
  return raw.writableFinished || isStream ? statusCode : CLIENT_GONE
}

export class ClientGone extends Error {
  constructor() {
    super('The client went away')
  }
}
