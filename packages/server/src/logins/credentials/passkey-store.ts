// Rows of passkeys. A deleted one is remembered without its key, so that a login that still has it does not bring it back.
import { sql, type Insertable, type Selectable } from 'kysely'
import { newId } from '@berth/kit/ids'
import type { CredentialPasskeysTable, Db } from '../../platform/database/schema.ts'

export type PasskeyRecord = Selectable<CredentialPasskeysTable>

/** More than a login uses: a browser that is never heard of again has said no higher count. */
const RESERVED_USES = 100

/** Created before the row, because the sealed key is bound to it. */
export const newPasskeyId = (): string => newId('pk_')

/** Oldest first. */
export async function listPasskeys(
  db: Db,
  credentialIds: readonly string[],
): Promise<Omit<PasskeyRecord, 'sealed_key'>[]> {
  if (credentialIds.length === 0) return []
  return db
    .selectFrom('credential_passkeys')
    .select([
      'id',
      'credential_id',
      'rp_id',
      'key_hash',
      'sign_count',
      'created_at',
      'last_used_at',
      'deleted_at',
    ])
    .where('credential_id', 'in', [...credentialIds])
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** For a browser. Each gets counts that no browser before it has used, also if that one was killed. */
export async function takePasskeys(
  db: Db,
  credentialId: string,
): Promise<Pick<PasskeyRecord, 'id' | 'credential_id' | 'rp_id' | 'sealed_key' | 'sign_count'>[]> {
  return db
    .updateTable('credential_passkeys')
    .set({ sign_count: sql<string>`sign_count + ${RESERVED_USES}::bigint` })
    .where('credential_id', '=', credentialId)
    .where('deleted_at', 'is', null)
    .returning(['id', 'credential_id', 'rp_id', 'sealed_key'])
    .returning(sql<string>`sign_count - ${RESERVED_USES}::bigint`.as('sign_count'))
    .execute()
}

/** Does nothing if it is there already, or was deleted. */
export async function insertPasskey(tx: Db, passkey: Insertable<CredentialPasskeysTable>): Promise<void> {
  await tx
    .insertInto('credential_passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function noteUse(
  tx: Db,
  { credentialId, keyHash, signCount }: { credentialId: string; keyHash: Buffer; signCount: number },
): Promise<void> {
  await tx
    .updateTable('credential_passkeys')
    .set({
      last_used_at: sql<string>`now()`,
      sign_count: sql<string>`greatest(sign_count, ${signCount}::bigint)`,
    })
    .where('credential_id', '=', credentialId)
    .where('key_hash', '=', keyHash)
    .where('deleted_at', 'is', null)
    .execute()
}

/** Deletes the key at once. False if it never was there. */
export async function markPasskeyDeleted(tx: Db, credentialId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('credential_passkeys')
    .set({ deleted_at: sql<string>`coalesce(deleted_at, now())`, sealed_key: null })
    .where('credential_id', '=', credentialId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** With their credential. */
export async function markAllDeleted(tx: Db, credentialId: string): Promise<void> {
  await tx
    .updateTable('credential_passkeys')
    .set({ deleted_at: sql<string>`now()`, sealed_key: null })
    .where('credential_id', '=', credentialId)
    .where('deleted_at', 'is', null)
    .execute()
}
