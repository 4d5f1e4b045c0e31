import { sql } from 'kysely'
import type { Db } from '../../platform/database/schema.ts'

export interface NewSignIn {
  readonly id: string
  readonly secretHash: Buffer
  readonly keyId: string
  readonly lifeDays: number
}

export async function insertSignIn(tx: Db, { id, secretHash, keyId, lifeDays }: NewSignIn): Promise<void> {
  await tx
    .insertInto('sign_ins')
    .values({
      id,
      secret_hash: secretHash,
      key_id: keyId,
      expires_at: sql<string>`now() + make_interval(days => ${lifeDays})`,
    })
    .execute()
}

/** All but the newest ones of a key. Returns whether there were any. */
export async function deleteOldSignIns(tx: Db, keyId: string, kept: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM sign_ins WHERE id IN (
      SELECT id FROM sign_ins WHERE key_id = ${keyId} ORDER BY created_at DESC, id OFFSET ${kept})`.execute(
    tx,
  )
  return numAffectedRows > 0n
}

export async function deleteSignIn(tx: Db, id: string): Promise<void> {
  await tx.deleteFrom('sign_ins').where('id', '=', id).execute()
}

export async function deleteSignInsBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM sign_ins WHERE id IN (
      SELECT id FROM sign_ins WHERE expires_at < ${end} LIMIT ${limit})`.execute(tx)
  return Number(numAffectedRows ?? 0n)
}

/** Who signed in, as the page shows it. */
export async function findSignIn(db: Db, id: string) {
  return db
    .selectFrom('sign_ins')
    .innerJoin('api_keys', 'api_keys.id', 'sign_ins.key_id')
    .leftJoin('projects', 'projects.id', 'api_keys.project_id')
    .select([
      'sign_ins.expires_at',
      'api_keys.id as key_id',
      'api_keys.public_id',
      'api_keys.name as key_name',
      'api_keys.masked_key',
      'api_keys.scopes',
      'api_keys.expires_at as key_expires_at',
      'api_keys.project_id',
      'projects.name as project_name',
    ])
    .where('sign_ins.id', '=', id)
    .executeTakeFirst()
}
