// People who sign in to the dashboard with an API key. The page then has no key, only a cookie that no script can read.
import type { SignIn } from '@berth/contracts/sign-in'
import { unauthorized } from '../../http/bearer.ts'
import type { Principal } from '../../http/principal.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { announceKeys, makerFor } from '../api-keys/power.ts'
import * as store from './store.ts'
import { newSignInToken } from '../api-keys/sign-in-token.ts'

const LIFE_DAYS = 7
/** Of one key. The oldest ones end. */
const MAX_SIGN_INS = 100

export class SignInService {
  readonly #version: string

  constructor({ version }: { version: string }) {
    this.#version = version
  }

  /** Returns the token of the cookie. */
  async create(tx: Db, principal: Principal): Promise<string> {
    if (principal.signInId !== undefined) {
      throw new AppError(
        'bad_request',
        'Cannot sign in with a sign-in: send an API key in the Authorization header',
      )
    }
    // Held, so that nobody deletes the key meanwhile.
    const { id: keyId } = await makerFor(tx, principal)
    const { id, token, hash } = newSignInToken()
    await store.insertSignIn(tx, { id, secretHash: hash, keyId, lifeDays: LIFE_DAYS })
    const { public_id: publicId } = await find(tx, id)
    if (await store.deleteOldSignIns(tx, keyId, MAX_SIGN_INS)) await announceKeys(tx, [publicId])
    return token
  }

  async get(db: Db, { signInId }: Principal): Promise<SignIn> {
    if (signInId === undefined) {
      throw new AppError(
        'not_found',
        'Cannot find a sign-in: this request has an API key; see GET /auth/context',
      )
    }
    const row = await find(db, signInId)
    return {
      key: {
        id: row.key_id,
        name: row.key_name,
        masked_key: row.masked_key,
        scopes: row.scopes,
        expires_at: row.key_expires_at,
      },
      project: row.project_id === null ? null : { id: row.project_id, name: row.project_name ?? '' },
      expires_at: row.expires_at,
      version: this.#version,
    }
  }

  async delete(tx: Db, { signInId }: Principal): Promise<void> {
    if (signInId === undefined) return
    const { public_id: publicId } = await find(tx, signInId)
    await store.deleteSignIn(tx, signInId)
    await announceKeys(tx, [publicId])
  }
}

async function find(db: Db, id: string) {
  const row = await store.findSignIn(db, id)
  if (!row) throw unauthorized('the sign-in has ended')
  return row
}
