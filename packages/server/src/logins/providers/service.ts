import type {
  CreateCredentialProviderRequest,
  CredentialProvider,
  CredentialProviderItem,
  CredentialProviderItems,
  CredentialProviderTestResult,
  ProviderType,
  UpdateCredentialProviderRequest,
} from '@berth/contracts/credential-providers'
import { uniqueNames } from '../../platform/database/unique-names.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import type { Principal } from '../../http/principal.ts'
import { findProjectBy } from '../../tenancy/projects/store.ts'
import type { Sources } from './sources.ts'
import { SourceFailure, type SourceItem } from './sources/source.ts'
import * as store from './store.ts'
import type { ProviderRecord } from './types.ts'

const withFreeName = uniqueNames({ constraint: 'credential_providers_name', what: 'credential provider' })

const USUAL_CACHE_SECONDS = 300

/** The caller: its key, and the project that a header names. */
export interface Caller {
  readonly principal: Pick<Principal, 'projectId'>
  readonly projectId: string | null
}

export interface CredentialProviderServiceOptions {
  readonly db: Db
  readonly sources: Sources
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class CredentialProviderService {
  readonly #db: Db
  readonly #sources: Sources
  readonly #defaultProject: (db: Db) => Promise<{ id: string }>

  constructor({ db, sources, defaultProject }: CredentialProviderServiceOptions) {
    this.#db = db
    this.#sources = sources
    this.#defaultProject = defaultProject
  }

  async create(tx: Db, caller: Caller, body: CreateCredentialProviderRequest): Promise<CredentialProvider> {
    const { name, provider_type, token, cache_ttl_seconds = USUAL_CACHE_SECONDS } = body
    checkName(name)
    const server_url = this.#readServerUrl(body.server_url)
    checkFit(provider_type, { token, server_url })
    const project_ids = body.project_ids
      ? await readProjects(tx, body.project_ids)
      : [caller.projectId ?? (await this.#defaultProject(tx)).id]
    const id = store.newProviderId()
    const sealed_token = this.#sources.sealToken(id, token)
    const record = await withFreeName(name, () =>
      store.insertProvider(tx, {
        id,
        name,
        provider_type,
        server_url,
        sealed_token,
        cache_ttl_seconds,
        project_ids,
      }),
    )
    return toProvider(record)
  }

  async list(
    db: Db,
    { principal }: Caller,
    query: { limit?: number; offset?: number; query?: string },
  ): Promise<OffsetPage<CredentialProvider[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    const rows = await store.listProviders(db, principal.projectId, { ...filters, limit: limit + 1, offset })
    return toPage(
      rows.map((row) => shownTo(principal, row)),
      limit,
    )
  }

  async get(db: Db, { principal }: Caller, id: string): Promise<CredentialProvider> {
    const record = await find(db, id)
    const { projectId } = principal
    if (projectId !== null && !record.project_ids.includes(projectId)) throw notFound(id)
    return shownTo(principal, record)
  }

  async update(tx: Db, id: string, body: UpdateCredentialProviderRequest): Promise<CredentialProvider> {
    const { name, token, enabled, priority, cache_ttl_seconds } = body
    if (name !== undefined) checkName(name)
    const record = await find(tx, id, { isLocked: true })
    const server_url =
      body.server_url === undefined ? record.server_url : this.#readServerUrl(body.server_url)
    if (token !== undefined) checkFit(record.provider_type, { token, server_url })
    // Otherwise a caller who may change a provider could send its stored token to their own server.
    else if (server_url !== record.server_url) {
      throw invalidInput('server_url', 'can only be changed together with the token')
    }
    const change: store.ProviderChange = {
      ...(name !== undefined && { name }),
      ...(token !== undefined && { sealed_token: this.#sources.sealToken(id, token) }),
      ...(server_url !== record.server_url && { server_url }),
      ...(enabled !== undefined && { is_enabled: enabled }),
      ...(priority !== undefined && { priority }),
      ...(cache_ttl_seconds !== undefined && { cache_ttl_seconds }),
      ...(body.project_ids && { project_ids: await readProjects(tx, body.project_ids) }),
    }
    if (Object.keys(change).length === 0) return toProvider(record)
    return toProvider(await withFreeName(name, () => store.updateProvider(tx, id, change)))
  }

  async delete(tx: Db, id: string): Promise<void> {
    const record = await store.findProvider(tx, id, { isLocked: true })
    if (!record) throw notFound(id)
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    if (!record.deleted_at) await store.markProviderDeleted(tx, id)
  }

  #readServerUrl(text: string | null | undefined): string | null {
    return text ? this.#sources.readServerUrl(text) : null
  }

  async items(id: string, signal: AbortSignal): Promise<CredentialProviderItems> {
    const items = await this.#sources.items(await find(this.#db, id), signal)
    return { items: items.map(toItem) }
  }

  async test(id: string, signal: AbortSignal): Promise<CredentialProviderTestResult> {
    const record = await find(this.#db, id)
    try {
      const vaults = await this.#sources.vaults(record, signal)
      return { success: true, vaults: vaults.map(({ id: vaultId, name }) => ({ id: vaultId, name })) }
    } catch (error) {
      if (!(error instanceof SourceFailure)) throw error
      return {
        success: false,
        vaults: [],
        error: `Cannot read from credential provider "${record.name}": ${error.message}`,
      }
    }
  }
}

export function pathOf({ vault, title }: SourceItem): string {
  return `${vault.name}/${title}`
}

function toItem(item: SourceItem): CredentialProviderItem {
  const { id, title, vault, urls } = item
  return {
    id,
    title,
    vault_id: vault.id,
    vault_name: vault.name,
    path: pathOf(item),
    ...(urls.length > 0 && { urls: [...urls] }),
  }
}

function toProvider(record: ProviderRecord): CredentialProvider {
  return {
    id: record.id,
    name: record.name,
    provider_type: record.provider_type,
    enabled: record.is_enabled,
    priority: record.priority,
    cache_ttl_seconds: record.cache_ttl_seconds,
    ...(record.server_url !== null && { server_url: record.server_url }),
    project_ids: record.project_ids,
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}

/** A project key does not learn which other projects there are. */
function shownTo({ projectId }: Caller['principal'], record: ProviderRecord): CredentialProvider {
  const { project_ids, ...rest } = toProvider(record)
  return { ...rest, project_ids: project_ids.filter((id) => projectId === null || id === projectId) }
}

async function readProjects(tx: Db, ids: readonly string[]): Promise<string[]> {
  const unique = [...new Set(ids)]
  for (const id of unique) {
    if (!(await findProjectBy(tx, 'id', id))) {
      throw invalidInput('project_ids', `names no project of the organisation ("${id}")`)
    }
  }
  return unique
}

/** Whether the token fits the server: a token is never sent to the wrong place. */
function checkFit(
  type: ProviderType,
  { token, server_url }: { token: string; server_url: string | null },
): void {
  if (type === 'hashicorp_vault') {
    if (server_url === null) throw invalidInput('server_url', 'is required for hashicorp_vault')
    return
  }
  const isOfServiceAccount = token.startsWith('ops_')
  if (server_url === null && !isOfServiceAccount) {
    throw invalidInput(
      'token',
      'must be that of a service account (ops_…); for a Connect server give its server_url, too',
    )
  }
  if (server_url !== null && isOfServiceAccount) {
    throw invalidInput('server_url', 'is for Connect servers; the token of a service account needs none')
  }
}

async function find(db: Db, id: string, options?: { isLocked?: boolean }): Promise<ProviderRecord> {
  const record = await store.findProvider(db, id, options)
  if (!record || record.deleted_at) throw notFound(id)
  return record
}

function notFound(id: string): AppError {
  return new AppError('not_found', `Cannot find credential provider "${id}"`)
}

function checkName(name: string): void {
  if (name.trim() === '') throw invalidInput('name', 'must not be blank')
}
