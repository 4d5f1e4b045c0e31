// A secret of the service itself, created once and shared by all servers of one database.
import { randomBytes } from 'node:crypto'
import type { Db } from '../database/schema.ts'
import type { SealedBox } from './sealed-box.ts'

const SECRET_BYTES = 32

export async function serviceSecret(db: Db, box: SealedBox, name: string): Promise<Uint8Array> {
  const context = `service_secrets/sealed/${name}`
  const sealed = box.seal(randomBytes(SECRET_BYTES).toString('base64'), context)
  await db
    .insertInto('service_secrets')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await db
    .selectFrom('service_secrets')
    .select('sealed')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return Buffer.from(box.open(row.sealed, context), 'base64')
}
