// Access checks: authentication, then the share of the project, then authorisation. They run before the body is
// read.
import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '@berth/contracts/operation'
import { AppError } from '../platform/errors/app-error.ts'
import { unauthorized } from './bearer.ts'
import { credentialOf, type Credential, type IsOwnOrigin } from './credential.ts'
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
  readonly #isOwn: IsOwnOrigin
  readonly #room: () => Promise<void> | undefined

  constructor(options: {
    authenticator: Authenticator
    flows: FlowAuthenticator
    projects: ProjectResolver
    shares: RequestShares
    isOwn: IsOwnOrigin
    /** A promise to wait for when the audit queue is full. */
    room: () => Promise<void> | undefined
  }) {
    this.#authenticator = options.authenticator
    this.#flows = options.flows
    this.#projects = options.projects
    this.#shares = options.shares
    this.#isOwn = options.isOwn
    this.#room = options.room
  }

  /** Callback style on purpose: a cached key passes without a turn of the event loop. */
  guard(operation: Operation): Guard {
    return (request, reply, done) => {
      let pending: Promise<void> | undefined
      // Read it now: a closed connection no longer has an address.
      const clientIp = (request.ip as string | undefined) ?? ''
      try {
        const credential = credentialOf(request.raw, this.#isOwn)
        const found = this.#recognise(operation, credential, request)
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
    credential: Credential,
    request: FastifyRequest,
  ): Principal | undefined | Promise<Principal | undefined> {
    const found = this.#authenticator.authenticate(credential)
    if (auth !== 'flow-token' || credential.kind !== 'key' || !(found instanceof Promise)) return found
    // An API key can look like anything, so look it up before the flow token.
    const { id: connectionId = '', invocation_id: flowId } = request.params as Record<string, string>
    const place = flowId === undefined ? { connectionId } : { flowId }
    return found.then((principal) => principal ?? this.#flows.admit(credential.key, place))
  }

  #admit(operation: Operation, { request, reply, clientIp, principal }: Arrival): Promise<void> | undefined {
    if (!principal) throw unauthorized('the API key or the sign-in is unknown, expired or deleted')
    const context: RequestContext = {
      principal,
      authStrategy: strategyOf(principal),
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
    const references = names ? projectReferences(request.headers) : undefined
    const room = this.#room()
    return references ? this.#enterOwn(references, context, room) : room
  }

  /** With an organisation-wide key, the request counts for the project that it names. */
  async #admitNamed(
    operation: Operation,
    { request, reply, context }: { request: FastifyRequest; reply: FastifyReply; context: RequestContext },
  ): Promise<void> {
    await this.#room()
    const references = projectReferences(request.headers)
    let found: readonly Found[] = []
    try {
      found = await this.#find(references)
    } finally {
      this.#shares.take(theOne(found)?.id ?? null, request, reply)
    }
    authorise(operation, context.principal)
    const unknown = found.find(({ project }) => project === undefined)
    if (unknown) throw unknownProject(unknown.reference)
    const project = theOne(found)
    if (!project) {
      throw new AppError(
        'bad_request',
        'Cannot choose a project: X-Kernel-Project-Id and X-Kernel-Project name two different ones; send one of them',
      )
    }
    context.projectId = project.id
  }

  /** In the order of the references; without a project where there is none. */
  async #find(references: readonly ProjectReference[]): Promise<readonly Found[]> {
    return Promise.all(
      references.map(async (reference) => ({
        reference,
        project: await this.#projects.resolve(reference.value, reference.by),
      })),
    )
  }

  /** A project key may name its own project only. */
  async #enterOwn(
    references: readonly ProjectReference[],
    context: RequestContext,
    room: Promise<void> | undefined,
  ): Promise<void> {
    await room
    const { projectId } = context.principal
    const found = await this.#find(references)
    // It must not reveal whether other projects exist.
    if (found.some(({ project }) => project?.id !== projectId)) {
      throw new AppError('forbidden', 'Cannot use a project key in another project')
    }
    context.projectId = projectId
  }
}

function strategyOf({ flowId, signInId }: Principal): RequestContext['authStrategy'] {
  if (flowId !== undefined) return 'flow_token'
  return signInId === undefined ? 'api_key' : 'sign_in'
}

function authorise(operation: Operation, principal: Principal): void {
  if (operation.auth === 'organization-key' && principal.projectId !== null) {
    throw new AppError('forbidden', 'Cannot do this with a project key; use an organisation-wide key')
  }
  checkScope(operation, principal)
}

const unknownProject = ({ value }: ProjectReference) =>
  new AppError('project_not_found', `Cannot find an active project "${value}"`)

function checkScope({ scope, closedToApps, needsNoScope }: Operation, principal: Principal): void {
  if (closedToApps && principal.isOfDeployment) {
    throw new AppError('forbidden', "Cannot do this with the key of an app's deployment; use another key")
  }
  if (principal.scopes === undefined || needsNoScope) return
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

interface Found {
  readonly reference: ProjectReference
  /** Undefined where there is no active project. */
  readonly project: { readonly id: string } | undefined
}

function namesProject(headers: FastifyRequest['headers']): boolean {
  return Boolean(headers['x-kernel-project-id'] || headers['x-kernel-project'])
}

/** One for each header. Both may be sent, if they mean the same project. */
function projectReferences(headers: FastifyRequest['headers']): readonly ProjectReference[] {
  const id = headers['x-kernel-project-id']
  const idOrName = headers['x-kernel-project']
  return [
    ...(id ? [{ value: decodeHeader(String(id)), by: 'id' } as const] : []),
    ...(idOrName ? [{ value: decodeHeader(String(idOrName)), by: 'id-or-name' } as const] : []),
  ]
}

/** The project that all references mean, if they mean the same. */
function theOne(found: readonly Found[]): { readonly id: string } | undefined {
  const project = found[0]?.project
  return found.every((other) => other.project?.id === project?.id) ? project : undefined
}

/** Header values arrive as Latin-1. This decodes a name that was sent as UTF-8. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}
