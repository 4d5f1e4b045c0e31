// A credential's secrets, each sealed for its own row and project.
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { MailboxSettings } from '../mailboxes/settings.ts'
import type { TotpSeed } from './totp.ts'
import type { CredentialRecord, LoginValues, SealedPlace } from './types.ts'

export class CredentialSecrets {
  readonly #box: SealedBox

  constructor(box: SealedBox) {
    this.#box = box
  }

  /** Null when there are no values. */
  sealValues(place: SealedPlace, values: LoginValues): Buffer | null {
    return Object.keys(values).length === 0 ? null : this.#seal(values, 'sealed_values', place)
  }

  sealTotp(place: SealedPlace, seed: TotpSeed): Buffer {
    return this.#seal(seed, 'sealed_totp', place)
  }

  sealMailbox(place: SealedPlace, mailbox: MailboxSettings): Buffer {
    return this.#seal(mailbox, 'sealed_mailbox', place)
  }

  // SAFETY: each was sealed for that column; otherwise they would not open.

  /** Throws `invalid_state` for values that were changed or moved. */
  valuesOf(record: CredentialRecord): LoginValues {
    const { sealed_values: sealed } = record
    return sealed === null ? {} : (this.#open(sealed, 'sealed_values', record) as LoginValues)
  }

  totpOf(record: CredentialRecord): TotpSeed | undefined {
    const { sealed_totp: sealed } = record
    return sealed === null ? undefined : (this.#open(sealed, 'sealed_totp', record) as TotpSeed)
  }

  mailboxOf(record: CredentialRecord): MailboxSettings | undefined {
    const { sealed_mailbox: sealed } = record
    return sealed === null ? undefined : (this.#open(sealed, 'sealed_mailbox', record) as MailboxSettings)
  }

  #seal(content: object, column: SealedColumn, place: SealedPlace): Buffer {
    return this.#box.seal(JSON.stringify(content), contextOf(column, place))
  }

  #open(sealed: Buffer, column: SealedColumn, place: SealedPlace): unknown {
    return JSON.parse(this.#box.open(sealed, contextOf(column, place)))
  }
}

type SealedColumn = 'sealed_values' | 'sealed_totp' | 'sealed_mailbox'

const contextOf = (column: SealedColumn, { id, project_id }: SealedPlace) =>
  `credentials/${column}/${project_id}/${id}`
