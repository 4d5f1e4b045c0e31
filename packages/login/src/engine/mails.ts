// Codes and links that the website sends by mail, from the mailbox of the credential.
import type { PageSnapshot } from '@berth/contracts/page-snapshot'
import { allowedHosts } from '../hosts/hosts.ts'
import type { ReadField } from '../rules/reading.ts'
import { MailboxFailed, type FoundInMail, type Mailbox, type WantedMail } from '../run/mailbox.ts'
import type { LoginOptions } from '../run/run.ts'
import { magicLinkWords } from '../words/messages.ts'
import { emailSentWords } from '../words/fields.ts'
import { fold } from '../words/match.ts'
import { LoginFailed } from './failure.ts'
import { isCode } from './values.ts'

/** Nobody else can help a login that is alone. */
const ALONE_TIMEOUT_MS = 150_000
/** Afterwards the person is asked. */
const ATTENDED_TIMEOUT_MS = 45_000
const MAX_MAILS = 4

export class Mails {
  readonly #options: Pick<LoginOptions, 'domain' | 'allowedDomains' | 'isAttended' | 'signal'>
  readonly #mailbox: Mailbox | undefined
  readonly #address: string | undefined
  readonly #hasTotp: boolean
  readonly #isAllowed: () => boolean
  readonly #used: string[] = []
  #askedAt = new Date()
  #code: string | undefined
  #isStopped = false
  #waits = 0
  #trouble = ''
  #wasUsed = false

  /** `isAllowed`: whether a code may be typed into the document that the login is at. */
  constructor({ known, ...options }: LoginOptions, isAllowed: () => boolean) {
    this.#options = options
    this.#mailbox = known?.mailbox
    this.#address = known?.mailAddress
    this.#hasTotp = known?.totp !== undefined
    this.#isAllowed = isAllowed
    this.#mailbox?.begin()
  }

  get wasUsed(): boolean {
    return this.#wasUsed
  }

  /** Call it before anything is submitted or clicked: a mail from before was not asked for. */
  noteAsking(): void {
    this.#askedAt = new Date()
  }

  covers(field: ReadField): boolean {
    if (!this.#canRead || !this.#isAllowed() || !isCode(field) || field.ref === 'backup_code') return false
    return field.mfaType === 'email' || (field.mfaType === undefined && !this.#hasTotp)
  }

  /** Whether the code of this form is at hand, after waiting for its mail. Afterwards the person is asked. */
  async hasCode(fields: readonly ReadField[]): Promise<boolean> {
    const field = fields.find((each) => this.covers(each))
    if (!field || this.#code !== undefined) return true
    const found = await this.#wait({ kind: 'code', ...shapeOf(field) })
    if (found?.kind === 'code') this.#code = found.code
    return this.#code !== undefined
  }

  takeCode(field: ReadField): string | undefined {
    if (!this.covers(field)) return undefined
    const code = this.#code
    this.#code = undefined
    if (code === undefined) return undefined
    this.#used.push(code)
    this.#wasUsed = true
    return code
  }

  /** Whether a refused code may be followed by that of a newer mail. */
  renew(fields: readonly ReadField[]): boolean {
    return this.#wasUsed && this.#waits < MAX_MAILS && fields.some((field) => this.covers(field))
  }

  awaitsLink({ frames }: PageSnapshot, message: string): boolean {
    return this.#canRead && isOfMail(message, frames[0]?.text ?? '')
  }

  /** The link that the page waits for. */
  async link(): Promise<string | undefined> {
    const found = await this.#wait({ kind: 'link', length: undefined, isNumeric: false })
    if (found?.kind !== 'link') return undefined
    this.#used.push(found.url)
    return found.url
  }

  /** From now on the person does it. */
  stop(): void {
    this.#isStopped = true
    this.#wasUsed = false
  }

  get #canRead(): boolean {
    return this.#mailbox !== undefined && !this.#isStopped
  }

  async #wait(wanted: Pick<WantedMail, 'kind' | 'length' | 'isNumeric'>): Promise<FoundInMail | undefined> {
    const { domain, allowedDomains, isAttended, signal } = this.#options
    const timeoutMs = isAttended ? ATTENDED_TIMEOUT_MS : ALONE_TIMEOUT_MS
    const found =
      this.#waits++ < MAX_MAILS
        ? await this.#mailbox!
            .wait(
              {
                ...wanted,
                domain,
                allowedDomains,
                address: this.#address,
                linkHosts: allowedHosts(domain, allowedDomains),
                since: this.#askedAt,
                used: [...this.#used],
                timeoutMs,
              },
              signal,
            )
            .catch((error: unknown) => {
              if (!(error instanceof MailboxFailed)) throw error
              this.#trouble = error.message
              return undefined
            })
        : undefined
    if (found) return found
    this.stop()
    if (isAttended) return undefined
    const [code, what] =
      wanted.kind === 'code'
        ? (['email_code_required', 'a code'] as const)
        : (['external_action_required', 'a link'] as const)
    throw new LoginFailed(
      code,
      this.#trouble
        ? `Cannot read ${what} from the mailbox: ${this.#trouble}`
        : `The website sent ${what} by email, and no mail with it came to the mailbox within ${timeoutMs / 1_000} seconds`,
    )
  }
}

/** Whether a page waits for something that it sent by mail. */
export function isOfMail(message: string, text = ''): boolean {
  const words = fold(message)
  return magicLinkWords.in(words) || emailSentWords.in(words) || magicLinkWords.in(fold(text.slice(0, 2_000)))
}

function shapeOf({ elements }: ReadField): Pick<WantedMail, 'length' | 'isNumeric'> {
  const [first] = elements
  const length = elements.length >= 4 ? elements.length : (first?.max_length ?? undefined)
  const isNumeric = first?.input_mode === 'numeric' || /^\[0-9\]|^\\d/.test(first?.pattern ?? '')
  return { length: length !== undefined && length >= 4 && length <= 10 ? length : undefined, isNumeric }
}
