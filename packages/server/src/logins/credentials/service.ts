import {
  MAX_VALUES,
  type CreateCredentialRequest,
  type Credential,
  type CredentialPasskey,
  type TotpCode,
  type UpdateCredentialRequest,
} from '@berth/contracts/credentials'
import { uniqueNames } from '../../platform/database/unique-names.ts'
import { wasDeleted } from '../../platform/database/deleted-rows.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf, type Principal } from '../../http/principal.ts'
import { findProjectBy, lockProjects } from '../../tenancy/projects/store.ts'
import { readAllowedDomain } from '@berth/login/hosts/domain-name'
import { readDomain } from '../domain/domain.ts'
import type { Mailboxes } from '../mailboxes/mailboxes.ts'
import type { CredentialSecrets } from './secrets.ts'
import * as store from './store.ts'
import { listPasskeys, markPasskeyDeleted } from './passkey-store.ts'
import { oneTimeCode, readTotp, type TotpSeed } from './totp.ts'
import type { CredentialRecord, CredentialUse, LoginValues } from './types.ts'
import { mergeValues } from './values.ts'

const withFreeName = uniqueNames({ constraint: 'credentials_name', what: 'credential' })

/** The caller: its key, and the project that a header names. */
export interface Caller {
  readonly principal: Principal
  readonly projectId: string | null
}

export interface CredentialServiceOptions {
  readonly secrets: CredentialSecrets
  readonly uses: readonly CredentialUse[]
  readonly mailboxes: Mailboxes
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class CredentialService {
  readonly #options: CredentialServiceOptions

  constructor(options: CredentialServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, caller: Caller, body: CreateCredentialRequest): Promise<Credential> {
    const { secrets, mailboxes, defaultProject } = this.#options
    checkName(body.name)
    const domain = readDomain(body.domain)
    if (domain === undefined) {
      throw invalidInput('domain', 'must be a host name such as example.com, without a user name')
    }
    const seed = readTotp(body)
    const mailbox = body.mailbox && mailboxes.read(body.mailbox)
    // Otherwise the project could be deleted as empty before the credential is in it.
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
        sealed_mailbox: mailbox ? secrets.sealMailbox(place, mailbox) : null,
        // Whoever creates a credential knows its values, so there is nothing to protect from them.
        allowed_domains: readDomains(body.allowed_domains ?? []),
      }),
    )
    return this.#show(tx, record, seed)
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; domain?: string; query?: string },
  ): Promise<OffsetPage<Credential[]>> {
    const { limit = 20, offset = 0, query: part, domain: asked } = query
    // An invalid domain matches no credential.
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
    return this.#show(db, await find(db, caller, idOrName))
  }

  async update(tx: Db, caller: Caller, idOrName: string, body: UpdateCredentialRequest): Promise<Credential> {
    const { secrets, mailboxes } = this.#options
    if (body.name !== undefined) checkName(body.name)
    const seed = readTotp(body)
    const mailbox = body.mailbox && mailboxes.read(body.mailbox)
    const seen = await find(tx, caller, idOrName)
    const record = await lockAfter(tx, seen, (credential) => this.#rename(tx, credential, body.name))
    if (!record) throw notFound(idOrName)
    const places = body.allowed_domains && readDomains(body.allowed_domains)
    if (places && caller.principal.projectId !== null) refuseWider(record, places)
    const change: store.CredentialChange = {
      ...(body.name !== undefined && body.name !== record.name && { name: body.name }),
      ...(body.sso_provider !== undefined && { sso_provider: body.sso_provider || null }),
      ...((body.values || body.remove_value_keys) && {
        sealed_values: secrets.sealValues(record, changedValues(secrets.valuesOf(record), body)),
      }),
      ...(body.totp_secret !== undefined && { sealed_totp: seed ? secrets.sealTotp(record, seed) : null }),
      ...(body.mailbox !== undefined && {
        sealed_mailbox: mailbox ? secrets.sealMailbox(record, mailbox) : null,
      }),
      ...(places && { allowed_domains: places }),
    }
    if (Object.keys(change).length === 0) return this.#show(tx, record)
    const updated = await withFreeName(body.name, () => store.updateCredential(tx, record, change))
    return this.#show(tx, updated, seed)
  }

  async delete(tx: Db, caller: Caller, idOrName: string): Promise<void> {
    const seen = await store.findCredential(tx, projectOf(caller), idOrName)
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    if (!seen && (await wasDeleted(tx, 'credentials', { projectId: projectOf(caller), id: idOrName }))) return
    if (!seen) throw notFound(idOrName)
    const record = await lockAfter(tx, seen, (credential) => this.#unlink(tx, credential))
    if (record) await store.markDeleted(tx, record)
  }

  async #rename(tx: Db, { project_id, name }: CredentialRecord, to: string | undefined): Promise<void> {
    if (to === undefined || to === name) return
    for (const use of this.#options.uses) await use.renamed(tx, project_id, { from: name, to })
  }

  async #unlink(tx: Db, { project_id, name }: CredentialRecord): Promise<void> {
    for (const use of this.#options.uses) await use.deleted(tx, project_id, name)
  }

  async totpCode(db: Db, caller: Caller, idOrName: string): Promise<TotpCode> {
    const seed = this.#options.secrets.totpOf(await find(db, caller, idOrName))
    if (!seed) {
      throw new AppError(
        'not_found',
        `Cannot make a code for credential "${idOrName}": it has no totp_secret; set one first`,
      )
    }
    const { code, expiresAt } = oneTimeCode(seed)
    return { code, expires_at: expiresAt.toISOString() }
  }

  async deletePasskey(tx: Db, caller: Caller, idOrName: string, passkeyId: string): Promise<void> {
    const { id } = await find(tx, caller, idOrName)
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    if (await markPasskeyDeleted(tx, id, passkeyId)) return
    throw new AppError('not_found', `Cannot find passkey "${passkeyId}" of credential "${idOrName}"`)
  }

  async #show(db: Db, record: CredentialRecord, seedJustSet?: TotpSeed): Promise<Credential> {
    const code = seedJustSet && oneTimeCode(seedJustSet)
    return {
      ...toListed(record),
      passkeys: (await listPasskeys(db, [record.id])).map(toPasskey),
      value_keys: Object.keys(this.#options.secrets.valuesOf(record)),
      ...(code && { totp_code: code.code, totp_code_expires_at: code.expiresAt.toISOString() }),
    }
  }
}

function toPasskey({ id, rp_id, created_at, last_used_at }: CredentialPasskey): CredentialPasskey {
  return { id, rp_id, created_at, last_used_at }
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
    has_mailbox: record.sealed_mailbox !== null,
    sso_provider: record.sso_provider,
    ...(record.allowed_domains.length > 0 && { allowed_domains: record.allowed_domains }),
  }
}

function readDomains(written: readonly string[]): string[] {
  const read = written.map((text, index) => {
    const reading = readAllowedDomain(text)
    if ('problem' in reading) throw invalidInput(`allowed_domains[${index}]`, reading.problem)
    return reading.domain
  })
  return [...new Set(read)]
}

/** A project key chooses login pages. If it also chose where secrets go, it could read them at a page of its own. */
function refuseWider({ allowed_domains: before }: CredentialRecord, after: readonly string[]): void {
  const added = after.find((domain) => !before.includes(domain))
  if (added === undefined) return
  throw new AppError(
    'forbidden',
    `Cannot allow the credential at ${added}: only an organisation-wide key can add to allowed_domains`,
  )
}

function changedValues(
  before: LoginValues,
  { values = {}, remove_value_keys = [] }: UpdateCredentialRequest,
): LoginValues {
  const after = mergeValues(before, { values, removed: remove_value_keys })
  if (Object.keys(after).length > MAX_VALUES) {
    throw invalidInput('values', `must have at most ${MAX_VALUES} together with those that are there`)
  }
  return after
}

/**
 * Logins lock the users of a credential before the credential, so the users are updated first, and again for those
 * that were added before the lock. Undefined when the credential was deleted.
 */
async function lockAfter(
  tx: Db,
  seen: CredentialRecord,
  tell: (credential: CredentialRecord) => Promise<void>,
): Promise<CredentialRecord | undefined> {
  await tell(seen)
  const record = await store.findCredentialBy(tx, seen.project_id, 'id', seen.id, { isLocked: true })
  if (record) await tell(record)
  return record
}

/** A credential of another project gets the same answer as one that does not exist. */
async function find(db: Db, caller: Caller, idOrName: string): Promise<CredentialRecord> {
  const record = await store.findCredential(db, projectOf(caller), idOrName)
  if (!record) throw notFound(idOrName)
  return record
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find credential "${idOrName}"`)
}

function checkName(name: string): void {
  if (name.trim() === '') throw invalidInput('name', 'must not be blank')
}
