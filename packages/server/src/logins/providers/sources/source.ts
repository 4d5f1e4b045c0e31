// What a credential provider can be asked for, whoever it is. What is read is handed on and never kept.

export interface SourceVault {
  readonly id: string
  readonly name: string
}

export interface SourceItem {
  readonly id: string
  readonly title: string
  readonly vault: SourceVault
  /** Addresses that it is for; `*.example.com` means all below that domain. */
  readonly urls: readonly string[]
}

/** What an item knows for a login. */
export interface ItemLogin {
  /** By the name of the field: `username`, `password`, and the labels of others. */
  readonly values: Readonly<Record<string, string>>
  /** Base32, or an otpauth URI. */
  readonly totpSecret: string | undefined
}

export interface SecretSource {
  /** Vaults that the token can see. Asks the provider itself: it also is how a token is tried. */
  listVaults(signal: AbortSignal): Promise<readonly SourceVault[]>
  /** Items that are for logins, of all vaults; none of their values is read for it. */
  listItems(signal: AbortSignal): Promise<readonly SourceItem[]>
  /** Undefined: it is no more. */
  readLogin(item: SourceItem, signal: AbortSignal): Promise<ItemLogin | undefined>
}

/** The one error of a source. Its message goes to callers: nothing that the provider said is in it, and no token. */
export class SourceFailure extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SourceFailure'
  }
}

/** More would not be looked through by anybody, and fills memory. */
export const MAX_VAULTS = 500
export const MAX_ITEMS = 5_000

export function refuseMoreThan(most: number, what: string, count: number): void {
  if (count > most) {
    throw new SourceFailure(`it has more than ${most} ${what}; give the token access to fewer`)
  }
}
