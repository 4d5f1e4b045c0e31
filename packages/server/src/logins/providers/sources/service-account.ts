// 1Password service accounts. Only 1Password's own SDK speaks the protocol of its cloud.
import { toValues } from './fields.ts'
import { openOnePasswordSdk } from './onepassword-sdk.ts'
import {
  MAX_ITEMS,
  MAX_VAULTS,
  refuseMoreThan,
  SourceFailure,
  type ItemLogin,
  type SecretSource,
  type SourceItem,
  type SourceVault,
} from './source.ts'

const ONE_ANSWER_MS = 30_000
/** 1Password's servers. A token names its own server, and must not be able to choose any other. */
const SIGN_IN_HOSTS = /^(?:[a-z0-9-]+\.)+1password\.(?:com|ca|eu)$/
const TYPED = new Set(['Text', 'Concealed', 'Email', 'Phone', 'Url', 'Menu'])
const LOGIN_CATEGORIES = new Set(['Login', 'Password'])

/** The part of the SDK (0.5) that we use. */
export interface OnePasswordClient {
  readonly vaults: { list(): Promise<readonly { readonly id: string; readonly title: string }[]> }
  readonly items: {
    list(vaultId: string): Promise<readonly OnePasswordOverview[]>
    get(vaultId: string, itemId: string): Promise<OnePasswordItem>
  }
}

export interface OnePasswordOverview {
  readonly id: string
  readonly title: string
  readonly category: string
  readonly websites: readonly { readonly url: string; readonly autofillBehavior: string }[]
}

export interface OnePasswordItem {
  readonly fields: readonly {
    readonly id: string
    readonly title: string
    readonly fieldType: string
    readonly value: string
  }[]
}

/** Disposing of the client ends the calls that it has not answered. */
export type OpenOnePassword = (token: string) => Promise<OnePasswordClient & Partial<Disposable>>

export class ServiceAccount implements SecretSource {
  readonly #token: string
  readonly #open: OpenOnePassword

  constructor({ token, open = openWithSdk }: { token: string; open?: OpenOnePassword }) {
    this.#token = token
    this.#open = open
  }

  async listVaults(signal: AbortSignal): Promise<SourceVault[]> {
    return this.#use(signal, vaultsOf)
  }

  async listItems(signal: AbortSignal): Promise<SourceItem[]> {
    return this.#use(signal, async (client) => {
      const items: SourceItem[] = []
      for (const vault of await vaultsOf(client)) {
        signal.throwIfAborted()
        for (const { id, title, category, websites } of await client.items.list(vault.id)) {
          if (!LOGIN_CATEGORIES.has(category)) continue
          const urls = websites.filter((site) => site.autofillBehavior !== 'Never').map(({ url }) => url)
          items.push({ id, title, vault, urls })
        }
        refuseMoreThan(MAX_ITEMS, 'items for logins', items.length)
      }
      return items
    })
  }

  async readLogin({ id, vault }: SourceItem, signal: AbortSignal): Promise<ItemLogin | undefined> {
    const { fields } = await this.#use(signal, (client) => client.items.get(vault.id, id))
    const builtIn = (name: string) => fields.find((field) => field.id === name)?.value || undefined
    return {
      values: toValues({
        username: builtIn('username'),
        password: builtIn('password'),
        others: fields
          .filter((field) => TYPED.has(field.fieldType) && !['username', 'password'].includes(field.id))
          .map(({ title, value }) => ({ label: title, value })),
      }),
      totpSecret: fields.find((field) => field.fieldType === 'Totp')?.value || undefined,
    }
  }

  /** The SDK has no signals: a call that takes too long is abandoned. */
  async #use<T>(caller: AbortSignal, work: (client: OnePasswordClient) => Promise<T>): Promise<T> {
    const late = AbortSignal.timeout(ONE_ANSWER_MS)
    const over = AbortSignal.any([caller, late])
    const stopped = Promise.withResolvers<never>()
    const stop = () => stopped.reject(new Error('stopped waiting'))
    over.addEventListener('abort', stop)
    let client: Awaited<ReturnType<OpenOnePassword>> | undefined
    try {
      caller.throwIfAborted()
      const opening = this.#open(this.#token)
      return await Promise.race([opening.then((opened) => work((client = opened))), stopped.promise])
    } catch (error) {
      caller.throwIfAborted()
      if (error instanceof SourceFailure) throw error
      if (late.aborted) throw new SourceFailure(`it took longer than ${ONE_ANSWER_MS / 1000} s to answer`)
      throw new SourceFailure('1Password refuses the token of the service account, or cannot be reached')
    } finally {
      client?.[Symbol.dispose]?.()
      over.removeEventListener('abort', stop)
    }
  }
}

async function vaultsOf(client: OnePasswordClient): Promise<SourceVault[]> {
  const vaults = await client.vaults.list()
  refuseMoreThan(MAX_VAULTS, 'vaults', vaults.length)
  return vaults.map(({ id, title }) => ({ id, name: title }))
}

/** Undefined if the token is not one of a service account. */
export function signInHostOf(token: string): string | undefined {
  const payload = /^ops_([A-Za-z0-9_+/-]+)=*$/.exec(token)?.[1]
  if (payload === undefined) return undefined
  try {
    const { signInAddress } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
      signInAddress?: unknown
    }
    if (typeof signInAddress !== 'string') return undefined
    const address = signInAddress.includes('://') ? signInAddress : `https://${signInAddress}`
    const url = URL.parse(address)
    return url?.protocol === 'https:' && url.port === '' && !url.username ? url.hostname : undefined
  } catch {
    return undefined
  }
}

export function isServiceToken(token: string): boolean {
  const host = signInHostOf(token)
  return host !== undefined && SIGN_IN_HOSTS.test(host)
}

function openWithSdk(token: string): Promise<OnePasswordClient & Disposable> {
  if (isServiceToken(token)) return Promise.resolve(openOnePasswordSdk(token))
  return Promise.reject(new SourceFailure('its token is not that of a 1Password service account (ops_…)'))
}
