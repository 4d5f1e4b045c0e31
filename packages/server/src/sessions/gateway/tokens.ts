// The tokens in session URLs. A token names a session and its allowed uses. It becomes useless when the session ends,
// which every use checks, so its own expiry is far away.
import { createHmac, createSecretKey, randomUUID, type KeyObject, type webcrypto } from 'node:crypto'
import { jwtVerify } from 'jose/jwt/verify'
import { AppError } from '../../platform/errors/app-error.ts'

const LIFE_SECONDS = 365 * 24 * 3600
/** For clocks of servers that differ. */
export const LEEWAY_SECONDS = 60
/** RFC 7518: a key for HS256 has at least as many bits as the hash. */
const MIN_SECRET_BYTES = 32
/** Real tokens have about 300 characters. */
const MAX_TOKEN_LENGTH = 2048
/** Stricter than the library, which accepts characters outside of base64url. */
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]{43}$/
/** Size of the cache of verified tokens, for clients that connect often. */
const REMEMBERED = 1000
const REMEMBER_MS = 60_000

export interface TokenKey {
  readonly kid: string
  readonly secret: Uint8Array
}

export interface TokenClaims {
  readonly sessionId: string
  readonly audience: readonly string[]
  readonly lifeSeconds?: number
  /** The lease of a pooled browser that the token is valid for. */
  readonly leaseNumber?: number
  /** Claims for whoever else reads the token. */
  readonly extra?: Readonly<Record<string, string>>
}

export interface Verification {
  readonly sessionId: string
  /** 0 for a session without a pool. */
  readonly leaseNumber: number
  /** The requested audience that matched. */
  readonly audience: string
  /** In milliseconds since 1970. */
  readonly expiresAt: number
  /** In milliseconds since 1970, in whole seconds. */
  readonly issuedAt: number
}

interface Verified {
  readonly sessionId: string
  readonly leaseNumber: number
  readonly audience: readonly string[]
  readonly expiresAt: number
  readonly issuedAt: number
  readonly rememberedUntil: number
}

export class SessionTokens {
  /** Signing with a KeyObject is six times as fast as with bytes. */
  readonly #secret: KeyObject
  readonly #header: string
  readonly #keys = new Map<string, webcrypto.CryptoKey>()
  readonly #verified = new Map<string, Verified>()

  /** The first key signs, all of them verify. */
  constructor({ keys }: { keys: readonly TokenKey[] }) {
    const [first] = keys
    if (!first) throw new Error('Cannot sign session tokens without a key')
    for (const { kid, secret } of keys) {
      if (secret.length < MIN_SECRET_BYTES) throw new Error(`Cannot use key "${kid}": it is too short`)
      const key = createSecretKey(secret).toCryptoKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
      this.#keys.set(kid, key)
    }
    this.#secret = createSecretKey(first.secret)
    this.#header = encode({ alg: 'HS256', typ: 'JWT', kid: first.kid })
  }

  /** Signs by hand, because a list of sessions has many tokens and the library signs each in its own task. */
  sign({ sessionId, audience, lifeSeconds = LIFE_SECONDS, leaseNumber = 0, extra }: TokenClaims): string {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      ...extra,
      sid: sessionId,
      // The claim keeps its old name, because tokens stay valid across an upgrade of the server.
      ...(leaseNumber > 0 && { ten: leaseNumber }),
      aud: audience.length === 1 ? audience[0] : audience,
      iat: now,
      exp: now + lifeSeconds,
      jti: randomUUID(),
    }
    const signed = `${this.#header}.${encode(claims)}`
    return `${signed}.${createHmac('sha256', this.#secret).update(signed).digest('base64url')}`
  }

  /**
   * Returns the first audience that the token allows. Throws the same `unauthorized` for every fault, so that guessing
   * reveals nothing.
   */
  async verify(token: string, ...audiences: readonly string[]): Promise<Verification> {
    if (token.length > MAX_TOKEN_LENGTH || !SHAPE.test(token)) throw refused()
    const known = this.#recall(token) ?? (await this.#check(token))
    const audience = audiences.find((wanted) => known.audience.includes(wanted))
    if (audience === undefined) throw refused()
    return {
      sessionId: known.sessionId,
      leaseNumber: known.leaseNumber,
      audience,
      expiresAt: known.expiresAt,
      issuedAt: known.issuedAt,
    }
  }

  #recall(token: string): Verified | undefined {
    const known = this.#verified.get(token)
    if (!known) return undefined
    const now = Date.now()
    if (now < known.rememberedUntil && now < known.expiresAt) return known
    this.#verified.delete(token)
    return undefined
  }

  async #check(token: string): Promise<Verified> {
    const { payload } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
      algorithms: ['HS256'],
      requiredClaims: ['sid', 'aud', 'iat', 'exp', 'jti'],
      clockTolerance: LEEWAY_SECONDS,
    }).catch(() => {
      throw refused()
    })
    const { sid, aud, exp = 0, iat = 0, ten = 0 } = payload
    const audience = typeof aud === 'string' ? [aud] : aud
    if (typeof sid !== 'string' || typeof ten !== 'number' || !Array.isArray(audience)) throw refused()
    const verified = {
      sessionId: sid,
      leaseNumber: ten,
      audience,
      expiresAt: exp * 1000,
      issuedAt: iat * 1000,
      rememberedUntil: Date.now() + REMEMBER_MS,
    }
    if (this.#verified.size >= REMEMBERED) this.#verified.delete(this.#verified.keys().next().value!)
    this.#verified.set(token, verified)
    return verified
  }

  #keyOf(kid: string | undefined): webcrypto.CryptoKey {
    const key = kid === undefined ? undefined : this.#keys.get(kid)
    if (!key) throw refused()
    return key
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function refused(): AppError {
  return new AppError(
    'unauthorized',
    'Cannot accept the token of this URL: get the current URL from the session',
  )
}
