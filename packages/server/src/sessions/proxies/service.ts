import type { CreateProxyRequest, Proxy } from '@berth/contracts/proxies'
import type { Db } from '../../platform/database/schema.ts'
import { EgressRefusal } from '../../instances/egress/refusal.ts'
import { throughProxy } from '../../instances/egress/route.ts'
import { DirectUpstream, type DirectUpstreamOptions } from '../../instances/egress/upstream.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { Commit, OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf, type Principal } from '../../http/principal.ts'
import { findProjectBy, lockProjects } from '../../tenancy/projects/store.ts'
import { checkThrough, targetOf } from './check.ts'
import { defineProxy } from './definition.ts'
import type { Providers } from './providers.ts'
import * as store from './store.ts'
import type { ProxyRecord, ProxyUse } from './types.ts'
import type { ProxyUpstreams } from './upstreams.ts'

/** The origin of a call: its key and the project from a header. */
export interface Caller {
  readonly principal: Principal
  readonly projectId: string | null
}

export interface ProxyServiceOptions {
  readonly db: Db
  /** How to reach the proxies themselves. */
  readonly direct: DirectUpstreamOptions
  readonly providers: Providers
  readonly upstreams: ProxyUpstreams
  /** URLs that answer with the caller's address. */
  readonly checkUrls: readonly URL[]
  readonly uses: readonly ProxyUse[]
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class ProxyService {
  readonly #options: ProxyServiceOptions

  constructor(options: ProxyServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, caller: Caller, body: CreateProxyRequest): Promise<Proxy> {
    const { direct, providers, upstreams, defaultProject } = this.#options
    const name = body.name === undefined ? null : toName(body.name)
    const definition = defineProxy(body, { policy: direct.policy, providers })
    // Otherwise the project could be deleted as empty before this proxy is in it.
    await lockProjects(tx)
    const projectId = projectOf(caller) ?? (await defaultProject(tx)).id
    const project = await findProjectBy(tx, 'id', projectId)
    if (project?.status !== 'active') {
      throw new AppError('project_not_found', `Cannot find an active project "${projectId}"`)
    }
    const id = store.newProxyId()
    const credentials = definition.credentials && upstreams.seal(id, definition.credentials)
    const sealedCaBundle =
      definition.caBundle === null ? null : upstreams.sealCaBundle(id, definition.caBundle)
    const proxy = { id, name, definition, credentials, sealedCaBundle }
    return this.#show(await store.insertProxy(tx, projectId, proxy))
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; query?: string; name?: string },
  ): Promise<OffsetPage<Proxy[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    const rows = await store.listProxies(db, projectOf(caller), { ...filters, limit: limit + 1, offset })
    return toPage(
      rows.map((row) => this.#show(row)),
      limit,
    )
  }

  async get(db: Db, caller: Caller, id: string): Promise<Proxy> {
    return this.#show(await find(db, caller, id))
  }

  async rename(tx: Db, caller: Caller, id: string, name: string): Promise<Proxy> {
    const record = await store.renameProxy(tx, projectOf(caller), id, toName(name))
    if (!record) throw notFound(id)
    return this.#show(record)
  }

  async delete(tx: Db, caller: Caller, id: string): Promise<void> {
    // Locked, so that nobody starts to use it between the check and the delete.
    const record = await store.findProxy(tx, projectOf(caller), id, { isLocked: true })
    if (!record) throw notFound(id)
    // Deleting twice succeeds, because a client that lost the first answer repeats the request.
    if (record.deleted_at) return
    for (const { what, countUsing } of this.#options.uses) {
      const count = await countUsing(tx, id)
      if (count > 0) {
        throw new AppError(
          'resource_in_use',
          `Cannot delete proxy "${id}": ${count} ${what} use it; end them or give them another one first`,
        )
      }
    }
    await store.markProxyDeleted(tx, record.project_id, id)
  }

  async check(
    caller: Caller,
    id: string,
    { url, signal }: { url: string | undefined; signal: AbortSignal },
    commit: Commit,
  ): Promise<Proxy> {
    const { db, upstreams, checkUrls } = this.#options
    const record = await find(db, caller, id)
    const asked = url === undefined ? undefined : this.#readUrl(url)
    // Its own look-ups, so that proxies whose names never answer delay no other check.
    using direct = new DirectUpstream(this.#options.direct)
    const upstream = throughProxy(upstreams.of(record), direct)
    const result = await checkThrough(upstream, asked ? [asked] : checkUrls, signal)
    if (asked) return this.#show({ ...record, status: result.status, last_checked: new Date().toISOString() })
    return commit(async (tx) => {
      const checked = await store.keepCheck(tx, record.project_id, id, result)
      if (!checked) throw notFound(id)
      return this.#show(checked)
    })
  }

  /** Checks only the URL itself, because the proxy resolves its name. */
  #readUrl(text: string): URL {
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol)) throw invalidInput('url', 'must be an http or https URL')
    if (url.username || url.password) throw invalidInput('url', 'must not have a user name or password')
    try {
      const verdict = this.#options.direct.policy.judgeTarget(targetOf(url))
      if (!verdict.allowed) throw invalidInput('url', `cannot be reached: ${verdict.reason}`)
    } catch (error) {
      if (error instanceof EgressRefusal) throw invalidInput('url', 'must have a valid host')
      throw error
    }
    return url
  }

  #show(record: ProxyRecord): Proxy {
    const { username } = this.#options.upstreams.credentialsOf(record)
    return {
      id: record.id,
      ...(record.name !== null && { name: record.name }),
      type: record.type,
      protocol: record.protocol,
      bypass_hosts: record.bypass_hosts,
      config: { ...record.config, ...(username !== undefined && { username }) },
      ...(record.status !== null && { status: record.status }),
      ...(record.last_checked !== null && { last_checked: record.last_checked }),
      ...(record.ip_address !== null && { ip_address: record.ip_address }),
      created_at: record.created_at,
    }
  }
}

async function find(db: Db, caller: Caller, id: string): Promise<ProxyRecord> {
  const record = await store.findProxy(db, projectOf(caller), id)
  if (!record || record.deleted_at) throw notFound(id)
  return record
}

function toName(name: string): string {
  if (name.trim() === '') throw invalidInput('name', 'must not be blank')
  return name
}

function notFound(id: string): AppError {
  return new AppError('not_found', `Cannot find proxy "${id}"`)
}
