// One-time codes (RFC 6238). Only the seed and its parameters are stored: the label of a URI is often
// somebody's e-mail address.
import { HOTP, Secret } from 'otpauth'
import {
  TOTP_DIGITS,
  TOTP_PERIOD,
  totpAlgorithms,
  type CreateCredentialRequest,
  type TotpAlgorithm,
} from '@berth/contracts/credentials'
import type { OneTimeCode } from '@berth/login/run/run'
import { invalidInput } from '../../platform/errors/app-error.ts'

export interface TotpSeed {
  /** Base32, upper case, without padding. */
  readonly secret: string
  readonly algorithm: TotpAlgorithm
  readonly digits: number
  /** Seconds. */
  readonly period: number
}

type TotpFields = Pick<
  CreateCredentialRequest,
  'totp_secret' | 'totp_algorithm' | 'totp_digits' | 'totp_period'
>

const MIN_SECRET_LENGTH = 16
const MAX_SECRET_LENGTH = 128
const BASE32 = /^[A-Z2-7]+$/

/** Undefined when none is given, or an empty one. No error repeats the input. */
export function readTotp(fields: TotpFields): TotpSeed | undefined {
  const { totp_secret: text, totp_algorithm, totp_digits, totp_period } = fields
  if (!text) {
    const name = (['totp_algorithm', 'totp_digits', 'totp_period'] as const).find(
      (each) => fields[each] !== undefined,
    )
    if (name) throw invalidInput(name, 'needs a totp_secret beside it')
    return undefined
  }
  const uri = /^otpauth:/i.test(text.trim()) ? readUri(text.trim()) : undefined
  return {
    secret: readSecret(uri ? uri.secret : text),
    algorithm: uri?.algorithm ?? totp_algorithm ?? 'SHA1',
    digits: uri?.digits ?? totp_digits ?? 6,
    period: uri?.period ?? totp_period ?? 30,
  }
}

/** The current code, or that of the window after `notBefore`, whichever is later. */
export function oneTimeCode(seed: TotpSeed, { now = new Date(), notBefore }: CodeOptions = {}): OneTimeCode {
  const windowMs = seed.period * 1000
  const windowOf = (time: Date) => Math.floor(time.getTime() / windowMs)
  const counter = notBefore ? Math.max(windowOf(now), windowOf(notBefore) + 1) : windowOf(now)
  const { algorithm, digits } = seed
  return {
    code: HOTP.generate({ secret: Secret.fromBase32(seed.secret), algorithm, digits, counter }),
    validFrom: new Date(counter * windowMs),
    expiresAt: new Date((counter + 1) * windowMs),
  }
}

interface CodeOptions {
  readonly now?: Date
  readonly notBefore?: Date | undefined
}

function readSecret(text: string): string {
  const secret = text.replaceAll(/[\s-]/g, '').replace(/=+$/, '').toUpperCase()
  if (!BASE32.test(secret)) throw wrong('must be base32 (letters and the digits 2 to 7)')
  if (secret.length < MIN_SECRET_LENGTH || secret.length > MAX_SECRET_LENGTH) {
    throw wrong(`must have ${MIN_SECRET_LENGTH} to ${MAX_SECRET_LENGTH} characters of base32`)
  }
  return secret
}

/** `otpauth://totp/Label?secret=…&algorithm=SHA1&digits=6&period=30` */
function readUri(text: string) {
  const url = URL.parse(text)
  if (!url || url.host.toLowerCase() !== 'totp') throw wrong('must be an otpauth://totp/ URI, or base32')
  const given = (name: string) => url.searchParams.get(name) ?? undefined
  const secret = given('secret')
  if (secret === undefined) throw wrong('must have a secret in its otpauth URI')
  return {
    secret,
    algorithm: readAlgorithm(given('algorithm')),
    digits: readNumber('digits', given('digits'), TOTP_DIGITS),
    period: readNumber('period', given('period'), TOTP_PERIOD),
  }
}

function readAlgorithm(text: string | undefined): TotpAlgorithm | undefined {
  if (text === undefined) return undefined
  const plain = text.toUpperCase().replace('-', '')
  const algorithm = totpAlgorithms.find((each) => each === plain)
  if (!algorithm) throw wrong(`must have one of ${totpAlgorithms.join(', ')} as its algorithm`)
  return algorithm
}

function readNumber(
  name: string,
  text: string | undefined,
  { minimum, maximum }: { minimum: number; maximum: number },
): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= minimum && number <= maximum)) {
    throw wrong(`must have ${name} from ${minimum} to ${maximum} in its otpauth URI`)
  }
  return number
}

const wrong = (message: string) => invalidInput('totp_secret', message)
