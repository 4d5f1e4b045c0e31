// Opens the mailbox of a credential for one login.
import type { MailboxRequest } from '@berth/contracts/credentials'
import type { Mailbox } from '@berth/login/run/mailbox'
import type { EgressPolicy } from '../../instances/egress/policy.ts'
import type { Target } from '../../instances/egress/target.ts'
import { DirectUpstream, type DirectUpstreamOptions } from '../../instances/egress/upstream.ts'
import type { Hooks } from '../hooks/hook.ts'
import { HttpMailbox } from './http-mailbox.ts'
import { readMailbox, type MailboxSettings } from './settings.ts'

export interface MailboxesOptions {
  readonly policy: EgressPolicy
  readonly direct: DirectUpstreamOptions
  readonly hooks: Hooks
}

export class Mailboxes {
  readonly #options: MailboxesOptions

  constructor(options: MailboxesOptions) {
    this.#options = options
  }

  read(request: MailboxRequest): MailboxSettings {
    return readMailbox(request, this.#options)
  }

  /** `signal`: of the login. */
  async open(settings: MailboxSettings, signal: AbortSignal): Promise<Mailbox> {
    const { hooks, direct } = this.#options
    if ('http' in settings) return new HttpMailbox(hooks, settings.http)
    // Most logins need no IMAP, so it is loaded when one does.
    const { ImapMailbox } = await import('./imap-mailbox.ts')
    const resolve = async (target: Target, until: AbortSignal) => {
      using upstream = new DirectUpstream(direct)
      return await upstream.resolve(target, until)
    }
    return new ImapMailbox({ settings: settings.imap, resolve, signal })
  }
}
