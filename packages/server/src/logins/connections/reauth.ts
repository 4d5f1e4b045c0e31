// Whether a connection can log in again without a person, and why. Derived from what its last login needed.
import type { ReauthReason } from '@berth/contracts/auth-connections'
import type { Requirement } from '@berth/login/run/run'
import type { CredentialStanding } from '../credentials/resolver.ts'

export interface ReauthFacts {
  readonly hasSucceeded: boolean
  /** Undefined when it has none, or when it was deleted. */
  readonly credential: CredentialStanding | undefined
  /** Null when none were recorded. */
  readonly requirements: readonly Requirement[] | null
  readonly hasPlan: boolean
  /** The credential has a passkey for the website. */
  readonly hasPasskey?: boolean
  readonly hasSolver: boolean
}

export interface Reauth {
  readonly can: boolean
  readonly reason: ReauthReason
}

export function reauthOf(facts: ReauthFacts): Reauth {
  const { credential, hasPlan, requirements } = facts
  if (!facts.hasSucceeded) return no('no_prior_successful_login')
  if (!credential) return no('no_credential')
  // It takes the place of passwords, codes and other devices.
  if (facts.hasPasskey === true) return yes('has_passkey')
  if (requirements?.includes('passkey')) return no('requires_passkey')
  const needsPerson =
    requirements?.includes('external_action') === true ||
    (requirements?.includes('captcha') === true && !facts.hasSolver)
  if (needsPerson) {
    return no(hasPlan ? 'viable_plans_require_external_action' : 'requires_external_action')
  }
  if (requirements?.includes('sms_code')) return no('requires_sms_code')
  if (!credential.hasMailbox && requirements?.includes('email_code')) return no('requires_email_code')
  if (!credential.hasMailbox && requirements?.includes('email_link')) {
    return no(hasPlan ? 'viable_plans_require_external_action' : 'requires_external_action')
  }
  if (credential.isExternal) return yes('external_credential')
  if (requirements === null) return yes('no_requirements_recorded')
  const needsCode = requirements.includes('totp') || requirements.includes('code')
  if (needsCode && credential.hasTotp === false && !credential.hasMailbox)
    return no('requires_totp_without_secret')
  // Nobody is there to choose, or to type what the credential lacks.
  if (requirements.includes('choice') && !hasPlan) return no('no_viable_plans')
  if (!hasEnough(credential, requirements)) return no('requires_customer_input')
  if (hasPlan) return yes('viable_plans_found')
  return yes(requirements.length === 0 ? 'has_credential' : 'requirements_satisfiable')
}

const yes = (reason: ReauthReason): Reauth => ({ can: true, reason })
const no = (reason: ReauthReason): Reauth => ({ can: false, reason })

const isPassword = (key: string) => /pass/i.test(key)

/** Field names are free: only a password is recognised by its name, and any other value may be the identifier. */
function hasEnough({ valueKeys }: CredentialStanding, requirements: readonly Requirement[]): boolean {
  if (!valueKeys) return true
  if (requirements.includes('password') && !valueKeys.some(isPassword)) return false
  const others = valueKeys.filter((key) => !isPassword(key)).length
  const wanted = requirements.filter((each) => each === 'identifier' || each === 'text').length
  return others >= wanted
}
