import type { ApiKey, CreatedApiKey } from '@berth/contracts/api-keys'
import { scopesBeyond, type Scope } from '@berth/contracts/scopes'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import type { Principal } from '../../http/principal.ts'
import { findProject, lockProjects } from '../projects/store.ts'
import { newKey } from './key.ts'
import { announceKeys, checkPower, makerFor } from './power.ts'
import * as store from './store.ts'
import type { ApiKeyRecord } from './store.ts'

const DEFAULT_GRACE_DAYS = 7

export class ApiKeyService {
  async create(
    tx: Db,
    principal: Principal,
    request: {
      name: string
      days_to_expire?: number | null
      project_id?: string | null
      scopes?: Scope[] | null
    },
  ): Promise<CreatedApiKey> {
    await lockProjects(tx)
    const maker = await makerFor(tx, principal)
    const scopes = request.scopes ?? maker.scopes
    const beyond = scopesBeyond(scopes, maker.scopes)
    if (beyond.length > 0) {
      throw new AppError(
        'forbidden',
        `Cannot create a key with scopes that this key does not have: ${[beyond].flat().join(', ')}; leave them out`,
      )
    }
    const projectId = await this.#projectFor(tx, principal, request.project_id)
    const material = newKey()
    const record = await store.insertApiKey(tx, {
      material,
      name: request.name,
      projectId,
      creator: principal.creator,
      lifetimeDays: request.days_to_expire ?? null,
      scopes,
      makerId: maker.id,
      notAfter: maker.expires_at,
    })
    return { ...toApiKey(record, principal), key: material.key }
  }

  /** A project key creates keys only in its own project, which is also the default. */
  async #projectFor(
    tx: Db,
    principal: Principal,
    requested: string | null | undefined,
  ): Promise<string | null> {
    const own = principal.projectId
    if (own !== null) {
      if (requested === null) {
        throw new AppError('forbidden', 'Cannot create an organisation-wide key with a project key')
      }
      if (requested !== undefined && requested !== own) throw projectNotFound(requested)
    }
    const reference = own ?? requested ?? null
    if (reference === null) return null
    // The caller holds the lock of projects: otherwise this one could be deleted as empty before the commit of the new key.
    const project = await findProject(tx, reference)
    if (project?.status !== 'active') throw projectNotFound(reference)
    return project.id
  }

  async list(
    db: Db,
    principal: Principal,
    query: {
      limit?: number
      offset?: number
      query?: string
      name?: string
      sort_by?: 'created_at' | 'name' | 'expires_at'
      sort_direction?: 'asc' | 'desc'
      status?: 'active' | 'deleted' | 'all'
      include_deleted?: boolean
    },
  ): Promise<OffsetPage<ApiKey[]>> {
    const {
      limit = 20,
      offset = 0,
      status = 'active',
      sort_by,
      sort_direction,
      include_deleted,
      ...text
    } = query
    const rows = await store.listApiKeys(db, principal.projectId, {
      ...text,
      status: include_deleted && status === 'active' ? 'all' : status,
      sortBy: sort_by ?? 'created_at',
      direction: sort_direction ?? 'desc',
      limit: limit + 1,
      offset,
    })
    return toPage(
      rows.map((row) => toApiKey(row, principal)),
      limit,
    )
  }

  async get(
    db: Db,
    principal: Principal,
    id: string,
    { includeDeleted }: { includeDeleted: boolean },
  ): Promise<ApiKey> {
    const record = await find(db, principal, id)
    if (record.deleted_at && !includeDeleted) throw notFound(id)
    return toApiKey(record, principal)
  }

  async rename(tx: Db, principal: Principal, id: string, name: string): Promise<ApiKey> {
    const record = await findForChange(tx, principal, id)
    await checkPower(tx, principal, record)
    await store.renameApiKey(tx, id, name)
    return toApiKey({ ...record, name }, principal)
  }

  async delete(tx: Db, principal: Principal, id: string): Promise<void> {
    await lockProjects(tx)
    const record = await find(tx, principal, id, { isLocked: true })
    if (record.id === principal.keyId) {
      throw new AppError(
        'cannot_delete_current_key',
        'Cannot delete the key this request is made with; use another key',
      )
    }
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    if (record.deleted_at) return
    await checkPower(tx, principal, record)
    const made = await store.markApiKeyDeleted(tx, id)
    await announceKeys(tx, [record.public_id, ...made])
  }

  async rotate(
    tx: Db,
    principal: Principal,
    id: string,
    request: { days_to_expire?: number | null; expire_in_days?: number | null },
  ): Promise<CreatedApiKey> {
    // Lock projects before the key's row: every change of keys and projects locks in this order.
    await lockProjects(tx)
    const old = await findForChange(tx, principal, id)
    const maker = await makerFor(tx, principal)
    await checkPower(tx, principal, old)
    const graceDays = request.expire_in_days ?? DEFAULT_GRACE_DAYS
    const lifetimeDays = request.days_to_expire ?? old.lifetime_days
    if (lifetimeDays !== null && lifetimeDays < graceDays) {
      throw invalidInput(
        'days_to_expire',
        `must be at least ${graceDays}, the number of days the old key stays valid; or lower expire_in_days`,
      )
    }
    const material = newKey()
    const record = await store.insertApiKey(tx, {
      material,
      name: old.name,
      projectId: old.project_id,
      creator: principal.creator,
      lifetimeDays,
      scopes: old.scopes,
      // A key that replaces itself does not become its own maker: deleting it later must not end the successor.
      makerId: maker.id === old.id ? old.maker_id : maker.id,
      notAfter: maker.expires_at,
    })
    await store.expireApiKey(tx, old.id, graceDays)
    const made = await store.handOverMade(tx, old.id, record)
    await announceKeys(tx, [old.public_id, ...made])
    return { ...toApiKey(record, principal), key: material.key }
  }
}

async function find(
  db: Db,
  principal: Principal,
  id: string,
  options?: { isLocked: boolean },
): Promise<ApiKeyRecord> {
  const record = await store.findApiKey(db, principal.projectId, id, options)
  if (!record) throw notFound(id)
  return record
}

/** Locks the row until the transaction ends. */
async function findForChange(tx: Db, principal: Principal, id: string): Promise<ApiKeyRecord> {
  const record = await find(tx, principal, id, { isLocked: true })
  if (record.deleted_at) throw notFound(id)
  return record
}

function notFound(id: string): AppError {
  return new AppError('not_found', `Cannot find API key "${id}"`)
}

function projectNotFound(reference: string): AppError {
  return new AppError('project_not_found', `Cannot find an active project "${reference}"`)
}

function toApiKey(record: ApiKeyRecord, { projectId }: Principal): ApiKey {
  // A project key must not learn of keys outside its project.
  const showsMaker = projectId === null || record.maker_project_id === projectId
  return {
    id: record.id,
    name: record.name,
    created_at: record.created_at,
    created_by: { id: record.created_by_id, name: record.created_by_name, email: record.created_by_email },
    expires_at: record.expires_at,
    deleted_at: record.deleted_at,
    project_id: record.project_id,
    project_name: record.project_name,
    masked_key: record.masked_key,
    scopes: record.scopes,
    created_by_key_id: showsMaker ? record.maker_id : null,
  }
}
