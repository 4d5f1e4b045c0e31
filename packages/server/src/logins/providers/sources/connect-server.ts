// 1Password Connect: the customer's own server for some of their vaults, with a REST API.
// https://developer.1password.com/docs/connect/api-reference
import { toValues } from './fields.ts'
import { SourceServer, type ServerSourceOptions } from './http.ts'
import { asList, asRecord, asText, type Loose } from './loose.ts'
import {
  MAX_ITEMS,
  MAX_VAULTS,
  refuseMoreThan,
  type ItemLogin,
  type SecretSource,
  type SourceItem,
  type SourceVault,
} from './source.ts'

/** Other categories are notes, cards and documents. */
const LOGIN_CATEGORIES = new Set(['LOGIN', 'PASSWORD'])
/** Types of fields that can be typed. */
const TYPED = new Set(['STRING', 'CONCEALED', 'EMAIL', 'PHONE', 'URL', 'MENU'])

export class ConnectServer implements SecretSource {
  readonly #server: SourceServer

  constructor({ token, ...server }: ServerSourceOptions) {
    this.#server = new SourceServer({ ...server, headers: { authorization: `Bearer ${token}` } })
  }

  async listVaults(signal: AbortSignal): Promise<SourceVault[]> {
    const vaults = asList(await this.#server.get('/v1/vaults', signal), 'vaults')
    refuseMoreThan(MAX_VAULTS, 'vaults', vaults.length)
    return vaults.map((vault) => ({ id: asText(vault['id']), name: asText(vault['name']) }))
  }

  async listItems(signal: AbortSignal): Promise<SourceItem[]> {
    const items: SourceItem[] = []
    for (const vault of await this.listVaults(signal)) {
      const found = await this.#server.get(`/v1/vaults/${encodeURIComponent(vault.id)}/items`, signal)
      // The vault was removed during the listing.
      if (found === undefined) continue
      for (const item of asList(found, 'items')) {
        if (isUsable(item)) items.push({ ...toItem(item), vault })
      }
      refuseMoreThan(MAX_ITEMS, 'items for logins', items.length)
    }
    return items
  }

  async readLogin({ id, vault }: SourceItem, signal: AbortSignal): Promise<ItemLogin | undefined> {
    const path = `/v1/vaults/${encodeURIComponent(vault.id)}/items/${encodeURIComponent(id)}`
    const found = await this.#server.get(path, signal)
    if (found === undefined) return undefined
    const fields = asList(asRecord(found)['fields'] ?? [], 'fields')
    const valueFor = (purpose: string) =>
      asText(fields.find((field) => field['purpose'] === purpose)?.['value']) || undefined
    return {
      values: toValues({
        username: valueFor('USERNAME'),
        password: valueFor('PASSWORD'),
        others: fields
          .filter((field) => TYPED.has(asText(field['type'])) && !field['purpose'])
          .map((field) => ({ label: asText(field['label']), value: asText(field['value']) })),
      }),
      totpSecret: asText(fields.find((field) => field['type'] === 'OTP')?.['value']) || undefined,
    }
  }
}

function isUsable(item: Loose): boolean {
  const isGone = item['state'] === 'ARCHIVED' || item['state'] === 'DELETED' || item['trashed'] === true
  return LOGIN_CATEGORIES.has(asText(item['category'])) && !isGone
}

function toItem(item: Loose): Omit<SourceItem, 'vault'> {
  return {
    id: asText(item['id']),
    title: asText(item['title']),
    urls: asList(item['urls'] ?? [], 'urls')
      .map((url) => asText(url['href']))
      .filter(Boolean),
  }
}
