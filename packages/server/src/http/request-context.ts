import type { FastifyReply } from 'fastify'
import type { Principal } from './principal.ts'

/** What the server knows of a request once its caller is recognised. */
export interface RequestContext {
  readonly principal: Principal
  projectId: string | null
  readonly receivedAt: Date
  /** Set when the record was already written with the change itself. */
  isAudited: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | null
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

export class ClientGone extends Error {
  constructor() {
    super('The client went away')
  }
}
