// Rows of login flows. Every change of a state goes through `transition`, which locks the row and checks the table of
// transitions, so that the second of two concurrent changes sees the first.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sql, type Insertable, type Updateable } from 'kysely'
import { announceChange } from '../../platform/database/changes.ts'
import type { AuthFlowsTable, Db } from '../../platform/database/schema.ts'
import { isLiveRow } from '../../sessions/browsers/state.ts'
import { dropImport } from '../imports/store.ts'
import { findConnection } from './store.ts'
import { after, isOver, isWaiting, stepIn, type FlowEvent, type FlowState } from './transitions.ts'
import type { ConnectionRecord, FlowLimits, FlowRecord } from './types.ts'

export const hashOfCode = (code: string): Buffer => createHash('sha256').update(code).digest()

export async function insertFlow(
  tx: Db,
  flow: Omit<Insertable<AuthFlowsTable>, 'expires_at' | 'deadline_at'>,
  { totalSeconds }: Pick<FlowLimits, 'totalSeconds'>,
): Promise<FlowRecord> {
  const end = sql<string>`now() + make_interval(secs => ${totalSeconds})`
  const record = await tx
    .insertInto('auth_flows')
    .values({ ...flow, expires_at: end, deadline_at: end })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('auth_connections')
    .set({ flow_id: record.id })
    .where('id', '=', record.connection_id)
    .execute()
  await announceChange(tx, 'connectionChanged', {
    connectionId: record.connection_id,
    serverId: record.server_id,
  })
  return record
}

export async function findFlow(db: Db, id: string): Promise<FlowRecord | undefined> {
  return db.selectFrom('auth_flows').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * A flow's end changes two rows together. The connection is read after the flow, so that an ended flow is never shown
 * with an outdated connection.
 */
export async function findWithFlow(
  db: Db,
  projectId: string | null,
  connectionId: string,
): Promise<{ connection: ConnectionRecord; flow: FlowRecord | undefined } | undefined> {
  let connection = await findConnection(db, projectId, connectionId)
  while (connection && connection.flow_id !== null) {
    const flow = await findFlow(db, connection.flow_id)
    const now = await findConnection(db, projectId, connectionId)
    if (now && now.flow_id === connection.flow_id) return { connection: now, flow }
    connection = now
  }
  return connection && { connection, flow: undefined }
}

export async function findFlows(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, FlowRecord>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('auth_flows')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

export async function lockFlow(tx: Db, id: string): Promise<FlowRecord | undefined> {
  return tx.selectFrom('auth_flows').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

export type FlowChange = Omit<Updateable<AuthFlowsTable>, 'state' | 'step' | 'version'>

/** Undefined when the transition is not allowed, or the flow does not exist any more. */
export async function transition(
  tx: Db,
  id: string,
  event: FlowEvent,
  change: FlowChange = {},
  limits: Partial<Pick<FlowLimits, 'waitSeconds'>> = {},
): Promise<FlowRecord | undefined> {
  const record = await lockFlow(tx, id)
  const next = record && after(record, event)
  if (!next) return undefined
  // A repeated question is announced once.
  if (next === record.state && isSameQuestion(change.question ?? null, record.question)) return record
  // Saving is not announced: the flow shows its earlier state until it is saved.
  const isAnnounced = next !== 'SAVING'
  const moved = await tx
    .updateTable('auth_flows')
    .set({
      ...change,
      state: next,
      step: stepIn(next, record.step),
      ...(isAnnounced && announcedColumns(next, change, limits)),
      ...(isOver({ state: next }) && forgottenAt(next)),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (isOver(moved)) await dropImport(tx, id)
  if (isAnnounced) {
    await announceChange(tx, 'connectionChanged', {
      connectionId: moved.connection_id,
      serverId: moved.server_id,
    })
  }
  return moved
}

function isSameQuestion(asked: string | null, before: FlowRecord['question']): boolean {
  return isDeepStrictEqual(asked === null ? null : JSON.parse(asked), before)
}

function announcedColumns(
  next: FlowState,
  { question = null }: FlowChange,
  { waitSeconds }: Partial<Pick<FlowLimits, 'waitSeconds'>>,
) {
  return {
    question,
    version: sql<number>`version + 1`,
    updated_at: sql<string>`now()`,
    deadline_at:
      isWaiting({ state: next }) && waitSeconds !== undefined
        ? sql<string>`least(expires_at, now() + make_interval(secs => ${waitSeconds}))`
        : sql<string>`expires_at`,
  }
}

function forgottenAt(end: FlowState) {
  return {
    finished_at: sql<string>`now()`,
    submission: null,
    outcome: null,
    handoff_code: null,
    // A person who opens the page a moment too late still sees how the login ended.
    ...(end !== 'SUCCESS' && end !== 'FAILED' && { is_handoff_used: true }),
  }
}

/** Stores the flow's browser; its followers can watch its screen from now on. */
export async function giveBrowser(
  tx: Db,
  id: string,
  given: { browserId: string; telemetryCaptured: boolean; replayId: string | undefined },
): Promise<boolean> {
  const row = await tx
    .updateTable('auth_flows')
    .set({
      browser_id: given.browserId,
      telemetry_captured: given.telemetryCaptured,
      replay_id: given.replayId ?? null,
      version: sql<number>`version + 1`,
      updated_at: sql<string>`now()`,
    })
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .returning(['connection_id', 'server_id'])
    .executeTakeFirst()
  if (row)
    await announceChange(tx, 'connectionChanged', {
      connectionId: row.connection_id,
      serverId: row.server_id,
    })
  return row !== undefined
}

/** Removes the submission from the row: from now on, only this server's memory has it. */
export async function takeSubmission(db: Db, id: string): Promise<Buffer | undefined> {
  const { rows } = await sql<{ submission: Buffer }>`
    WITH taken AS (
      SELECT id, submission FROM auth_flows
      WHERE id = ${id} AND finished_at IS NULL AND submission IS NOT NULL FOR NO KEY UPDATE)
    UPDATE auth_flows SET submission = NULL FROM taken WHERE auth_flows.id = taken.id
    RETURNING taken.submission`.execute(db)
  return rows[0]?.submission
}

/** Uses up the code, whoever else has it. Returns the flow if the code was valid. */
export async function useHandoff(
  db: Db,
  { connectionId, code }: { connectionId: string; code: string },
): Promise<string | undefined> {
  const row = await db
    .updateTable('auth_flows')
    .set({ is_handoff_used: true, handoff_code: null })
    .where('is_handoff_used', '=', false)
    .where('connection_id', '=', connectionId)
    .where('handoff_hash', '=', hashOfCode(code))
    .where((where) =>
      where.or([where('finished_at', 'is not', null), where('deadline_at', '>', sql<string>`now()`)]),
    )
    .where('expires_at', '>', sql<string>`now()`)
    // Not for a flow that was replaced by another, or whose connection is deleted.
    .where('id', 'in', (where) =>
      where
        .selectFrom('auth_connections')
        .select('flow_id')
        .$narrowType<{ flow_id: string }>()
        .where('auth_connections.id', '=', connectionId)
        .where('auth_connections.deleted_at', 'is', null),
    )
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Whether the code was one of the connection, and cannot be used any more. */
export async function isSpent(
  db: Db,
  { connectionId, code }: { connectionId: string; code: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('auth_flows')
    .select('id')
    .where('connection_id', '=', connectionId)
    .where('handoff_hash', '=', hashOfCode(code))
    .executeTakeFirst()
  return row !== undefined
}

/** The running flows of this server. */
export async function listFlowsOf(db: Db, serverId: string): Promise<FlowRecord[]> {
  return db
    .selectFrom('auth_flows')
    .selectAll()
    .where('server_id', '=', serverId)
    .where('finished_at', 'is', null)
    .execute()
}

/** Flows whose time is up. One that is being saved cannot expire. */
export async function listExpired(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('auth_flows')
    .select('id')
    .where('finished_at', 'is', null)
    .where('state', '<>', 'SAVING')
    .where('deadline_at', '<=', sql<string>`now()`)
    .execute()
  return rows.map(({ id }) => id)
}

/** Undefined when it has not expired yet, or has ended. */
export async function lockExpired(tx: Db, id: string): Promise<FlowRecord | undefined> {
  return tx
    .selectFrom('auth_flows')
    .selectAll()
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .where('state', '<>', 'SAVING')
    .where('deadline_at', '<=', sql<string>`clock_timestamp()`)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Flows of servers that were silent for so long that their sessions have ended. */
export async function listOfLostServers(db: Db, silentSeconds: number): Promise<FlowRecord[]> {
  return db
    .selectFrom('auth_flows')
    .selectAll()
    .where('finished_at', 'is', null)
    .where('server_id', 'in', (where) =>
      where
        .selectFrom('servers')
        .select('id')
        .where(sql<boolean>`seen_at < now() - make_interval(secs => ${silentSeconds})`),
    )
    .execute()
}

/** Flows whose login is done, and whose profile is saved or cannot be saved any more. */
export async function listSettled(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('auth_flows')
    .innerJoin('browsers', 'browsers.id', 'auth_flows.browser_id')
    .select('auth_flows.id')
    .where('auth_flows.finished_at', 'is', null)
    .where('auth_flows.state', '=', 'SAVING')
    .where('browsers.profile_save', 'in', ['saved', 'conflict', 'failed'])
    .execute()
  return rows.map(({ id }) => id)
}

export interface BrowserSaveState {
  readonly profile_save: 'saving' | 'saved' | 'conflict' | 'failed' | null
  readonly profile_save_message: string | null
}

export async function saveStateOf(db: Db, browserId: string): Promise<BrowserSaveState | undefined> {
  return db
    .selectFrom('browsers')
    .select(['profile_save', 'profile_save_message'])
    .where('id', '=', browserId)
    .executeTakeFirst()
}

/**
 * Runs in the transaction that ends the session, and makes it save its profile. False when the session
 * had already ended.
 */
export async function saveAtEnd(
  tx: Db,
  browserId: string,
  { onConflict }: { onConflict: 'replace' | 'keep' },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('browsers')
    .set({ profile_save_changes: true, profile_on_conflict: onConflict })
    .where('id', '=', browserId)
    .where(isLiveRow())
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function replayOf(db: Db, browserId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('replays')
    .select('id')
    .where('browser_id', '=', browserId)
    .orderBy('created_at')
    .executeTakeFirst()
  return row?.id
}

/** Whether the flow of the browser waits for its person. */
export async function isStuck(db: Db, browserId: string): Promise<boolean> {
  const row = await db
    .selectFrom('auth_flows')
    .select('id')
    .where('browser_id', '=', browserId)
    .where('state', 'in', ['AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION'])
    .executeTakeFirst()
  return row !== undefined
}
