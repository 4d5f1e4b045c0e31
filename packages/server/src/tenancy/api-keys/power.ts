// What one key may do to another. A key makes nothing wider, longer-lived or more powerful than itself, and changes
// nothing that is: neither the keys that made it, nor others that can do more.
import { scopesBeyond } from '@berth/contracts/scopes'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { unauthorized } from '../../http/bearer.ts'
import type { Principal } from '../../http/principal.ts'
import * as store from './store.ts'
import type { ApiKeyRecord, Maker } from './store.ts'

/** Beyond this many, servers forget all keys instead of each. */
const MAX_ANNOUNCED = 100

/** The caller's own key, held until the transaction ends. */
export async function makerFor(tx: Db, principal: Principal): Promise<Maker> {
  const maker = await store.holdMaker(tx, principal.keyId)
  if (!maker) throw unauthorized('the API key is unknown, expired or deleted')
  return maker
}

/** Throws unless the caller's key may change this one. */
export async function checkPower(tx: Db, principal: Principal, target: ApiKeyRecord): Promise<void> {
  if (target.id === principal.keyId) return
  const own = await store.findMaker(tx, principal.keyId)
  if (!own) throw unauthorized('the API key is unknown, expired or deleted')
  const reason = await strengthOf(tx, target, own)
  if (reason === undefined) return
  throw new AppError('forbidden', `Cannot change API key "${target.id}": ${reason}; use another key`)
}

async function strengthOf(tx: Db, target: ApiKeyRecord, own: Maker): Promise<string | undefined> {
  if (scopesBeyond(target.scopes, own.scopes).length > 0) return 'it may do more than the key of this request'
  if (livesLonger(target, own)) return 'it lives longer than the key of this request'
  if (await store.isMakerOf(tx, target.id, own.id)) return 'it made the key of this request'
  return undefined
}

function livesLonger(target: Pick<Maker, 'expires_at'>, own: Pick<Maker, 'expires_at'>): boolean {
  if (own.expires_at === null) return false
  return target.expires_at === null || Date.parse(target.expires_at) > Date.parse(own.expires_at)
}

export async function announceKeys(tx: Db, publicIds: readonly string[]): Promise<void> {
  if (publicIds.length > MAX_ANNOUNCED) return announceChange(tx, 'unknownChange', {})
  for (const publicId of publicIds) await announceChange(tx, 'keyChanged', { publicId })
}
