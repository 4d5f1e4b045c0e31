// The passkeys of stored credentials: for the browser of a login, and from it. What comes from a browser is read as if a
// stranger had sent it.
import { createHash } from 'node:crypto'
import { MAX_PASSKEYS, type Passkey } from '@berth/contracts/page-snapshot'
import type { PasskeyNews } from '@berth/login/run/run'
import type { Db } from '../../platform/database/schema.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import * as store from './passkey-store.ts'
import type { CredentialRecord } from './types.ts'

type SealedKey = Omit<Passkey, 'rp_id' | 'sign_count'>

export class CredentialPasskeys {
  readonly #box: SealedBox

  constructor(box: SealedBox) {
    this.#box = box
  }

  /** Throws `invalid_state` for keys that were changed or moved. */
  async take(db: Db, { id }: Pick<CredentialRecord, 'id'>): Promise<Passkey[]> {
    const records = await store.takePasskeys(db, id)
    return records.slice(0, MAX_PASSKEYS).map((record) => {
      // SAFETY: it was sealed below; otherwise it would not open.
      const key = JSON.parse(this.#box.open(record.sealed_key!, placeOf(record))) as SealedKey
      return { ...key, rp_id: record.rp_id, sign_count: Number(record.sign_count) }
    })
  }

  /** The credential's row is locked. `hosts`: where it may be typed. */
  async keep(
    tx: Db,
    { id: credentialId }: Pick<CredentialRecord, 'id'>,
    { made, used }: PasskeyNews,
    hosts: readonly string[],
  ): Promise<void> {
    const count = (await store.listPasskeys(tx, [credentialId])).length
    const fitting = made.filter(({ rp_id: rp }) => isPartyOf(rp, hosts))
    for (const key of fitting.slice(0, Math.max(0, MAX_PASSKEYS - count))) {
      const { rp_id: rpId, sign_count: signCount, ...sealed } = key
      const place = { id: store.newPasskeyId(), credential_id: credentialId }
      await store.insertPasskey(tx, {
        ...place,
        rp_id: rpId,
        key_hash: hashOf(key),
        sealed_key: this.#box.seal(JSON.stringify(sealed), placeOf(place)),
        sign_count: signCount,
      })
    }
    for (const key of used) {
      await store.noteUse(tx, { credentialId, keyHash: hashOf(key), signCount: key.sign_count })
    }
  }
}

/** Whether pages on these hosts can belong to a relying party. Chromium has checked that this page did. */
export function isPartyOf(rpId: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) => {
    const name = pattern.replace(/:\d+$/, '')
    const below = name.startsWith('*.') ? name.slice(2) : undefined
    if (below !== undefined && rpId.endsWith(`.${below}`)) return true
    const host = below ?? name
    return host === rpId || host.endsWith(`.${rpId}`)
  })
}

const hashOf = ({ credential_id: id }: Passkey) => createHash('sha256').update(id).digest()

const placeOf = ({ id, credential_id }: { id: string; credential_id: string }) =>
  `credential_passkeys/sealed_key/${credential_id}/${id}`
