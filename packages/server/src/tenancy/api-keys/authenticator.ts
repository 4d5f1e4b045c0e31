// Recognises keys and sign-ins. Results are cached briefly and dropped as soon as any replica announces a change.
// While announcements cannot be received, nothing is cached.
import { expandScopes } from '@berth/contracts/scopes'
import type { Db } from '../../platform/database/schema.ts'
import type { Credential } from '../../http/credential.ts'
import type { Authenticator, Principal } from '../../http/principal.ts'
import { signInIdOf } from './sign-in-token.ts'
import { isSameKey, isSameText, publicIdOf } from './key.ts'
import { findForAuthentication, findForSignIn, type AuthenticationRecord } from './store.ts'

const REMEMBER_MS = 5_000
const MAX_REMEMBERED = 10_000
/** No public id of a key begins like this. */
const SIGN_IN = 'sign-in '

interface Memory {
  /** The key itself: comparing it is cheaper than hashing it again. */
  readonly secret: Buffer
  readonly record: AuthenticationRecord
  readonly principal: Principal
  readonly until: number
}

/** What is looked up, and under which name it is remembered. */
interface Sought {
  readonly name: string
  readonly secret: string
  readonly find: () => Promise<AuthenticationRecord | undefined>
  readonly signInId?: string
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

  authenticate(credential: Credential): Principal | undefined | Promise<Principal | undefined> {
    const sought = credential.kind === 'key' ? this.#ofKey(credential.key) : this.#ofSignIn(credential.token)
    if (!sought) return undefined
    const memory = this.#memories.get(sought.name)
    const isFresh = memory && memory.until > performance.now() && this.#canRemember()
    // A wrong secret takes the same slow path as an unknown key, so timing reveals nothing.
    if (isFresh && isSameText(sought.secret, memory.secret)) {
      return unlessExpired(memory.record, memory.principal)
    }
    return this.#look(sought)
  }

  #ofKey(key: string): Sought {
    const publicId = publicIdOf(key)
    return { name: publicId, secret: key, find: () => findForAuthentication(this.#db, publicId) }
  }

  #ofSignIn(token: string): Sought | undefined {
    const signInId = signInIdOf(token)
    if (signInId === undefined) return undefined
    const find = () => findForSignIn(this.#db, signInId)
    return { name: `${SIGN_IN}${signInId}`, secret: token, find, signInId }
  }

  async #look({ name, secret, find, signInId }: Sought): Promise<Principal | undefined> {
    const generation = this.#generation
    const record = await find()
    if (!record || !isSameKey(secret, record.secretHash)) return undefined
    const principal: Principal = {
      keyId: record.id,
      projectId: record.projectId,
      isProjectArchived: record.projectStatus === 'archived',
      creator: record.creator,
      ...(record.scopes && { scopes: expandScopes(record.scopes) }),
      isOfDeployment: record.isOfDeployment,
      ...(signInId !== undefined && { signInId }),
    }
    if (generation === this.#generation && this.#canRemember()) {
      if (this.#memories.size >= MAX_REMEMBERED) this.#memories.clear()
      this.#memories.set(name, {
        secret: Buffer.from(secret),
        record,
        principal,
        until: performance.now() + REMEMBER_MS,
      })
    }
    return unlessExpired(record, principal)
  }

  /** Also forgets who signed in with the key. */
  forget(publicId: string): void {
    this.#generation++
    this.#memories.delete(publicId)
    for (const [name, { record }] of this.#memories) {
      if (name.startsWith(SIGN_IN) && record.publicId === publicId) this.#memories.delete(name)
    }
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
