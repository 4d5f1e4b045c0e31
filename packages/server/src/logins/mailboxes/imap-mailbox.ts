// A mailbox over IMAP. Reads only, and only what arrives after the login began: the folder's next number says where that
// is. Everything that a server sends is bounded.
import { ImapFlow } from 'imapflow'
import PostalMime, { type Email } from 'postal-mime'
import { pause } from '@berth/kit/pause'
import { findIn } from '@berth/login/mail/find'
import { MAX_MAIL_BYTES, toMail, type Mail } from '@berth/login/mail/mail'
import { MailboxFailed, type FoundInMail, type Mailbox, type WantedMail } from '@berth/login/run/mailbox'
import { EgressRefusal } from '../../instances/egress/refusal.ts'
import { readConnectTarget, type Target } from '../../instances/egress/target.ts'
import type { ImapSettings } from './settings.ts'

const CONNECT_MS = 20_000
const ANSWER_MS = 30_000
const LOOK_EVERY_MS = 2_000
const MAX_MAILS = 20
const MAX_FAILURES = 3
const MAX_RESPONSE_BYTES = 2 * 1024 * 1024
/** Clocks of mail servers differ. */
const CLOCK_MS = 120_000

export interface ImapMailboxOptions {
  readonly settings: ImapSettings
  /** The addresses of the server that may be used. Rejects with EgressRefusal. */
  readonly resolve: (target: Target, signal: AbortSignal) => Promise<readonly string[]>
  /** Of the login. */
  readonly signal: AbortSignal
}

interface Beginning {
  readonly uidNext: number
  readonly uidValidity: bigint
}

export class ImapMailbox implements Mailbox {
  readonly #options: ImapMailboxOptions
  #beginning: Promise<Beginning | undefined> | undefined
  readonly #read = new Map<number, Mail>()

  constructor(options: ImapMailboxOptions) {
    this.#options = options
  }

  begin(): void {
    const { signal } = this.#options
    // If it cannot be read now, it is read by the clock later.
    this.#beginning ??= this.#with(signal, (client) => Promise.resolve(beginningOf(client))).catch(
      () => undefined,
    )
  }

  async wait(wanted: WantedMail, signal: AbortSignal): Promise<FoundInMail | undefined> {
    const late = AbortSignal.timeout(wanted.timeoutMs)
    const stop = AbortSignal.any([signal, late])
    const beginning = await this.#beginning
    for (let failures = 1; ; failures++) {
      try {
        return await this.#with(stop, (client) => this.#look(client, { wanted, beginning, stop }))
      } catch (error) {
        signal.throwIfAborted()
        if (late.aborted) return undefined
        // A refused password is not tried again.
        if (failures >= MAX_FAILURES || !(error instanceof Disconnected)) throw error
        await pause(LOOK_EVERY_MS, stop)
      }
    }
  }

  async #look(
    client: ImapFlow,
    { wanted, beginning, stop }: { wanted: WantedMail; beginning: Beginning | undefined; stop: AbortSignal },
  ): Promise<FoundInMail> {
    for (;;) {
      const found = findIn(await this.#newMails(client, wanted, beginning), wanted)
      if (found) return found
      await pause(LOOK_EVERY_MS, stop)
      stop.throwIfAborted()
      await client.noop()
    }
  }

  /** Newest first. */
  async #newMails(
    client: ImapFlow,
    { since }: WantedMail,
    beginning: Beginning | undefined,
  ): Promise<Mail[]> {
    const now = beginningOf(client)
    const isSame = beginning !== undefined && beginning.uidValidity === now.uidValidity
    const after = new Date(since.getTime() - CLOCK_MS)
    const uids = await client.search(
      // The server compares only days.
      isSame ? { uid: `${beginning.uidNext}:*` } : { since: new Date(after.getTime() - 86_400_000) },
      { uid: true },
    )
    const newest = (uids || [])
      // `9:*` names the last mail even if its number is smaller.
      .filter((uid) => !isSame || uid >= beginning.uidNext)
      .toSorted((one, other) => other - one)
      .slice(0, MAX_MAILS)
    const mails: Mail[] = []
    for (const uid of newest) {
      const mail = this.#read.get(uid) ?? (await readMail(client, uid, after))
      if (!mail) continue
      this.#read.set(uid, mail)
      mails.push(mail)
    }
    return mails
  }

  async #with<T>(signal: AbortSignal, work: (client: ImapFlow) => Promise<T>): Promise<T> {
    const client = await this.#client(signal)
    const cut = () => client.close()
    signal.addEventListener('abort', cut)
    // Without a listener, a broken connection would end the process.
    client.on('error', () => {})
    try {
      signal.throwIfAborted()
      await client.connect()
      const { folder } = this.#options.settings
      await client.mailboxOpen(folder, { readOnly: true })
      return await work(client)
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof MailboxFailed ? error : failureOf(error)
    } finally {
      signal.removeEventListener('abort', cut)
      client.close()
    }
  }

  async #client(signal: AbortSignal): Promise<ImapFlow> {
    const { settings, resolve } = this.#options
    const { host, port, security, user, password } = settings
    const target = readConnectTarget(`${host.includes(':') ? `[${host}]` : host}:${port}`)
    const [address] = await resolve(target, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new MailboxFailed(
        error instanceof EgressRefusal ? error.message : `the name ${host} cannot be looked up`,
        { cause: error },
      )
    })
    if (address === undefined) throw new MailboxFailed(`${host} has no address`)
    return new ImapFlow({
      // The address that was judged, so that no name can lead elsewhere in between.
      host: address,
      servername: host,
      port,
      secure: security === 'tls',
      doSTARTTLS: security === 'starttls',
      auth: { user, pass: password },
      tls: { rejectUnauthorized: true },
      logger: false,
      disableAutoIdle: true,
      disableCompression: true,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: ANSWER_MS,
      maxLineLength: MAX_RESPONSE_BYTES,
      maxLiteralSize: MAX_RESPONSE_BYTES,
      maxResponseSize: 2 * MAX_RESPONSE_BYTES,
    })
  }
}

function beginningOf({ mailbox }: ImapFlow): Beginning {
  if (!mailbox) throw new MailboxFailed('the folder is not open')
  return { uidNext: mailbox.uidNext, uidValidity: mailbox.uidValidity }
}

/** Undefined for one that is older than that, or was removed meanwhile. */
async function readMail(client: ImapFlow, uid: number, after: Date): Promise<Mail | undefined> {
  const found = await client.fetchOne(
    String(uid),
    { internalDate: true, source: { start: 0, maxLength: MAX_MAIL_BYTES } },
    { uid: true },
  )
  if (!found || !found.source) return undefined
  const { internalDate } = found
  if (internalDate !== undefined && new Date(internalDate) < after) return undefined
  const parsed = await PostalMime.parse(found.source, {
    maxNestingDepth: 20,
    maxHeadersSize: 128 * 1024,
  })
  return toMail({
    from: parsed.from && { address: parsed.from.address, name: parsed.from.name },
    to: recipientsOf(parsed),
    subject: parsed.subject,
    text: parsed.text,
    html: parsed.html,
  })
}

/** Forwarded mails say in other headers whom they were for. */
function recipientsOf({ to = [], cc = [], headers }: Email): string[] {
  const written = [...to, ...cc].flatMap(({ address }) => address ?? [])
  const delivered = headers
    .filter(({ key }) => /^(delivered-to|x-original-to|envelope-to)$/.test(key))
    .map(({ value }) => value.replace(/^<|>$/g, ''))
  return [...written, ...delivered]
}

/** It may work the next time. */
class Disconnected extends MailboxFailed {}

/** With nothing of what a server wrote. */
function failureOf(cause: unknown): MailboxFailed {
  const error = cause as { code?: string; authenticationFailed?: boolean; mailboxMissing?: boolean }
  const code = /^\w{1,60}$/.exec(error.code ?? '')?.[0]
  if (error.authenticationFailed === true) {
    return new MailboxFailed('the server refuses the user name or the password', { cause })
  }
  if (error.mailboxMissing === true) return new MailboxFailed('the folder does not exist', { cause })
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return new MailboxFailed(
      `the certificate of the server is not valid (${code}); a private authority needs NODE_EXTRA_CA_CERTS`,
      { cause },
    )
  }
  if (code?.endsWith('TooLarge') === true) {
    return new MailboxFailed('the server sends more than a login reads', { cause })
  }
  return new Disconnected(`the connection failed${code === undefined ? '' : ` (${code})`}`, { cause })
}
