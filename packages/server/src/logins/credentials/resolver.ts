// Resolves a connection's credential reference to the values for a login.
import type { CredentialReference } from '@berth/contracts/credentials'
import { identityProviders } from '@berth/login/hosts/hosts'
import type { KnownValues, Passkey, PasskeyNews } from '@berth/login/run/run'
import { isFor, typingHosts } from '../providers/matching.ts'
import { pathOf } from '../providers/service.ts'
import type { Sources } from '../providers/sources.ts'
import type { ItemLogin, SourceItem } from '../providers/sources/source.ts'
import { findProviderByName, listEnabledProviders } from '../providers/store.ts'
import type { ProviderRecord } from '../providers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { listPasskeys } from './passkey-store.ts'
import type { CredentialPasskeys } from './passkeys.ts'
import type { Mailboxes } from '../mailboxes/mailboxes.ts'
import type { CredentialSecrets } from './secrets.ts'
import * as store from './store.ts'
import { oneTimeCode, readTotp, type TotpSeed } from './totp.ts'
import type { CredentialRecord, LoginValues } from './types.ts'
import { mergeValues } from './values.ts'

/** What is known about a credential without asking a provider. */
export interface CredentialStanding {
  readonly isExternal: boolean
  /** Undefined when only the provider knows. */
  readonly hasTotp: boolean | undefined
  readonly hasMailbox: boolean
  /** Names of the values that are not empty. Undefined when only the provider knows, or they cannot be decrypted. */
  readonly valueKeys: readonly string[] | undefined
  /** The relying parties of its passkeys. Absent when it can have none. */
  readonly passkeyRpIds?: readonly string[]
}

/** A successful login. */
export interface KeptLogin {
  /** The connection's current reference. */
  readonly reference: CredentialReference | undefined
  readonly domain: string
  readonly values: LoginValues
  readonly ssoProvider: string | undefined
  /** Hosts where the person let the values be typed. */
  readonly typedAt: readonly string[]
  /** Of a new credential; its domain by default. */
  readonly name?: string | undefined
  /** Passkeys that the website made. */
  readonly passkeys?: readonly Passkey[]
}

/** The agent takes no more host patterns. */
const MAX_HOSTS = 200

type ReadReference =
  | { readonly kind: 'stored'; readonly name: string }
  | { readonly kind: 'item'; readonly provider: string; readonly path: string }
  | { readonly kind: 'auto'; readonly provider: string | undefined }

export interface CredentialResolverOptions {
  readonly db: Db
  readonly secrets: CredentialSecrets
  readonly passkeys: CredentialPasskeys
  readonly sources: Sources
  readonly mailboxes: Mailboxes
}

export class CredentialResolver {
  readonly #options: CredentialResolverOptions

  constructor(options: CredentialResolverOptions) {
    this.#options = options
  }

  /**
   * Runs in the transaction that stores the reference: a stored credential cannot be deleted or renamed during it. Does
   * not ask a provider for the item, because the provider may be down. Throws invalid input that names `credential`.
   */
  async check(tx: Db, projectId: string, reference: CredentialReference): Promise<void> {
    const read = readReference(reference)
    if (read.kind === 'stored') {
      const isThere = await store.holdCredential(tx, projectId, read.name)
      if (!isThere)
        throw invalidInput('credential.name', `is not a credential of the project ("${read.name}")`)
      return
    }
    if (read.provider !== undefined && !(await findProviderByName(tx, projectId, read.provider))) {
      throw invalidInput(
        'credential.provider',
        `is not a credential provider that the project may use ("${read.provider}"); an organisation-wide key can add the project to its project_ids`,
      )
    }
  }

  /**
   * Lets a stored credential be typed at these domains. Only for domains that an organisation-wide key asks for. The
   * items of providers are not ours to change.
   */
  async allow(
    tx: Db,
    projectId: string,
    reference: CredentialReference,
    domains: readonly string[],
  ): Promise<void> {
    const read = readReference(reference)
    if (read.kind !== 'stored') return
    const record = await store.findCredentialBy(tx, projectId, 'name', read.name, { isLocked: true })
    if (!record) return
    const places = [...new Set([...record.allowed_domains, ...domains])].filter(
      (domain) => domain !== record.domain,
    )
    if (places.length === record.allowed_domains.length) return
    await store.updateCredential(tx, record, { allowed_domains: places })
  }

  /** Undefined when it does not exist any more. */
  async standing(
    db: Db,
    projectId: string,
    reference: CredentialReference,
  ): Promise<CredentialStanding | undefined> {
    const read = readReference(reference)
    if (read.kind === 'stored') {
      const record = await store.findCredentialBy(db, projectId, 'name', read.name)
      if (!record) return undefined
      return {
        isExternal: false,
        hasTotp: record.sealed_totp !== null,
        hasMailbox: record.sealed_mailbox !== null,
        valueKeys: this.#valueKeysOf(record),
        passkeyRpIds: (await listPasskeys(db, [record.id])).map(({ rp_id: rpId }) => rpId),
      }
    }
    const providers = await this.#providersOf(db, projectId, read.provider)
    return providers.length > 0
      ? { isExternal: true, hasTotp: undefined, hasMailbox: false, valueKeys: undefined }
      : undefined
  }

  /**
   * Undefined when there is no such credential, or no item for the domain. Throws `provider_unreachable` if that is
   * unknown, and `invalid_state` for a stored credential that cannot be decrypted.
   */
  async resolve(
    projectId: string,
    reference: CredentialReference,
    { domain, signal }: { domain: string; signal: AbortSignal },
  ): Promise<KnownValues | undefined> {
    const read = readReference(reference)
    if (read.kind === 'stored') {
      const { db, passkeys } = this.#options
      const record = await store.findCredentialBy(db, projectId, 'name', read.name)
      if (!record) return undefined
      return { ...(await this.#toKnown(record, signal)), passkeys: await passkeys.take(db, record) }
    }
    const isIt =
      read.kind === 'item'
        ? (item: SourceItem) => pathOf(item) === read.path
        : (item: SourceItem) => item.urls.some((url) => isFor(url, domain))
    const providers = await this.#providersOf(this.#options.db, projectId, read.provider)
    return this.#firstLogin(providers, isIt, signal)
  }

  /**
   * Runs in the transaction that records the success: merges the values into the linked credential, or creates one
   * named after the domain. Returns the connection's new reference; undefined when nothing was stored.
   */
  async keep(tx: Db, projectId: string, login: KeptLogin): Promise<CredentialReference | undefined> {
    const { reference, values, ssoProvider } = login
    if (!reference) return this.#keepNew(tx, projectId, login)
    const read = readReference(reference)
    // Only the customer changes a provider's items.
    if (read.kind !== 'stored') return reference
    const record = await store.findCredentialBy(tx, projectId, 'name', read.name, { isLocked: true })
    if (!record) return undefined
    const { secrets } = this.#options
    const before = secrets.valuesOf(record)
    const hasNewValues = Object.entries(values).some(([name, value]) => before[name] !== value)
    const hasNewProvider = ssoProvider !== undefined && record.sso_provider === null
    if (hasNewValues || hasNewProvider) {
      await store.updateCredential(tx, record, {
        ...(hasNewValues && { sealed_values: secrets.sealValues(record, mergeValues(before, { values })) }),
        ...(hasNewProvider && { sso_provider: ssoProvider }),
      })
    }
    await this.#keepMade(tx, record, login.passkeys)
    return reference
  }

  /** Where the passkeys of a login may be made; undefined if they cannot be kept. */
  passkeyHosts(reference: CredentialReference | undefined, domain: string): readonly string[] | undefined {
    if (reference && readReference(reference).kind !== 'stored') return undefined
    return [...typingHosts(domain), ...identityProviders]
  }

  /** During a login. Without a stored credential, nothing happens before it succeeds. */
  async keepPasskeys(
    tx: Db,
    projectId: string,
    reference: CredentialReference,
    news: PasskeyNews,
  ): Promise<void> {
    const read = readReference(reference)
    if (read.kind !== 'stored') return
    const record = await store.findCredentialBy(tx, projectId, 'name', read.name, { isLocked: true })
    if (record) await this.#options.passkeys.keep(tx, record, news, hostsOf(record))
  }

  async #keepMade(tx: Db, record: CredentialRecord, made: readonly Passkey[] = []): Promise<void> {
    if (made.length > 0) await this.#options.passkeys.keep(tx, record, { made, used: [] }, hostsOf(record))
  }

  async #keepNew(
    tx: Db,
    projectId: string,
    {
      domain,
      values,
      ssoProvider,
      typedAt,
      name: wanted = domain,
      passkeys = [],
    }: Omit<KeptLogin, 'reference'>,
  ): Promise<CredentialReference | undefined> {
    if (Object.keys(values).length === 0 && passkeys.length === 0) return undefined
    const { secrets } = this.#options
    for (let count = 1; ; count++) {
      const place = { id: store.newCredentialId(), project_id: projectId }
      const name = count === 1 ? wanted : `${wanted} (${count})`
      const record = await store.insertUnlessTaken(tx, {
        ...place,
        name,
        domain,
        sso_provider: ssoProvider ?? null,
        sealed_values: secrets.sealValues(place, values),
        sealed_totp: null,
        allowed_domains: typedAt.filter((host) => host !== domain),
      })
      if (!record) continue
      await this.#keepMade(tx, record, passkeys)
      return { name }
    }
  }

  /** The enabled providers that the project may use, in order. */
  async #providersOf(db: Db, projectId: string, name: string | undefined): Promise<ProviderRecord[]> {
    if (name === undefined) return listEnabledProviders(db, projectId)
    const provider = await findProviderByName(db, projectId, name)
    return provider?.is_enabled ? [provider] : []
  }

  /** If one provider fails, another may still have the item. */
  async #firstLogin(
    providers: readonly ProviderRecord[],
    isIt: (item: SourceItem) => boolean,
    signal: AbortSignal,
  ): Promise<KnownValues | undefined> {
    const { sources } = this.#options
    const failures: unknown[] = []
    for (const provider of providers) {
      try {
        const item = (await sources.items(provider, signal)).find(isIt)
        const login = item && (await sources.login(provider, item, signal))
        if (item && login) return toKnownLogin(item, login)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return undefined
  }

  #valueKeysOf(record: CredentialRecord): string[] | undefined {
    try {
      return Object.keys(usable(this.#options.secrets.valuesOf(record)))
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid_state') return undefined
      throw error
    }
  }

  async #toKnown(record: CredentialRecord, signal: AbortSignal): Promise<KnownValues> {
    const { secrets, mailboxes } = this.#options
    const mailbox = secrets.mailboxOf(record)
    const found = known(secrets.valuesOf(record), {
      seed: secrets.totpOf(record),
      ssoProvider: record.sso_provider ?? undefined,
      hosts: hostsOf(record),
    })
    if (!mailbox) return found
    return {
      ...found,
      mailbox: await mailboxes.open(mailbox, signal),
      mailAddress: mailbox.address,
    }
  }
}

/** Where a stored credential may be typed. */
function hostsOf({ domain, allowed_domains }: CredentialRecord): string[] {
  return [...[domain, ...allowed_domains].flatMap(typingHosts), ...identityProviders]
}

function toKnownLogin({ urls }: SourceItem, { values, totpSecret }: ItemLogin): KnownValues {
  return known(values, {
    seed: totpSecret === undefined ? undefined : tryTotp(totpSecret),
    ssoProvider: undefined,
    hosts: urls.flatMap(typingHosts),
  })
}

/** A provider's value may not be a valid seed; then the person is asked for the code. */
function tryTotp(totp_secret: string): TotpSeed | undefined {
  try {
    return readTotp({ totp_secret })
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Drops empty values, which cannot be filled in. */
function usable(values: LoginValues): LoginValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}

function known(
  values: LoginValues,
  {
    seed,
    ssoProvider,
    hosts,
  }: { seed: TotpSeed | undefined; ssoProvider: string | undefined; hosts: readonly string[] },
): KnownValues {
  return {
    values: usable(values),
    totp: seed && ((notBefore) => oneTimeCode(seed, { notBefore })),
    ssoProvider,
    hosts: [...new Set(hosts)].slice(0, MAX_HOSTS),
  }
}

function readReference({ name, provider, path, auto }: CredentialReference): ReadReference {
  if (name !== undefined) {
    if (provider !== undefined || path !== undefined || auto) throw wrongReference()
    return { kind: 'stored', name }
  }
  if (path !== undefined) {
    if (provider === undefined || auto) throw wrongReference()
    if (!/^[^/].*\/.*[^/]$/.test(path)) {
      throw invalidInput('credential.path', 'must be a vault and an item, such as Vault/Item')
    }
    return { kind: 'item', provider, path }
  }
  if (!auto) throw wrongReference()
  return { kind: 'auto', provider }
}

function wrongReference(): AppError {
  return invalidInput('credential', 'must be one of {name}, {provider, path} and {provider, auto: true}')
}
