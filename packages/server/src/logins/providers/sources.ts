// Providers as sources of secrets. Lists of items are cached for a while, values never.
import { unlessAborted } from '@berth/kit/abort'
import type { EgressPolicy } from '../../instances/egress/policy.ts'
import { EgressRefusal } from '../../instances/egress/refusal.ts'
import type { Upstream } from '../../instances/egress/upstream.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { ConnectServer } from './sources/connect-server.ts'
import { targetOf } from './sources/http.ts'
import { ServiceAccount, type OpenOnePassword } from './sources/service-account.ts'
import {
  SourceFailure,
  type ItemLogin,
  type SecretSource,
  type SourceItem,
  type SourceVault,
} from './sources/source.ts'
import { VaultServer } from './sources/vault-server.ts'
import type { ProviderRecord } from './types.ts'

const USUAL_LIST_MS = 60_000
/** More providers than anybody has. */
const MAX_LISTS = 100

export interface SourcesOptions {
  readonly box: SealedBox
  readonly policy: EgressPolicy
  readonly upstream: Upstream
  /** Opens 1Password's own package, if it is installed. */
  readonly openOnePassword?: OpenOnePassword
  /** Time limit for a whole list, which may need many requests. */
  readonly listMs?: number
}

interface RememberedList {
  /** The revision of the row: another token may see other items. */
  readonly revision: string
  readonly expiresAt: number
  readonly items: Promise<readonly SourceItem[]>
}

export class Sources {
  readonly #options: SourcesOptions
  readonly #lists = new Map<string, RememberedList>()

  constructor(options: SourcesOptions) {
    this.#options = options
  }

  sealToken(id: string, token: string): Buffer {
    return this.#options.box.seal(token, contextOf(id))
  }

  tokenOf({ id, sealed_token: sealed }: ProviderRecord): string {
    // SAFETY: only a deleted provider has no token, and nobody asks those.
    return this.#options.box.open(sealed!, contextOf(id))
  }

  /** Normalises the URL. Throws for a server to which a token must not be sent. */
  readServerUrl(text: string): string {
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol)) throw refuse('must be an http or https URL')
    if (url.username || url.password || url.search || url.hash) {
      throw refuse('must have no user name, query or fragment; the token is sent separately')
    }
    const { policy } = this.#options
    try {
      const target = targetOf(url)
      const verdict = policy.judgeTarget(target)
      if (!verdict.allowed) throw refuse(`cannot be reached: ${verdict.reason}`)
      if (url.protocol === 'http:' && policy.isOpenToAll(target)) {
        throw refuse(
          'must be https, or the token would be there to read on its way; http is for servers in a private network, listed as host:port in BERTH_EGRESS_ALLOW',
        )
      }
    } catch (error) {
      if (error instanceof EgressRefusal) throw refuse('must have a valid host')
      throw error
    }
    return url.href.replace(/\/+$/, '')
  }

  /** Asks the provider and drops the cached list: this is how a change at the provider becomes visible. */
  async vaults(provider: ProviderRecord, signal: AbortSignal): Promise<readonly SourceVault[]> {
    this.#lists.delete(provider.id)
    return this.#open(provider).listVaults(signal)
  }

  async items(provider: ProviderRecord, signal: AbortSignal): Promise<readonly SourceItem[]> {
    signal.throwIfAborted()
    const list = this.#recall(provider) ?? this.#remember(provider)
    return withProviderName(provider, () => unlessAborted(list.items, signal))
  }

  async login(
    provider: ProviderRecord,
    item: SourceItem,
    signal: AbortSignal,
  ): Promise<ItemLogin | undefined> {
    return withProviderName(provider, () => this.#open(provider).readLogin(item, signal))
  }

  #recall({ id, updated_at }: ProviderRecord): RememberedList | undefined {
    const list = this.#lists.get(id)
    return list && list.revision === updated_at && performance.now() < list.expiresAt ? list : undefined
  }

  /** Concurrent callers share one request, so a caller who leaves must not end it. */
  #remember(provider: ProviderRecord): RememberedList {
    const { id, updated_at: revision, cache_ttl_seconds } = provider
    const items = this.#list(this.#open(provider))
    const list = { revision, expiresAt: performance.now() + cache_ttl_seconds * 1000, items }
    if (this.#lists.size >= MAX_LISTS) this.#lists.clear()
    this.#lists.set(id, list)
    items.catch(() => {
      if (this.#lists.get(id) === list) this.#lists.delete(id)
    })
    return list
  }

  async #list(source: SecretSource): Promise<readonly SourceItem[]> {
    const { listMs = USUAL_LIST_MS } = this.#options
    const late = AbortSignal.timeout(listMs)
    try {
      return await source.listItems(late)
    } catch (error) {
      if (!late.aborted) throw error
      throw new SourceFailure(`it took longer than ${listMs / 1000} s to list its items`)
    }
  }

  #open(provider: ProviderRecord): SecretSource {
    const { upstream, openOnePassword } = this.#options
    const { provider_type: type, server_url } = provider
    const token = this.tokenOf(provider)
    if (server_url === null)
      return new ServiceAccount({ token, ...(openOnePassword && { open: openOnePassword }) })
    const server = { address: new URL(server_url), token, upstream }
    return type === 'hashicorp_vault' ? new VaultServer(server) : new ConnectServer(server)
  }
}

/** Reports a failure in the source's own words, which contain nothing from the provider. */
export async function withProviderName<T>({ name }: ProviderRecord, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error
    throw new AppError(
      'provider_unreachable',
      `Cannot read from credential provider "${name}": ${error.message}`,
      {
        cause: error,
      },
    )
  }
}

const refuse = (message: string) => invalidInput('server_url', message)

const contextOf = (id: string) => `credential_providers/sealed_token/${id}`
