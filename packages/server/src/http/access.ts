// Access checks: authentication, then the share of the project, then authorisation. They run before the body is
// read.
import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '@berth/contracts/operation'
import { AppError } from '../platform/errors/app-error.ts'
import { bearerToken, unauthorized } from './bearer.ts'
import type { Authenticator, FlowAuthenticator, Principal, ProjectResolver } from './principal.ts'
import type { RequestShares } from './request-shares.ts'
import type { RequestContext } from './request-context.ts'

type Done = (error?: Error) => void
export type Guard = (request: FastifyRequest, reply: FastifyReply, done: Done) => void

export class Access {
  readonly #authenticator: Authenticator
  readonly #flows: FlowAuthenticator
  readonly #projects: ProjectResolver
  readonly #shares: RequestShares
  readonly #room: () => Promise<void> | undefined

  constructor(options: {
    authenticator: Authenticator
    flows: FlowAuthenticator
    projects: ProjectResolver
    shares: RequestShares
    /** A promise to wait for when the audit queue is full. */
    room: () => Promise<void> | undefined
  }) {
    this.#authenticator = options.authenticator
    this.#flows = options.flows
    this.#projects = options.projects
    this.#shares = options.shares
    this.#room = options.room
  }

  /** Callback style on purpose: a cached key passes without a turn of the event loop. */
  guard(operation: Operation): Guard {
    return (request, reply, done) => {
      let pending: Promise<void> | undefined
      // Read it now: a closed connection no longer has an address.
      const clientIp = (request.ip as string | undefined) ?? ''
      try {
        const token = bearerToken(request.raw)
        const found = this.#recognise(operation, token, request)
        pending =
          found instanceof Promise
            ? found.then((principal) => this.#admit(operation, { request, reply, clientIp, principal }))
            : this.#admit(operation, { request, reply, clientIp, principal: found })
      } catch (error) {
        return done(error as Error)
      }
      if (pending) pending.then(() => done(), done)
      else done()
    }
  }

  #recognise(
    { auth }: Operation,
    token: string,
    request: FastifyRequest,
  ): Principal | undefined | Promise<Principal | undefined> {
    const found = this.#authenticator.authenticate(token)
    if (auth !== 'flow-token' || !(found instanceof Promise)) return found
    // An API key can look like anything, so look it up before the flow token.
    const { id: connectionId = '', invocation_id: flowId } = request.params as Record<string, string>
    const place = flowId === undefined ? { connectionId } : { flowId }
    return found.then((principal) => principal ?? this.#flows.admit(token, place))
  }

  #admit(operation: Operation, { request, reply, clientIp, principal }: Arrival): Promise<void> | undefined {
    if (!principal) throw unauthorized('the API key is unknown, expired or deleted')
    const context: RequestContext = {
      principal,
      authStrategy: principal.flowId === undefined ? 'api_key' : 'flow_token',
      scope: principal.flowId === undefined ? (operation.scope ?? '') : '',
      projectId: null,
      receivedAt: new Date(),
      clientIp,
      isAudited: false,
    }
    request.context = context
    if (principal.isProjectArchived) {
      throw new AppError(
        'project_not_found',
        'Cannot use this key: its project is archived; use a key of an active project',
      )
    }
    // A flow token belongs to one project, whatever the headers name.
    const names = principal.flowId === undefined && namesProject(request.headers)
    if (principal.projectId === null && names) return this.#admitNamed(operation, { request, reply, context })
    this.#shares.take(principal.projectId, request, reply)
    authorise(operation, principal)
    const reference = names ? projectReference(request.headers) : undefined
    const room = this.#room()
    return reference ? this.#enterOwn(reference, context, room) : room
  }

  /** With an organisation-wide key, the request counts for the project that it names. */
  async #admitNamed(
    operation: Operation,
    { request, reply, context }: { request: FastifyRequest; reply: FastifyReply; context: RequestContext },
  ): Promise<void> {
    await this.#room()
    let reference: ProjectReference
    let project: { readonly id: string } | undefined
    try {
      reference = projectReference(request.headers)
      project = await this.#projects.resolve(reference.value, reference.by)
    } finally {
      this.#shares.take(project?.id ?? null, request, reply)
    }
    authorise(operation, context.principal)
    if (!project) throw unknownProject(reference)
    context.projectId = project.id
  }

  /** A project key may name its own project only. */
  async #enterOwn(
    reference: ProjectReference,
    context: RequestContext,
    room: Promise<void> | undefined,
  ): Promise<void> {
    await room
    const project = await this.#projects.resolve(reference.value, reference.by)
    // It must not reveal whether other projects exist.
    if (project?.id !== context.principal.projectId) {
      throw new AppError('forbidden', 'Cannot use a project key in another project')
    }
    context.projectId = project.id
  }
}

function authorise(operation: Operation, principal: Principal): void {
  if (operation.auth === 'organization-key' && principal.projectId !== null) {
    throw new AppError('forbidden', 'Cannot do this with a project key; use an organisation-wide key')
  }
  checkScope(operation, principal)
}

const unknownProject = ({ value }: ProjectReference) =>
  new AppError('project_not_found', `Cannot find an active project "${value}"`)

function checkScope({ scope, closedToApps }: Operation, principal: Principal): void {
  if (closedToApps && principal.isOfDeployment) {
    throw new AppError('forbidden', "Cannot do this with the key of an app's deployment; use another key")
  }
  if (principal.scopes === undefined) return
  if (scope === null || !principal.scopes.has(scope)) {
    const lacking =
      scope === null ? 'the key has scopes, and this needs one without' : `the key lacks the scope "${scope}"`
    throw new AppError('forbidden', `Cannot do this: ${lacking}; use a key that has it`)
  }
}

interface Arrival {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly clientIp: string
  readonly principal: Principal | undefined
}

interface ProjectReference {
  readonly value: string
  readonly by: 'id' | 'id-or-name'
}

function namesProject(headers: FastifyRequest['headers']): boolean {
  return Boolean(headers['x-kernel-project-id'] || headers['x-kernel-project'])
}

function projectReference(headers: FastifyRequest['headers']): ProjectReference {
  const id = headers['x-kernel-project-id']
  const idOrName = headers['x-kernel-project']
  if (id && idOrName && id !== idOrName) {
    throw new AppError(
      'bad_request',
      'Cannot choose a project: X-Kernel-Project-Id and X-Kernel-Project differ',
    )
  }
  const value = decodeHeader(String(id || idOrName))
  return { value, by: id ? 'id' : 'id-or-name' }
}

/** Header values arrive as Latin-1. This decodes a name that was sent as UTF-8. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}
