// Rows of steps. They belong to a flow or a health check, and go with it.
import { sql, type Selectable } from 'kysely'
import type { Db, Tables } from '../../platform/database/schema.ts'

export type StepRecord = Selectable<Tables['auth_steps']>
export type Entry = { readonly flowId: string } | { readonly checkId: string }

export const entryIdOf = (entry: Entry): string => ('flowId' in entry ? entry.flowId : entry.checkId)

export async function lastNumber(db: Db, entryId: string): Promise<number> {
  const { last } = await db
    .selectFrom('auth_steps')
    .select((select) => select.fn.max('number').as('last'))
    .where('entry_id', '=', entryId)
    .executeTakeFirstOrThrow()
  return last ?? 0
}

export async function insertStep(
  db: Db,
  entry: Entry,
  step: { number: number; at: Date; sealed: Buffer; sealedPage: Buffer | null },
): Promise<void> {
  await db
    .insertInto('auth_steps')
    .values({
      entry_id: entryIdOf(entry),
      number: step.number,
      flow_id: 'flowId' in entry ? entry.flowId : null,
      check_id: 'checkId' in entry ? entry.checkId : null,
      sealed: step.sealed,
      sealed_page: step.sealedPage,
      created_at: step.at,
    })
    // An answer that was lost: the step is there.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function replaceStep(
  db: Db,
  entryId: string,
  { number, sealed, sealedPage }: { number: number; sealed: Buffer; sealedPage: Buffer | null },
): Promise<void> {
  await db
    .updateTable('auth_steps')
    .set({ sealed, sealed_page: sealedPage })
    .where('entry_id', '=', entryId)
    .where('number', '=', number)
    .execute()
}

export async function deleteStep(db: Db, entryId: string, number: number): Promise<void> {
  await db.deleteFrom('auth_steps').where('entry_id', '=', entryId).where('number', '=', number).execute()
}

/** Without their pages. */
export async function listSteps(
  db: Db,
  entryId: string,
): Promise<(Omit<StepRecord, 'sealed_page'> & { has_page: boolean })[]> {
  return db
    .selectFrom('auth_steps')
    .select(['entry_id', 'number', 'flow_id', 'check_id', 'sealed', 'created_at'])
    .select(sql<boolean>`sealed_page IS NOT NULL`.as('has_page'))
    .where('entry_id', '=', entryId)
    .orderBy('number')
    .execute()
}

export async function findPage(db: Db, entryId: string, number: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('auth_steps')
    .select('sealed_page')
    .where('entry_id', '=', entryId)
    .where('number', '=', number)
    .executeTakeFirst()
  return row?.sealed_page ?? undefined
}

/** Of a connection that is deleted: nobody can read them any more. */
export async function deleteStepsOf(tx: Db, connectionId: string): Promise<void> {
  await sql`DELETE FROM auth_steps USING auth_flows
    WHERE auth_flows.id = auth_steps.flow_id AND auth_flows.connection_id = ${connectionId}`.execute(tx)
  await sql`DELETE FROM auth_steps USING auth_checks
    WHERE auth_checks.id = auth_steps.check_id AND auth_checks.connection_id = ${connectionId}`.execute(tx)
}
