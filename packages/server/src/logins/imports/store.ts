// The sealed sessions that flows put into their browsers.
import type { Db } from '../../platform/database/schema.ts'

/** The place of the sealed value: it opens only there. */
export const placeOfImport = (flowId: string) => `auth_imports/sealed_session/${flowId}`

export async function keepImport(tx: Db, flowId: string, sealed: Buffer): Promise<void> {
  await tx.insertInto('auth_imports').values({ flow_id: flowId, sealed_session: sealed }).execute()
}

/** Undefined for a flow that logs in. */
export async function findImport(db: Db, flowId: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('auth_imports')
    .select('sealed_session')
    .where('flow_id', '=', flowId)
    .executeTakeFirst()
  return row?.sealed_session
}

/** When the flow has ended. */
export async function dropImport(tx: Db, flowId: string): Promise<void> {
  await tx.deleteFrom('auth_imports').where('flow_id', '=', flowId).execute()
}
