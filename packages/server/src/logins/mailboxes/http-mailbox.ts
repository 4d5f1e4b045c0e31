// A mailbox behind an address of the user: whoever has the mails answers with the code, the link, or the mail itself.
import { pause } from '@berth/kit/pause'
import { isOf } from '@berth/login/hosts/hosts'
import { findIn } from '@berth/login/mail/find'
import { toMail } from '@berth/login/mail/mail'
import { MailboxFailed, type FoundInMail, type Mailbox, type WantedMail } from '@berth/login/run/mailbox'
import { HookFailed, type HookAddress, type Hooks } from '../hooks/hook.ts'

const ASK_EVERY_MS = 3_000
const ANSWER_MS = 20_000
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_FAILURES = 3
const MAX_CODE_LENGTH = 100

export class HttpMailbox implements Mailbox {
  readonly #hooks: Hooks
  readonly #address: HookAddress

  constructor(hooks: Hooks, address: HookAddress) {
    this.#hooks = hooks
    this.#address = address
  }

  begin(): void {
    // Each request says since when.
  }

  async wait(wanted: WantedMail, signal: AbortSignal): Promise<FoundInMail | undefined> {
    const late = AbortSignal.timeout(wanted.timeoutMs)
    const stop = AbortSignal.any([signal, late])
    let failures = 0
    while (!stop.aborted) {
      try {
        const found = await this.#ask(wanted, stop)
        if (found) return found
        failures = 0
      } catch (error) {
        signal.throwIfAborted()
        if (late.aborted) break
        if (!(error instanceof HookFailed) || ++failures >= MAX_FAILURES) {
          throw error instanceof HookFailed ? new MailboxFailed(error.message, { cause: error }) : error
        }
      }
      await pause(ASK_EVERY_MS, stop)
    }
    signal.throwIfAborted()
    return undefined
  }

  async #ask(wanted: WantedMail, signal: AbortSignal): Promise<FoundInMail | undefined> {
    const { kind, domain, address, since, length } = wanted
    const message = {
      type: 'login.mail_wanted',
      data: {
        kind,
        domain,
        since: since.toISOString(),
        ...(address !== undefined && { address }),
        ...(length !== undefined && { code_length: length }),
      },
    }
    const options = { timeoutMs: ANSWER_MS, maxBytes: MAX_ANSWER_BYTES, signal }
    const { status, json } = await this.#hooks.ask(this.#address, message, options)
    // Nothing yet.
    if (status === 204 || status === 404) return undefined
    if (status !== 200) throw new HookFailed(`it answers ${status}`)
    return foundIn(json, wanted)
  }
}

function foundIn(json: unknown, wanted: WantedMail): FoundInMail | undefined {
  if (typeof json !== 'object' || json === null) throw new HookFailed('its answer is not a JSON object')
  const { code, link, mail } = json as Readonly<Record<string, unknown>>
  const { kind, used, linkHosts } = wanted
  if (kind === 'code' && typeof code === 'string') {
    const text = code.trim()
    return text === '' || text.length > MAX_CODE_LENGTH || used.includes(text)
      ? undefined
      : { kind, code: text }
  }
  if (kind === 'link' && typeof link === 'string') {
    if (used.includes(link)) return undefined
    if (!isOf(link, linkHosts)) throw new HookFailed('its link does not lead to an allowed domain')
    return { kind, url: link }
  }
  return mail === undefined ? undefined : findIn([toMail(rawOf(mail))], wanted)
}

const string = (value: unknown) => (typeof value === 'string' ? value : undefined)

function rawOf(mail: unknown) {
  const { from, subject, text, html, to } = (mail ?? {}) as Readonly<Record<string, unknown>>
  return {
    from: { address: string(from) },
    subject: string(subject),
    text: string(text),
    html: string(html),
    to: Array.isArray(to) ? to.flatMap((each) => string(each) ?? []) : undefined,
  }
}
