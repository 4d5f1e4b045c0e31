// Auth agents and their invocations: connections and their flows, as clients 0.23 to 0.32 know them. The service of
// connections does everything; this one translates.
import type {
  AuthAgent,
  AuthInvocation,
  AuthInvocationCreated,
  CreateAuthAgentRequest,
  SubmitInvocationRequest,
} from '@berth/contracts/auth-agents'
import type { ManagedAuth, SubmitRequest } from '@berth/contracts/auth-connections'
import type { Caller } from '../../sessions/browsers/service.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { projectOf } from '../../http/principal.ts'
import * as flows from '../connections/flow-store.ts'
import { hostedUrlOf, type LinkMaker } from '../connections/links.ts'
import { placeOf, unknownCode, type ConnectionService } from '../connections/service.ts'
import { findConnection } from '../connections/store.ts'
import type { ConnectionRecord, FlowRecord } from '../connections/types.ts'
import { toAuthAgent, toAuthInvocation, typeOf } from './view.ts'

export class AuthAgents {
  readonly #connections: ConnectionService
  readonly #links: Pick<LinkMaker, 'of'>

  constructor({ connections, links }: { connections: ConnectionService; links: Pick<LinkMaker, 'of'> }) {
    this.#connections = connections
    this.#links = links
  }

  /** An existing one is returned as it is, whatever else the request says. */
  async create(tx: Db, caller: Caller, body: CreateAuthAgentRequest): Promise<AuthAgent> {
    const { profile_name, login_url, allowed_domains, credential_name, proxy } = body
    const domain = domainOf(body)
    if (domain === undefined) throw invalidInput('domain', 'must be given')
    const shown = await this.#connections
      .create(tx, caller, {
        domain,
        profile_name,
        ...(login_url !== undefined && { login_url }),
        ...(allowed_domains && { allowed_domains }),
        ...(credential_name !== undefined && { credential: { name: credential_name } }),
        ...(proxy?.proxy_id !== undefined && { proxy: { id: proxy.proxy_id } }),
        // Each invocation says whether, and under which name.
        save_credentials: false,
      })
      .catch((error: unknown): Promise<ManagedAuth> => {
        const existing = error instanceof AppError ? error.fields?.existing_id : undefined
        if (existing === undefined) throw error
        return this.#connections.get(tx, caller, existing)
      })
    return toAuthAgent(shown)
  }

  async list(
    db: Db,
    caller: Caller,
    {
      domain: named,
      target_domain,
      ...query
    }: {
      limit?: number
      offset?: number
      profile_name?: string
      domain?: string
      target_domain?: string
    },
  ): Promise<OffsetPage<AuthAgent[]>> {
    const domain = domainOf({ domain: named, target_domain })
    const page = await this.#connections.list(db, caller, {
      ...query,
      ...(domain !== undefined && { domain }),
    })
    return { ...page, items: page.items.map(toAuthAgent) }
  }

  async get(db: Db, caller: Caller, id: string): Promise<AuthAgent> {
    return toAuthAgent(await this.#connections.get(db, caller, id))
  }

  async delete(tx: Db, caller: Caller, id: string): Promise<void> {
    await this.#connections.delete(tx, caller, id)
  }

  async invoke(
    tx: Db,
    caller: Caller,
    { auth_agent_id: id, save_credential_as: saveAs }: { auth_agent_id: string; save_credential_as?: string },
  ): Promise<AuthInvocationCreated> {
    const { flow, code } = await this.#connections.begin(tx, caller, id, { saveAs })
    return {
      invocation_id: flow.id,
      status: 'invocation_created',
      type: typeOf(flow),
      handoff_code: code,
      hosted_url: hostedUrlOf(caller.origin, id, code),
      expires_at: flow.expires_at,
    }
  }

  async invocation(db: Db, caller: Caller, id: string): Promise<AuthInvocation> {
    const { flow, connection } = await this.#find(db, caller, id)
    return toAuthInvocation(flow, connection, this.#links.of(flow, placeOf(caller)))
  }

  async exchange(db: Db, id: string, code: string): Promise<{ invocation_id: string; jwt: string }> {
    const flow = await flows.findFlow(db, id)
    if (!flow?.handoff_hash?.equals(flows.hashOfCode(code))) throw unknownCode()
    return this.#connections.exchange(db, flow.connection_id, code)
  }

  async submit(
    tx: Db,
    caller: Caller,
    id: string,
    body: SubmitInvocationRequest,
  ): Promise<{ accepted: boolean; success: boolean }> {
    const { connection } = await this.#find(tx, caller, id)
    if (connection.flow_id !== id) {
      throw new AppError('no_active_flow', 'Cannot submit this: the invocation has ended; create another one')
    }
    const { accepted } = await this.#connections.submit(tx, caller, connection.id, toSubmission(body))
    return { accepted, success: accepted }
  }

  /** One of another project gets the same answer as one that does not exist. */
  async #find(
    db: Db,
    caller: Caller,
    id: string,
  ): Promise<{ flow: FlowRecord; connection: ConnectionRecord }> {
    const flow = await flows.findFlow(db, id)
    const connection = flow && (await findConnection(db, projectOf(caller), flow.connection_id))
    if (!connection || connection.deleted_at !== null) {
      throw new AppError('not_found', `Cannot find invocation "${id}"`)
    }
    return { flow, connection }
  }
}

function domainOf({
  domain,
  target_domain,
}: {
  readonly domain?: string | undefined
  readonly target_domain?: string | undefined
}): string | undefined {
  if (domain !== undefined && target_domain !== undefined && domain !== target_domain) {
    throw invalidInput('target_domain', 'must be the same as domain, or absent')
  }
  return domain ?? target_domain
}

function toSubmission({
  field_values,
  sso_button,
  selected_mfa_type,
}: SubmitInvocationRequest): SubmitRequest {
  const given: SubmitRequest[] = [
    ...(field_values === undefined ? [] : [{ fields: field_values }]),
    ...(sso_button === undefined ? [] : [{ sso_button_selector: sso_button }]),
    ...(selected_mfa_type === undefined ? [] : [{ mfa_option_id: selected_mfa_type }]),
  ]
  const [submission] = given
  if (!submission || given.length > 1) {
    throw invalidInput(
      'field_values',
      'or sso_button or selected_mfa_type must be given, and only one of them',
    )
  }
  return submission
}
