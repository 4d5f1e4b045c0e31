// The value of the cookie: `<id>_<secret>`. As with keys, the id finds the row and the hash of the whole verifies it.
import { hash } from 'node:crypto'
import { newId, randomText } from '@berth/kit/ids'

const SHAPE = /^([a-z0-9]{24})_[a-z0-9]{40}$/

export interface SignInToken {
  readonly id: string
  readonly token: string
  readonly hash: Buffer
}

export function newSignInToken(): SignInToken {
  const id = newId()
  const token = `${id}_${randomText(40)}`
  return { id, token, hash: hashOf(token) }
}

/** Undefined for what is no token. */
export function signInIdOf(token: string): string | undefined {
  return SHAPE.exec(token)?.[1]
}

export const hashOf = (token: string) => hash('sha256', token, 'buffer')
