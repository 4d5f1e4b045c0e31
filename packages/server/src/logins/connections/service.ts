import { randomBytes } from 'node:crypto'
import type {
  CreateConnectionRequest,
  LoginExplanation,
  LoginRequest,
  LoginResponse,
  ManagedAuth,
  SubmitRequest,
  TimelineEvent,
  TimelineType,
  UpdateConnectionRequest,
} from '@berth/contracts/auth-connections'
import { newId } from '@berth/kit/ids'
import type { ImportSessionRequest, ImportSessionResponse } from '@berth/contracts/session-import'
import { readAllowedDomain, readDomain, type DomainReading } from '@berth/login/hosts/domain-name'
import type { Caller } from '../../sessions/browsers/service.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { hasScope, projectOf } from '../../http/principal.ts'
import { findProjectBy, lockProjects } from '../../tenancy/projects/store.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { CredentialResolver } from '../credentials/resolver.ts'
import { readImport } from '../imports/reading.ts'
import { keepImport, placeOfImport } from '../imports/store.ts'
import { browserColumnsOf, readBrowserOptions } from './browser-options.ts'
import { endFlow } from './flow-ends.ts'
import * as flows from './flow-store.ts'
import type { FlowTokens } from './flow-tokens.ts'
import { hostedUrlOf, type FlowPlace, type LinkMaker } from './links.ts'
import { nextCheck } from './schedule.ts'
import { places } from './sealed-places.ts'
import * as store from './store.ts'
import { readSubmission } from './submission.ts'
import { drawingOf } from '@berth/login/explain/drawing'
import type { CaptchaSolvers } from '../solvers/captcha-solvers.ts'
import type { StepLog } from '../steps/step-log.ts'
import { deleteStepsOf } from '../steps/store.ts'
import { findEntry, listTimeline } from './timeline-store.ts'
import { isOver, isWaiting } from './transitions.ts'
import type { ConnectionRecord, FlowLimits, FlowRecord } from './types.ts'
import { toExplanation } from './explanation-view.ts'
import { toManagedAuth, toTimelineEvent } from './view.ts'

const CODE_BYTES = 32
const DEFAULT_INTERVAL = 3_600

export interface ConnectionServiceOptions {
  readonly db: Db
  readonly box: SealedBox
  readonly serverId: string
  readonly links: LinkMaker
  readonly tokens: FlowTokens
  readonly credentials: Pick<CredentialResolver, 'check' | 'allow' | 'standing' | 'passkeyHosts'>
  readonly solvers: CaptchaSolvers
  readonly steps: StepLog
  readonly limits: FlowLimits
  /** Minimum seconds between two health checks. */
  readonly minInterval: number
  readonly shortcomings: readonly string[]
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class ConnectionService {
  readonly #options: ConnectionServiceOptions

  constructor(options: ConnectionServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, caller: Caller, body: CreateConnectionRequest): Promise<ManagedAuth> {
    const { defaultProject, minInterval, credentials, solvers } = this.#options
    const domain = domainOf('domain', readDomain(body.domain))
    if (body.profile_name.trim() === '') throw invalidInput('profile_name', 'must not be blank')
    // Otherwise the project could be deleted as empty before the connection is in it.
    await lockProjects(tx)
    const projectId = projectOf(caller) ?? (await defaultProject(tx)).id
    const project = await findProjectBy(tx, 'id', projectId)
    if (project?.status !== 'active') {
      throw new AppError('project_not_found', `Cannot find an active project "${projectId}"`)
    }
    const loginUrl = toLoginUrl(body.login_url)
    const allowedDomains = toAllowedDomains(body.allowed_domains ?? [])
    const interval = this.#toInterval(body.health_check_interval) ?? Math.max(DEFAULT_INTERVAL, minInterval)
    const { telemetryAge: age } = caller
    const browser = await readBrowserOptions(tx, body, { projectId, age })
    if (body.credential) {
      if (isTrusted(caller)) {
        await credentials.allow(tx, projectId, body.credential, [domain, ...allowedDomains])
      }
      await credentials.check(tx, projectId, body.credential)
    }
    const profileId = await store.profileNamed(tx, projectId, body.profile_name)
    const newConnectionId = newId()
    const id = await store.insertConnection(tx, {
      id: newConnectionId,
      sealed_captcha_solver: body.captcha_solver ? solvers.seal(newConnectionId, body.captcha_solver) : null,
      project_id: projectId,
      domain,
      profile_id: profileId,
      allowed_domains: allowedDomains,
      redirect_urls: toRedirectUrls(body.redirect_urls ?? []),
      login_url: loginUrl ?? null,
      credential: body.credential ? JSON.stringify(body.credential) : null,
      save_credentials: body.save_credentials ?? true,
      record_session: body.record_session ?? false,
      health_checks: body.health_checks ?? true,
      health_check_interval: interval,
      auto_reauth: body.auto_reauth ?? true,
      telemetry_age: age,
      ...browser,
    })
    if (id === undefined) throw alreadyExists(body, await store.findPair(tx, { profileId, domain }))
    return this.#showById(tx, caller, id)
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; profile_name?: string; domain?: string; query?: string },
  ): Promise<OffsetPage<ManagedAuth[]>> {
    const { limit = 20, offset = 0, profile_name: profileName, domain, query: part } = query
    const rows = await store.listConnections(db, projectOf(caller), {
      ...(profileName !== undefined && { profileName }),
      ...(domain !== undefined && { domain: asWritten(domain) }),
      ...(part && { query: part }),
      limit: limit + 1,
      offset,
    })
    const { items, hasMore } = toPage(rows, limit)
    return { items: await this.#show(db, caller, items), hasMore }
  }

  async get(db: Db, caller: Caller, id: string): Promise<ManagedAuth> {
    const found = await flows.findWithFlow(db, projectOf(caller), id)
    if (!found || found.connection.deleted_at !== null) throw notFound(id)
    return this.#toShown(db, caller, found)
  }

  /** A connection of another project gets the same answer as one that does not exist. */
  async find(db: Db, caller: Caller, id: string): Promise<ConnectionRecord> {
    const record = await store.findConnection(db, projectOf(caller), id)
    if (!record || record.deleted_at !== null) throw notFound(id)
    return record
  }

  async update(tx: Db, caller: Caller, id: string, body: UpdateConnectionRequest): Promise<ManagedAuth> {
    const { project_id: projectId } = await this.find(tx, caller, id)
    const record = await store.lockConnection(tx, id)
    if (!record) throw notFound(id)
    const interval = this.#toInterval(body.health_check_interval)
    const { credentials } = this.#options
    const credential = body.credential ?? record.credential
    if (credential && isTrusted(caller)) {
      // Only what this request names: others may have set the rest.
      await credentials.allow(tx, projectId, credential, [
        ...(body.credential ? [record.domain] : []),
        ...toAllowedDomains(body.allowed_domains ?? []),
      ])
    }
    if (body.credential) await credentials.check(tx, projectId, body.credential)
    const change: store.ConnectionChange = {
      ...(body.login_url !== undefined && {
        login_url: toLoginUrl(body.login_url) ?? null,
        ...(body.login_url === '' && { learned_login_url: null }),
      }),
      ...(body.allowed_domains && { allowed_domains: toAllowedDomains(body.allowed_domains) }),
      ...(body.redirect_urls && { redirect_urls: toRedirectUrls(body.redirect_urls) }),
      ...(body.captcha_solver !== undefined && {
        sealed_captcha_solver: body.captcha_solver
          ? this.#options.solvers.seal(id, body.captcha_solver)
          : null,
        is_reauth_stopped: false,
      }),
      // A new credential may succeed where the old one failed.
      ...(body.credential && {
        credential: JSON.stringify(body.credential),
        is_reauth_stopped: false,
      }),
      ...(await readBrowserOptions(tx, body, { projectId, age: caller.telemetryAge })),
      ...(body.save_credentials !== undefined && { save_credentials: body.save_credentials }),
      ...(body.record_session !== undefined && { record_session: body.record_session }),
      ...(body.health_checks !== undefined && { health_checks: body.health_checks }),
      ...(interval !== undefined && { health_check_interval: interval }),
      ...(body.auto_reauth !== undefined && { auto_reauth: body.auto_reauth }),
    }
    const isScheduled = body.health_checks !== undefined || interval !== undefined
    await store.updateConnection(tx, id, {
      ...change,
      ...(isScheduled && { next_check_at: nextCheck({ ...record, ...pick(change) }) }),
    })
    return this.#showById(tx, caller, id)
  }

  async delete(tx: Db, caller: Caller, id: string): Promise<void> {
    const found = await store.findConnection(tx, projectOf(caller), id)
    if (!found) throw notFound(id)
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    const record = found.deleted_at === null ? await store.lockConnection(tx, id) : undefined
    if (!record) return
    if (record.flow_id !== null) await endFlow(tx, record.flow_id, 'is_dropped', deletedMeanwhile)
    await deleteStepsOf(tx, id)
    await store.updateConnection(tx, id, {
      deleted_at: new Date(),
      memory: null,
      sealed_captcha_solver: null,
      next_check_at: null,
    })
  }

  async login(tx: Db, caller: Caller, id: string, body: LoginRequest): Promise<LoginResponse> {
    const { flow, code } = await this.begin(tx, caller, id, body)
    return {
      id,
      flow_type: flow.type,
      flow_expires_at: flow.expires_at,
      hosted_url: hostedUrlOf(caller.origin, id, code),
      handoff_code: code,
    }
  }

  /** Begins a flow that puts an exported session into the profile instead of logging in. */
  async importSession(
    tx: Db,
    caller: Caller,
    id: string,
    body: ImportSessionRequest,
  ): Promise<ImportSessionResponse> {
    const { domain, allowed_domains: allowedDomains } = await this.find(tx, caller, id)
    const { session, leftOut, leftOutCount } = readImport(body, { domain, allowedDomains })
    const { flow } = await this.begin(tx, caller, id, {})
    await keepImport(tx, flow.id, this.#options.box.seal(JSON.stringify(session), placeOfImport(flow.id)))
    return {
      id,
      flow_type: flow.type,
      flow_expires_at: flow.expires_at,
      cookies: session.cookies.length,
      origins: session.origins.length,
      left_out: [...leftOut],
      left_out_count: leftOutCount,
    }
  }

  /** `saveAs`: the name of the credential that a success makes of what the person types. */
  async begin(
    tx: Db,
    caller: Caller,
    id: string,
    { saveAs, ...body }: LoginRequest & { saveAs?: string | undefined },
  ): Promise<{ flow: FlowRecord; code: string }> {
    const { shortcomings, box, serverId, limits } = this.#options
    if (shortcomings.length > 0) {
      throw new AppError('sessions_unavailable', `Cannot log in: ${shortcomings.join('; ')}`)
    }
    const { project_id: projectId } = await this.find(tx, caller, id)
    const connection = await store.lockConnection(tx, id)
    if (!connection) throw notFound(id)
    await this.#supersede(tx, connection)
    const flowId = newId()
    const code = randomBytes(CODE_BYTES).toString('base64url')
    const flow = await flows.insertFlow(
      tx,
      {
        id: flowId,
        connection_id: id,
        type: 'LOGIN',
        server_id: serverId,
        is_recorded: body.record_session ?? connection.record_session,
        ...browserColumnsOf(connection),
        ...(await readBrowserOptions(tx, body, { projectId, age: caller.telemetryAge })),
        save_as: saveAs ?? null,
        adds_passkey: this.#addsPasskey(connection, body),
        handoff_hash: flows.hashOfCode(code),
        handoff_code: box.seal(code, places.handoffCode(flowId)),
      },
      limits,
    )
    return { flow, code }
  }

  #addsPasskey(
    { credential, domain }: ConnectionRecord,
    { create_passkey: isWanted }: LoginRequest,
  ): boolean {
    if (isWanted !== true) return false
    if (this.#options.credentials.passkeyHosts(credential ?? undefined, domain) === undefined) {
      throw invalidInput(
        'create_passkey',
        'needs a stored credential; the one of this connection is an item of a provider, which only its owner changes',
      )
    }
    return true
  }

  /** Ends an expired flow to make room for another; a running flow is a conflict. */
  async #supersede(tx: Db, { id, flow_id: flowId }: ConnectionRecord): Promise<void> {
    const flow = flowId === null ? undefined : await flows.lockFlow(tx, flowId)
    if (!flow || isOver(flow)) return
    const isStale = flow.state !== 'SAVING' && Date.parse(flow.deadline_at) <= Date.now()
    if (!isStale) {
      throw new AppError(
        'conflict',
        `Cannot begin a login: one is in progress until ${flow.expires_at}; POST /auth/connections/${id}/cancel ends it`,
      )
    }
    await endFlow(tx, flow.id, 'is_canceled', {
      error_code: 'session_expired',
      error_message: 'It expired, and another login was started',
    })
  }

  async submit(tx: Db, caller: Caller, id: string, body: SubmitRequest): Promise<{ accepted: boolean }> {
    const { box, limits } = this.#options
    const connection = await this.find(tx, caller, id)
    const flow = connection.flow_id === null ? undefined : await flows.lockFlow(tx, connection.flow_id)
    const isLate = flow && Date.parse(flow.deadline_at) <= Date.now()
    if (!flow || isOver(flow) || isLate) {
      throw new AppError('no_active_flow', 'Cannot submit this: no login is in progress; begin one first')
    }
    if (!isWaiting(flow) || !flow.question) {
      throw new AppError('conflict', 'Cannot submit this: the login is not waiting for input now')
    }
    const submission = readSubmission(body, flow.question)
    const sealed = box.seal(JSON.stringify(submission), places.submission(flow.id))
    await flows.transition(tx, flow.id, 'is_answered', { submission: sealed, website_error: null }, limits)
    return { accepted: true }
  }

  async cancel(tx: Db, caller: Caller, id: string): Promise<ManagedAuth> {
    await this.find(tx, caller, id)
    const connection = await store.lockConnection(tx, id)
    if (!connection) throw notFound(id)
    const flow = connection.flow_id === null ? undefined : await flows.lockFlow(tx, connection.flow_id)
    if (flow?.state === 'SAVING') {
      throw new AppError('conflict', 'Cannot cancel the login: it has succeeded and is being saved')
    }
    if (flow) {
      await endFlow(tx, flow.id, 'is_canceled', { error_code: null, error_message: 'It was canceled' })
    }
    return this.#showById(tx, caller, id)
  }

  async timeline(
    db: Db,
    caller: Caller,
    id: string,
    { limit = 20, offset = 0, type }: { limit?: number; offset?: number; type?: TimelineType },
  ): Promise<OffsetPage<TimelineEvent[]>> {
    await this.find(db, caller, id)
    const rows = await listTimeline(db, id, { type, limit: limit + 1, offset })
    return toPage(rows.map(toTimelineEvent), limit)
  }

  /** `withPages`: as a report, from which a test of the rules is made. */
  async explain(
    db: Db,
    caller: Caller,
    id: string,
    { entryId, withPages }: { entryId: string; withPages: boolean },
  ): Promise<LoginExplanation> {
    const { steps } = this.#options
    const connection = await this.find(db, caller, id)
    const entry = await findEntry(db, id, entryId)
    if (!entry) throw noEntry(entryId)
    const read = await steps.list(db, entryId)
    const pages = new Map(
      withPages
        ? await Promise.all(
            read
              .filter(({ hasPage }) => hasPage)
              .map(async ({ number }) => [number, await steps.page(db, entryId, number)] as const),
          )
        : [],
    )
    return toExplanation(connection, { event: toTimelineEvent(entry), steps: read, pages })
  }

  /** An SVG. */
  async picture(
    db: Db,
    caller: Caller,
    id: string,
    { entryId, number }: { entryId: string; number: number },
  ): Promise<string> {
    await this.find(db, caller, id)
    if (!(await findEntry(db, id, entryId))) throw noEntry(entryId)
    const drawn = drawingOf(await this.#options.steps.page(db, entryId, number))
    if (drawn === undefined) throw new AppError('not_found', `Cannot find a picture of step ${number}`)
    return drawn
  }

  async exchange(
    db: Db,
    connectionId: string,
    code: string,
  ): Promise<{ invocation_id: string; jwt: string }> {
    const flowId = await flows.useHandoff(db, { connectionId, code })
    if (flowId === undefined) throw await this.#unusable(db, { connectionId, code })
    return { invocation_id: flowId, jwt: this.#options.tokens.sign(flowId) }
  }

  /** A code that was never one gets the same answer as a connection that does not exist: guessing reveals nothing. */
  async #unusable(db: Db, handoff: { connectionId: string; code: string }): Promise<AppError> {
    return (await flows.isSpent(db, handoff))
      ? new AppError('gone', 'Cannot use this code: it was used, or its login has ended; begin another login')
      : unknownCode()
  }

  async #showById(db: Db, caller: Caller, id: string): Promise<ManagedAuth> {
    const record = await store.findConnection(db, null, id)
    if (!record) throw notFound(id)
    return this.#showOne(db, caller, record)
  }

  async #showOne(db: Db, caller: Caller, record: ConnectionRecord): Promise<ManagedAuth> {
    const [shown] = await this.#show(db, caller, [record])
    return shown!
  }

  async #show(db: Db, caller: Caller, records: readonly ConnectionRecord[]): Promise<ManagedAuth[]> {
    const found = await flows.findFlows(
      db,
      records.flatMap(({ flow_id }) => flow_id ?? []),
    )
    const shown: ManagedAuth[] = []
    for (const record of records) {
      const flow = record.flow_id === null ? undefined : found.get(record.flow_id)
      shown.push(await this.#toShown(db, caller, { connection: record, flow }))
    }
    return shown
  }

  async #toShown(
    db: Db,
    caller: Caller,
    { connection, flow }: { connection: ConnectionRecord; flow: FlowRecord | undefined },
  ): Promise<ManagedAuth> {
    const { links, credentials } = this.#options
    const { credential: reference, project_id: projectId } = connection
    const credential = reference ? await credentials.standing(db, projectId, reference) : undefined
    return toManagedAuth(connection, { flow, credential }, links.of(flow, placeOf(caller)))
  }

  #toInterval(seconds: number | undefined): number | undefined {
    const { minInterval } = this.#options
    if (seconds !== undefined && seconds < minInterval) {
      throw invalidInput('health_check_interval', `must be at least ${minInterval} seconds on this server`)
    }
    return seconds
  }
}

export function unknownCode(): AppError {
  return new AppError('not_found', 'Cannot find a login with this code; open the link of the login again')
}

const deletedMeanwhile: Pick<FlowRecord, 'error_code' | 'error_message'> = {
  error_code: null,
  error_message: 'The connection was deleted',
}

/** Whether the caller may say where a credential is typed. A project key chooses login pages, and so may not. */
function isTrusted({ principal }: Caller): boolean {
  return principal.projectId === null && principal.flowId === undefined
}

/** For the URLs in an answer. */
export function placeOf({ origin, principal }: Caller): FlowPlace {
  const mayAct = hasScope(principal, 'logins:write')
  return { origin, showsCode: principal.flowId === undefined, mayAct }
}

function pick({ health_checks, health_check_interval }: store.ConnectionChange) {
  return {
    ...(health_checks !== undefined && { health_checks }),
    ...(health_check_interval !== undefined && { health_check_interval }),
  }
}

function domainOf(field: string, reading: DomainReading): string {
  if ('problem' in reading) throw invalidInput(field, reading.problem)
  return reading.domain
}

/** For searches: an invalid domain is simply not found. */
function asWritten(domain: string): string {
  const reading = readDomain(domain)
  return 'domain' in reading ? reading.domain : domain
}

function toAllowedDomains(written: readonly string[]): string[] {
  const read = written.map((text, index) => domainOf(`allowed_domains[${index}]`, readAllowedDomain(text)))
  return [...new Set(read)]
}

/** They would run or show something on the hosted page itself. */
const NO_PLACE = /^(javascript|data|file|vbscript|blob|about|view-source):$/

function toRedirectUrls(written: readonly string[]): string[] {
  const read = written.map((text, index) => {
    const url = URL.parse(text)
    if (!url || NO_PLACE.test(url.protocol) || url.username || url.password) {
      throw invalidInput(
        `redirect_urls[${index}]`,
        'must be an absolute URL without a user name, such as https://app.example/done',
      )
    }
    url.search = ''
    url.hash = ''
    return url.href
  })
  return [...new Set(read)]
}

/** Undefined when there is none, or when it is removed. */
function toLoginUrl(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalidInput('login_url', 'must be an http or https URL')
  }
  if (url.username || url.password) throw invalidInput('login_url', 'must not have a user name or password')
  return text
}

function alreadyExists(
  { profile_name, domain }: CreateConnectionRequest,
  existingId: string | undefined,
): AppError {
  return new AppError(
    'already_exists',
    `Cannot create the connection: profile "${profile_name}" has one for ${domain} already`,
    existingId === undefined ? {} : { fields: { existing_id: existingId } },
  )
}

function noEntry(id: string): AppError {
  return new AppError('not_found', `Cannot find "${id}" in the timeline of the connection`)
}

function notFound(id: string): AppError {
  return new AppError('not_found', `Cannot find connection "${id}"`)
}
