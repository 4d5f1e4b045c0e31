// Recognises keys. Results are cached briefly and dropped as soon as any replica announces a change.
// While announcements cannot be received, nothing is cached.
import { expandScopes } from '@berth/contracts/scopes'
import type { Db } from '../../platform/database/schema.ts'
import type { Authenticator, Principal } from '../../http/principal.ts'
import { isSameKey, isSameText, publicIdOf } from './key.ts'
import { findForAuthentication, type AuthenticationRecord } from './store.ts'

const REMEMBER_MS = 5_000
const MAX_REMEMBERED = 10_000

interface Memory {
  /** The key itself: comparing it is cheaper than hashing it again. */
  readonly key: Buffer
  readonly record: AuthenticationRecord
  readonly principal: Principal
  readonly until: number
}

export class KeyAuthenticator implements Authenticator {
  readonly #db: Db
  readonly #canRemember: () => boolean
  readonly #memories = new Map<string, Memory>()
  /** Counts announcements, to detect one that arrives while a row is being read. */
  #generation = 0

  constructor({ db, canRemember }: { db: Db; canRemember: () => boolean }) {
    this.#db = db
    this.#canRemember = canRemember
  }

  authenticate(key: string): Principal | undefined | Promise<Principal | undefined> {
    const publicId = publicIdOf(key)
    const memory = this.#memories.get(publicId)
    const isFresh = memory && memory.until > performance.now() && this.#canRemember()
    // A wrong secret takes the same slow path as an unknown key, so timing reveals nothing.
    if (isFresh && isSameText(key, memory.key)) {
      return unlessExpired(memory.record, memory.principal)
    }
    return this.#look(publicId, key)
  }

  async #look(publicId: string, key: string): Promise<Principal | undefined> {
    const generation = this.#generation
    const record = await findForAuthentication(this.#db, publicId)
    if (!record || !isSameKey(key, record.secretHash)) return undefined
    const principal: Principal = {
      keyId: record.id,
      projectId: record.projectId,
      isProjectArchived: record.projectStatus === 'archived',
      creator: record.creator,
      ...(record.scopes && { scopes: expandScopes(record.scopes) }),
      isOfDeployment: record.isOfDeployment,
    }
    if (generation === this.#generation && this.#canRemember()) {
      if (this.#memories.size >= MAX_REMEMBERED) this.#memories.clear()
      this.#memories.set(publicId, {
        key: Buffer.from(key),
        record,
        principal,
        until: performance.now() + REMEMBER_MS,
      })
    }
    return unlessExpired(record, principal)
  }

  forget(publicId: string): void {
    this.#generation++
    this.#memories.delete(publicId)
  }

  /** For a change that may affect all keys. */
  forgetAll(): void {
    this.#generation++
    this.#memories.clear()
  }
}

function unlessExpired(record: AuthenticationRecord, principal: Principal): Principal | undefined {
  if (record.expiresAt && Date.parse(record.expiresAt) <= Date.now()) return undefined
  return principal
}
