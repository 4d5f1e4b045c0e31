// What a credential knows of its mailbox, checked when it is set, and sealed with the credential.
import type { MailboxRequest } from '@berth/contracts/credentials'
import type { EgressPolicy } from '../../instances/egress/policy.ts'
import { EgressRefusal } from '../../instances/egress/refusal.ts'
import { readConnectTarget } from '../../instances/egress/target.ts'
import { invalidInput } from '../../platform/errors/app-error.ts'
import type { Hooks } from '../hooks/hook.ts'

export interface ImapSettings {
  readonly host: string
  readonly port: number
  readonly security: 'tls' | 'starttls' | 'none'
  readonly user: string
  readonly password: string
  readonly folder: string
}

export type MailboxSettings = {
  /** Only mails to this address. */
  readonly address?: string
} & ({ readonly imap: ImapSettings } | { readonly http: { readonly url: string; readonly secret: string } })

const usualPorts = { tls: 993, starttls: 143, none: 143 } as const

/** Throws invalid input that names the field. */
export function readMailbox(
  { imap, http, address }: MailboxRequest,
  { policy, hooks }: { policy: EgressPolicy; hooks: Hooks },
): MailboxSettings {
  const shared = address === undefined ? {} : { address: address.toLowerCase() }
  if ((imap === undefined) === (http === undefined)) {
    throw invalidInput('mailbox', 'must have either imap or http')
  }
  if (http)
    return { ...shared, http: { url: hooks.readUrl('mailbox.http.url', http.url), secret: http.secret } }
  const { host, security = 'tls', user, password, folder = 'INBOX' } = imap!
  const port = imap!.port ?? usualPorts[security]
  try {
    const target = readConnectTarget(`${host.includes(':') ? `[${host}]` : host}:${port}`)
    const verdict = policy.judgeTarget(target)
    if (!verdict.allowed) throw invalidInput('mailbox.imap.host', `cannot be reached: ${verdict.reason}`)
    if (security === 'none' && policy.isOpenToAll(target)) {
      throw invalidInput(
        'mailbox.imap.security',
        'must be tls or starttls, or the password could be read on its way; none is for servers in a private network, listed as host:port in BERTH_EGRESS_ALLOW',
      )
    }
  } catch (error) {
    if (error instanceof EgressRefusal) throw invalidInput('mailbox.imap.host', 'must be a host name')
    throw error
  }
  return { ...shared, imap: { host, port, security, user, password, folder } }
}
