// The interface of a credential provider. Values are passed on and never stored.

export interface SourceVault {
  readonly id: string
  readonly name: string
}

export interface SourceItem {
  readonly id: string
  readonly title: string
  readonly vault: SourceVault
  /** URLs that the item is for; `*.example.com` means all subdomains. */
  readonly urls: readonly string[]
}

/** An item's values for a login. */
export interface ItemLogin {
  /** By field name: `username`, `password`, and the labels of others. */
  readonly values: Readonly<Record<string, string>>
  /** Base32, or an otpauth URI. */
  readonly totpSecret: string | undefined
}

export interface SecretSource {
  /** The vaults that the token can see. Always asks the provider: this is also how a token is tested. */
  listVaults(signal: AbortSignal): Promise<readonly SourceVault[]>
  /** The login items of all vaults, without their values. */
  listItems(signal: AbortSignal): Promise<readonly SourceItem[]>
  /** Undefined when the item does not exist any more. */
  readLogin(item: SourceItem, signal: AbortSignal): Promise<ItemLogin | undefined>
}

/** The only error of a source. Callers see its message: it contains no token and nothing that the provider sent. */
export class SourceFailure extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SourceFailure'
  }
}

/** More would fill memory. */
export const MAX_VAULTS = 500
export const MAX_ITEMS = 5_000

export function refuseMoreThan(max: number, what: string, count: number): void {
  if (count > max) {
    throw new SourceFailure(`it has more than ${max} ${what}; give the token access to fewer`)
  }
}
