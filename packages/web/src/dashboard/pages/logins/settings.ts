// The settings of a login as a form has them.
import type { CreateConnectionRequest, ManagedAuth } from '@berth/contracts/auth-connections'
import { filled, wordsOf } from '../../parts/texts.ts'

export interface Settings {
  readonly loginUrl: string
  /** Empty, `name:…` for one of Berth's, or `provider:…` for one of a provider; `provider:` alone: of any. */
  readonly credential: string
  /** The path of an item of the provider; empty: whichever has the domain. */
  readonly path: string
  readonly allowedDomains: string
  readonly proxyId: string
  readonly interval: string
  readonly isStealth: boolean
  readonly savesCredentials: boolean
  readonly hasChecks: boolean
  readonly logsInAgain: boolean
  readonly isRecorded: boolean
}

export const newSettings: Settings = {
  loginUrl: '',
  credential: '',
  path: '',
  allowedDomains: '',
  proxyId: '',
  interval: '3600',
  isStealth: true,
  savesCredentials: true,
  hasChecks: true,
  logsInAgain: true,
  isRecorded: false,
}

export function settingsOf(login: ManagedAuth): Settings {
  const { credential } = login
  return {
    loginUrl: login.login_url ?? '',
    credential:
      credential === undefined
        ? ''
        : credential.name !== undefined
          ? `name:${credential.name}`
          : `provider:${credential.provider ?? ''}`,
    path: credential?.path ?? '',
    allowedDomains: (login.allowed_domains ?? []).join(' '),
    proxyId: login.browser?.proxy?.id ?? '',
    interval: String(login.health_check_interval ?? 3600),
    isStealth: login.browser?.stealth ?? true,
    savesCredentials: login.save_credentials,
    hasChecks: login.health_checks ?? true,
    logsInAgain: login.auto_reauth ?? true,
    isRecorded: login.record_session,
  }
}

type Request = Omit<CreateConnectionRequest, 'domain' | 'profile_name'>

export function requestOf(settings: Settings, before: Settings = newSettings): Request {
  const credential = credentialOf(settings)
  const hasNewProxy = settings.proxyId !== before.proxyId
  return {
    ...(settings.loginUrl !== before.loginUrl && { login_url: settings.loginUrl.trim() }),
    ...(credential && { credential }),
    ...(settings.allowedDomains !== before.allowedDomains && {
      allowed_domains: wordsOf(settings.allowedDomains),
    }),
    browser: {
      stealth: settings.isStealth,
      ...(hasNewProxy && { proxy: settings.proxyId === '' ? { mode: 'default' } : { id: settings.proxyId } }),
    },
    save_credentials: settings.savesCredentials,
    record_session: settings.isRecorded,
    health_checks: settings.hasChecks,
    ...(settings.hasChecks && { health_check_interval: Number(settings.interval) }),
    // Nothing is noticed without checks.
    auto_reauth: settings.hasChecks && settings.logsInAgain,
  }
}

function credentialOf({ credential, path }: Settings): Request['credential'] {
  if (credential === '') return undefined
  const at = credential.indexOf(':')
  const [kind, name] = [credential.slice(0, at), credential.slice(at + 1)]
  if (kind === 'name') return { name }
  if (name === '') return { auto: true }
  const item = filled(path)
  return item === undefined ? { provider: name, auto: true } : { provider: name, path: item }
}
