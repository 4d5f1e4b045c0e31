// HashiCorp Vault (and OpenBao): KV version 2 engines, over the HTTP API. An engine is a vault, a secret is an item.
// A secret's metadata says what it is for, so that lists read no values: `url` or `urls` in custom_metadata, or
// the secret's name if that is a host name.
// https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2
import { toName, toValues } from './fields.ts'
import { SourceServer, type ServerSourceOptions } from './http.ts'
import { asRecord, asText, type Loose } from './loose.ts'
import {
  MAX_VAULTS,
  refuseMoreThan,
  SourceFailure,
  type ItemLogin,
  type SecretSource,
  type SourceItem,
  type SourceVault,
} from './source.ts'

/** Each secret needs its own request. */
const MAX_SECRETS = 1_000
const MAX_FOLDERS = 200
const DEEPEST_FOLDER = 8
const REQUESTS_AT_ONCE = 8
const USERNAME = new Set(['username', 'user', 'login', 'user_name'])
const PASSWORD = new Set(['password', 'pass', 'passwd'])
const TOTP = new Set(['totp', 'otp', 'totp_secret', 'otp_secret', 'otpauth', 'totp_seed'])

export class VaultServer implements SecretSource {
  readonly #server: SourceServer

  constructor({ token, ...server }: ServerSourceOptions) {
    const headers = { 'x-vault-token': token, 'x-vault-request': 'true' }
    this.#server = new SourceServer({ ...server, headers })
  }

  /** Lists the engines that the token may see, which needs no permission to list all of them. */
  async listVaults(signal: AbortSignal): Promise<SourceVault[]> {
    const found = asRecord(await this.#server.get('/v1/sys/internal/ui/mounts', signal))
    const { secret } = asRecord(found['data'])
    if (secret === undefined) throw new SourceFailure('it gives no list of engines; is it a Vault server?')
    const vaults = Object.entries(asRecord(secret))
      .filter(([, mount]) => isKv2(asRecord(mount)))
      .map(([path]) => path.replace(/\/$/, ''))
      .toSorted()
    refuseMoreThan(MAX_VAULTS, 'KV engines', vaults.length)
    return vaults.map((path) => ({ id: path, name: path }))
  }

  async listItems(signal: AbortSignal): Promise<SourceItem[]> {
    const items: Omit<SourceItem, 'urls'>[] = []
    for (const vault of await this.listVaults(signal)) {
      for (const path of await this.#listSecrets(vault, signal)) items.push({ id: path, title: path, vault })
      refuseMoreThan(MAX_SECRETS, 'secrets', items.length)
    }
    const described: SourceItem[] = []
    for (let index = 0; index < items.length; index += REQUESTS_AT_ONCE) {
      const some = items.slice(index, index + REQUESTS_AT_ONCE)
      described.push(...(await Promise.all(some.map((item) => this.#describe(item, signal)))))
    }
    return described
  }

  async readLogin({ id, vault }: SourceItem, signal: AbortSignal): Promise<ItemLogin | undefined> {
    const found = await this.#server.get(`/v1/${encodePath(vault.id)}/data/${encodePath(id)}`, signal)
    // For a deleted secret, the answer is 404 or has no data.
    const { data } = asRecord(asRecord(found)['data'])
    if (!data) return undefined
    const fields = Object.entries(asRecord(data)).map(([label, value]) => ({
      name: toName(label),
      label,
      value: typeof value === 'number' ? String(value) : asText(value),
    }))
    const valueOf = (names: ReadonlySet<string>) =>
      fields.find(({ name, value }) => names.has(name) && value)?.value
    const known = [USERNAME, PASSWORD, TOTP]
    return {
      values: toValues({
        username: valueOf(USERNAME),
        password: valueOf(PASSWORD),
        others: fields.filter(({ name }) => !known.some((names) => names.has(name))),
      }),
      totpSecret: valueOf(TOTP),
    }
  }

  /** Folder by folder, in order. Folders that the token may not list are skipped. */
  async #listSecrets(vault: SourceVault, signal: AbortSignal): Promise<string[]> {
    const secrets: string[] = []
    const folders = ['']
    for (let index = 0; index < folders.length; index++) {
      refuseMoreThan(MAX_FOLDERS, 'folders', folders.length)
      const folder = folders[index]!
      const path = `/v1/${encodePath(vault.id)}/metadata/${encodePath(folder)}?list=true`
      const { status, json } = await this.#server.ask(path, signal)
      if (status === 404 || status === 403) continue
      if (status !== 200) throw new SourceFailure(`it answers ${status}`)
      const { keys } = asRecord(asRecord(json)['data'])
      for (const key of Array.isArray(keys) ? keys.map(asText).toSorted() : []) {
        if (!key.endsWith('/')) secrets.push(folder + key)
        else if (folder.split('/').length < DEEPEST_FOLDER) folders.push(folder + key)
      }
      refuseMoreThan(MAX_SECRETS, 'secrets', secrets.length)
    }
    return secrets
  }

  async #describe(item: Omit<SourceItem, 'urls'>, signal: AbortSignal): Promise<SourceItem> {
    const { id, vault } = item
    const path = `/v1/${encodePath(vault.id)}/metadata/${encodePath(id)}`
    const { status, json } = await this.#server.ask(path, signal)
    const custom = status === 200 ? asRecord(asRecord(asRecord(json)['data'])['custom_metadata']) : {}
    const lastName = id.split('/').at(-1)!
    return { ...item, urls: [...urlsIn(custom), ...(lastName.includes('.') ? [lastName] : [])] }
  }
}

function isKv2(mount: Loose): boolean {
  return mount['type'] === 'kv' && asRecord(mount['options'])['version'] === '2'
}

function urlsIn(custom: Loose): string[] {
  return ['url', 'urls'].flatMap((name) => asText(custom[name]).split(/[\s,]+/)).filter(Boolean)
}

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/')
