import {
  MOST_VALUES,
  type CreateCredentialRequest,
  type Credential,
  type TotpCode,
  type UpdateCredentialRequest,
} from '@berth/contracts/credentials'
import { violatedConstraint } from '../db/failures.ts'
import type { Db } from '../db/schema.ts'
import { AppError, invalidInput } from '../errors.ts'
import type { OffsetPage } from '../http/call.ts'
import { toPage } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { findProjectBy, lockProjects } from '../projects/store.ts'
import { readDomain } from './domain.ts'
import type { CredentialSecrets } from './secrets.ts'
import * as store from './store.ts'
import { oneTimeCode, readTotp, type TotpSeed } from './totp.ts'
import type { CredentialRecord, CredentialUse, LoginValues } from './types.ts'
import { mergeValues } from './values.ts'

/** Where a call comes from: its key, and the project a header names. */
export interface Caller {
  readonly principal: Principal
  readonly projectId: string | null
}

export interface CredentialServiceOptions {
  readonly secrets: CredentialSecrets
  readonly uses: readonly CredentialUse[]
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class CredentialService {
  readonly #options: CredentialServiceOptions

  constructor(options: CredentialServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, caller: Caller, body: CreateCredentialRequest): Promise<Credential> {
    const { secrets, defaultProject } = this.#options
    checkName(body.name)
    const domain = readDomain(body.domain)
    if (domain === undefined) {
      throw invalidInput('domain', 'must be a host name such as example.com, without a user name')
    }
    const seed = readTotp(body)
    // Or else the project could be deleted, as empty, before this is in it.
    await lockProjects(tx)
    const projectId = projectOf(caller) ?? (await defaultProject(tx)).id
    const project = await findProjectBy(tx, 'id', projectId)
    if (project?.status !== 'active') {
      throw new AppError('project_not_found', `Cannot find an active project "${projectId}"`)
    }
    const place = { id: store.newCredentialId(), project_id: projectId }
    const record = await withFreeName(body.name, () =>
      store.insertCredential(tx, {
        ...place,
        name: body.name,
        domain,
        sso_provider: body.sso_provider || null,
        sealed_values: secrets.sealValues(place, body.values),
        sealed_totp: seed ? secrets.sealTotp(place, seed) : null,
      }),
    )
    return this.#show(record, seed)
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; domain?: string; query?: string },
  ): Promise<OffsetPage<Credential[]>> {
    const { limit = 20, offset = 0, query: part, domain: asked } = query
    // What is no domain is the domain of none.
    const domain = asked ? (readDomain(asked) ?? asked) : undefined
    const rows = await store.listCredentials(db, projectOf(caller), {
      ...(part !== undefined && { query: part }),
      ...(domain !== undefined && { domain }),
      limit: limit + 1,
      offset,
    })
    return toPage(rows.map(toListed), limit)
  }

  async get(db: Db, caller: Caller, idOrName: string): Promise<Credential> {
    return this.#show(await find(db, caller, idOrName))
  }

  async update(tx: Db, caller: Caller, idOrName: string, body: UpdateCredentialRequest): Promise<Credential> {
    const { secrets } = this.#options
    if (body.name !== undefined) checkName(body.name)
    const seed = readTotp(body)
    const record = await find(tx, caller, idOrName, { isLocked: true })
    const change: store.CredentialChange = {
      ...(body.name !== undefined && body.name !== record.name && { name: body.name }),
      ...(body.sso_provider !== undefined && { sso_provider: body.sso_provider || null }),
      ...((body.values || body.remove_value_keys) && {
        sealed_values: secrets.sealValues(record, changedValues(secrets.valuesOf(record), body)),
      }),
      ...(body.totp_secret !== undefined && { sealed_totp: seed ? secrets.sealTotp(record, seed) : null }),
    }
    if (Object.keys(change).length === 0) return this.#show(record)
    const updated = await withFreeName(body.name, () => store.updateCredential(tx, record, change))
    if (change.name !== undefined) {
      const names = { from: record.name, to: change.name }
      for (const use of this.#options.uses) await use.renamed(tx, record.project_id, names)
    }
    return this.#show(updated, seed)
  }

  async delete(tx: Db, caller: Caller, idOrName: string): Promise<void> {
    // Deleting twice is success: a client that lost the first answer asks again.
    if (await store.wasDeleted(tx, projectOf(caller), idOrName)) return
    const record = await find(tx, caller, idOrName, { isLocked: true })
    for (const use of this.#options.uses) await use.deleted(tx, record.project_id, record.name)
    await store.markDeleted(tx, record)
  }

  async totpCode(db: Db, caller: Caller, idOrName: string): Promise<TotpCode> {
    const seed = this.#options.secrets.totpOf(await find(db, caller, idOrName))
    if (!seed) {
      throw new AppError(
        'not_found',
        `Cannot make a code of credential "${idOrName}": it has no totp_secret; set one first`,
      )
    }
    const { code, expiresAt } = oneTimeCode(seed)
    return { code, expires_at: expiresAt.toISOString() }
  }

  #show(record: CredentialRecord, seedJustSet?: TotpSeed): Credential {
    const code = seedJustSet && oneTimeCode(seedJustSet)
    return {
      ...toListed(record),
      value_keys: Object.keys(this.#options.secrets.valuesOf(record)),
      ...(code && { totp_code: code.code, totp_code_expires_at: code.expiresAt.toISOString() }),
    }
  }
}

function toListed(record: CredentialRecord): Credential {
  return {
    id: record.id,
    name: record.name,
    domain: record.domain,
    created_at: record.created_at,
    updated_at: record.updated_at,
    has_values: record.sealed_values !== null,
    has_totp_secret: record.sealed_totp !== null,
    sso_provider: record.sso_provider,
  }
}

function changedValues(
  before: LoginValues,
  { values = {}, remove_value_keys = [] }: UpdateCredentialRequest,
): LoginValues {
  const after = mergeValues(before, { values, removed: remove_value_keys })
  if (Object.keys(after).length > MOST_VALUES) {
    throw invalidInput('values', `must have at most ${MOST_VALUES} together with those that are there`)
  }
  return after
}

/** A credential of another project is answered exactly like one that does not exist. */
async function find(
  db: Db,
  caller: Caller,
  idOrName: string,
  options?: store.FindOptions,
): Promise<CredentialRecord> {
  const record = await store.findCredential(db, projectOf(caller), idOrName, options)
  if (!record) throw new AppError('not_found', `Cannot find credential "${idOrName}"`)
  return record
}

function projectOf({ principal, projectId }: Caller): string | null {
  return principal.projectId ?? projectId
}

function checkName(name: string): void {
  if (name.trim() === '') throw invalidInput('name', 'must not be blank')
}

async function withFreeName<T>(name: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (violatedConstraint(error) !== 'credentials_name') throw error
    throw new AppError('already_exists', `Cannot use name "${name}": another credential has it`, {
      cause: error,
    })
  }
}
