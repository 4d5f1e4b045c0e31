// Where a login gets what a website sends by mail. The server implements it.

export interface WantedMail {
  readonly kind: 'code' | 'link'
  readonly domain: string
  readonly allowedDomains: readonly string[]
  /** Only mails to this address, if it is set. */
  readonly address?: string | undefined
  /** Host patterns: other links are not followed. */
  readonly linkHosts: readonly string[]
  /** Of the code, if the page says so. */
  readonly length: number | undefined
  readonly isNumeric: boolean
  /** When the login asked for it. */
  readonly since: Date
  /** What the website refused, or what was used. */
  readonly used: readonly string[]
  readonly timeoutMs: number
}

export type FoundInMail =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'link'; readonly url: string }

export interface Mailbox {
  /** Call it before the website is asked for anything: what is in the mailbox by then is not for this login. */
  begin(): void
  /** Undefined when nothing has come in time. Rejects with MailboxFailed, or with the signal's reason. */
  wait(wanted: WantedMail, signal: AbortSignal): Promise<FoundInMail | undefined>
}

/** The mailbox cannot be read. The message is for users and contains nothing from the mailbox. */
export class MailboxFailed extends Error {
  override readonly name = 'MailboxFailed'
}
