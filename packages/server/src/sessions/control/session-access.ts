// Lets the holder of a session token control that session and nothing else. Below base_url, the published client sends
// the token instead of its key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import type { Guard } from '../../http/access.ts'
import type { RequestShares } from '../../http/request-shares.ts'
import type { RequestContext } from '../../http/request-context.ts'

export const CONTROL_AUDIENCE = 'control'

export interface SessionAccessOptions {
  readonly tokens: Pick<SessionTokens, 'verify'>
  /** The project of a session that has not ended. */
  readonly projectOf: (
    sessionId: string,
    leaseNumber: number,
  ) => Promise<string | undefined> | string | undefined
  readonly shares: RequestShares
}

export class SessionAccess {
  readonly #options: SessionAccessOptions

  constructor(options: SessionAccessOptions) {
    this.#options = options
  }

  readonly guard: Guard = (request, reply, done) => {
    // Read now, because a closed connection has no address.
    const clientIp = (request.ip as string | undefined) ?? ''
    this.#admit(request, reply, clientIp).then(
      () => done(),
      (error: unknown) => done(error as Error),
    )
  }

  async #admit(request: FastifyRequest, reply: FastifyReply, clientIp: string): Promise<void> {
    const { tokens, projectOf, shares } = this.#options
    const query = request.query as Record<string, unknown>
    const { jwt } = query
    const { sessionId, leaseNumber } = await tokens.verify(
      typeof jwt === 'string' ? jwt : '',
      CONTROL_AUDIENCE,
    )
    // Nothing after this line needs the token.
    delete query['jwt']
    const projectId = await projectOf(sessionId, leaseNumber)
    if (projectId === undefined) throw new AppError('not_found', 'Cannot do this: the session has ended')
    const context: RequestContext = {
      principal: {
        keyId: sessionId,
        projectId,
        isProjectArchived: false,
        creator: { id: sessionId, name: null, email: '' },
      },
      authStrategy: 'session_token',
      scope: '',
      projectId: null,
      receivedAt: new Date(),
      clientIp,
      isAudited: false,
    }
    request.context = context
    // The path does not contain the session; the token names it.
    ;(request.params as Record<string, string>)['id'] = sessionId
    shares.take(projectId, request, reply)
  }
}
