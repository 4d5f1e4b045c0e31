// The key format: `sk_<public id>_<secret>`. The public id finds the row, and the hash of the whole
// key verifies it. The secret has 190 bits, so a fast hash is as safe as a slow one.
import { createHash, hash, timingSafeEqual } from 'node:crypto'
import { randomText } from '@berth/kit/ids'

const SHAPE = /^sk_([a-z0-9]{12})_[A-Za-z0-9]{32}$/
const LETTERS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export interface KeyMaterial {
  readonly key: string
  readonly publicId: string
  readonly hash: Buffer
  readonly masked: string
}

export function newKey(): KeyMaterial {
  return keyMaterial(`sk_${randomText(12)}_${randomText(32, LETTERS_AND_DIGITS)}`)
}

export function keyMaterial(key: string): KeyMaterial {
  return { key, publicId: publicIdOf(key), hash: hashOf(key), masked: maskOf(key) }
}

/** A key chosen by the operator contains no public id, so a part of another hash replaces it. */
export function publicIdOf(key: string): string {
  const shaped = SHAPE.exec(key)
  if (shaped) return shaped[1]!
  return `own-${createHash('sha256').update(`public id of ${key}`).digest('hex').slice(0, 16)}`
}

export function isSameKey(key: string, knownHash: Buffer): boolean {
  return timingSafeEqual(hashOf(key), knownHash)
}

/** Constant time, wherever the two texts differ. */
export function isSameText(text: string, known: Buffer): boolean {
  const bytes = Buffer.from(text)
  return bytes.length === known.length && timingSafeEqual(bytes, known)
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

function maskOf(key: string): string {
  // Short keys chosen by an operator show less, so that most of the key stays hidden.
  return key.length < 24 ? `${key.slice(0, 2)}...` : `${key.slice(0, 7)}...${key.slice(-4)}`
}
