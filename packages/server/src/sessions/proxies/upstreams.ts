// Turns a stored proxy into the settings for connections.
import { managedProxyTypes, type ManagedProxyType } from '@berth/contracts/proxies'
import type { UpstreamProxy } from '../../instances/egress/route.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { Providers } from './providers.ts'
import type { Credentials, ProxyRecord } from './types.ts'

export class ProxyUpstreams {
  readonly #box: SealedBox
  readonly #providers: Providers

  constructor({ box, providers }: { box: SealedBox; providers: Providers }) {
    this.#box = box
    this.#providers = providers
  }

  get stealthDefault(): UpstreamProxy | undefined {
    return this.#providers.stealthDefault
  }

  /** Throws `invalid_state` for a proxy that can no longer be used. */
  of(record: ProxyRecord): UpstreamProxy {
    if (isManaged(record.type)) {
      const proxy = this.#providers.find(record.type, record.config)
      if (proxy) return proxy
      throw new AppError(
        'invalid_state',
        `Cannot use proxy "${record.id}": the operator of this server no longer has a matching ${record.type} proxy (BERTH_PROXY_PROVIDERS)`,
      )
    }
    const { host, port } = record.config
    const caBundle = this.caBundleOf(record)
    return {
      protocol: record.protocol,
      // SAFETY: a custom proxy is stored with both.
      host: host!,
      port: port!,
      ...this.credentialsOf(record),
      ...(caBundle !== undefined && { caBundle }),
      isOperators: false,
    }
  }

  seal(id: string, credentials: Credentials): Buffer {
    return this.#box.seal(JSON.stringify(credentials), contextOf(id))
  }

  sealCaBundle(id: string, caBundle: string): Buffer {
    return this.#box.seal(caBundle, caContextOf(id))
  }

  caBundleOf({ id, ca_bundle, sealed_ca_bundle: sealed }: ProxyRecord): string | undefined {
    return sealed === null ? (ca_bundle ?? undefined) : this.#box.open(sealed, caContextOf(id))
  }

  credentialsOf({ id, credentials }: ProxyRecord): Credentials {
    // SAFETY: it opens only if `seal` made it.
    return credentials === null ? {} : (JSON.parse(this.#box.open(credentials, contextOf(id))) as Credentials)
  }
}

const contextOf = (id: string) => `proxies/credentials/${id}`
const caContextOf = (id: string) => `proxies/sealed_ca_bundle/${id}`

function isManaged(type: string): type is ManagedProxyType {
  return managedProxyTypes.includes(type as ManagedProxyType)
}
