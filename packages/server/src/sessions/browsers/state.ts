// The states of a session and the allowed transitions. `transition` is the only writer of the state, and a database
// trigger refuses any transition that is not in the table.
// Being leased is not a state: a pooled browser is ready or on standby, leased or not.
import { sql, type Expression, type RawBuilder } from 'kysely'
import type { EndReason } from '@berth/contracts/browsers'
import type { SaveState } from '@berth/contracts/profiles'
import { prepared } from '../../platform/database/prepared.ts'
import type { Db } from '../../platform/database/schema.ts'
import { browserColumns } from './columns.ts'
import type { BrowserRecord } from './types.ts'

/**
 * - starting: the session counts against the limits, and its instance is starting.
 * - ready: clients can use it.
 * - standby: clients can use it; its instance is frozen until they do.
 * - ending: clients can no longer use it; its instance may still exist, for example during a profile save.
 * - ended: nothing of it is left.
 */
export type State = BrowserRecord['state']

export const transitions: Readonly<Record<State, readonly State[]>> = {
  starting: ['ready', 'ending'],
  ready: ['standby', 'ending'],
  standby: ['ready', 'ending'],
  ending: ['ended'],
  ended: [],
}
export const INITIAL_STATE: State = 'starting'
export const states = Object.keys(transitions) as readonly State[]

export function statesBefore(to: State): State[] {
  return states.filter((from) => transitions[from].includes(to))
}

/** A new state with the facts to store with it. */
export type Move =
  | { readonly to: 'ready' | 'standby' | 'ended' }
  | { readonly to: 'ending'; readonly reason: EndReason; readonly uptimeMs?: number }

/**
 * Checks and stores in one statement, so that concurrent transitions see each other. Returns undefined and changes
 * nothing when the current state does not allow the transition or the session does not exist.
 */
export async function transition(db: Db, id: string, move: Move): Promise<BrowserRecord | undefined> {
  if (move.to === 'ready') return (await toReady(db, id))[0]
  return moving(db, move).where('id', '=', id).returning(browserColumns).executeTakeFirst()
}

/**
 * Ends a session that is still starting. A transaction that makes it ready at the same moment goes first: then this returns
 * undefined, and the session stays.
 */
export async function endUnready(db: Db, id: string): Promise<BrowserRecord | undefined> {
  return moving(db, { to: 'ending', reason: 'start_failed' })
    .where('id', '=', id)
    .where('state', '=', INITIAL_STATE)
    .returning(browserColumns)
    .executeTakeFirst()
}

/** Moves those sessions whose state allows it and returns them; the others stay as they are. */
export async function transitionAll(
  db: Db,
  ids: Expression<{ id: string }>,
  move: Move,
): Promise<BrowserRecord[]> {
  return moving(db, move)
    .where('id', 'in', sql<string>`${ids}`)
    .returning(browserColumns)
    .execute()
}

/** Every create waits for it. */
const toReady = prepared((db, id: string) =>
  moving(db, { to: 'ready' }).where('id', '=', id).returning(browserColumns),
)

function moving(db: Db, move: Move) {
  return db
    .updateTable('browsers')
    .set({ state: move.to, ...factsOf(move) })
    .where('state', '=', (where) => where.fn.any(where.val(statesBefore(move.to))))
}

/** Columns that are written together with the state. */
function factsOf(move: Move) {
  if (move.to === 'ended') return { ended_at: sql<string>`now()` }
  if (move.to !== 'ending') return {}
  const { reason, uptimeMs } = move
  return {
    deleted_at: sql<string>`now()`,
    end_reason: reason,
    ...savingAfter(reason),
    ...(uptimeMs !== undefined && { uptime_ms: String(uptimeMs) }),
  }
}

/** After these ends there is nothing left to save, or nothing worth saving. */
const UNSAVED_ENDS: readonly EndReason[] = ['start_failed', 'crashed', 'out_of_memory', 'lost']
export const isUnsavedAfter = (reason: EndReason) => UNSAVED_ENDS.includes(reason)

/**
 * A session with changes to save is marked as saving from the moment it ends, so that the next session with this
 * profile knows to wait.
 */
function savingAfter(reason: EndReason) {
  const isUnsaved = isUnsavedAfter(reason)
  const save: SaveState = isUnsaved ? 'failed' : 'saving'
  const message = isUnsaved ? `the session ended as ${reason}` : null
  // The save may have finished before this statement; then its result stays.
  const only = sql`profile_save IS NULL AND profile_id IS NOT NULL AND profile_save_changes AND state <> 'starting'`
  return {
    profile_save: sql<SaveState | null>`CASE WHEN ${only} THEN ${save} ELSE profile_save END`,
    profile_save_message: sql<string | null>`CASE WHEN ${only} THEN ${message} ELSE profile_save_message END`,
  }
}

/** Clients can no longer use the session, even if cleanup is still running. */
export function isOver(
  record: BrowserRecord,
): record is BrowserRecord & { readonly deleted_at: string; readonly end_reason: EndReason } {
  return record.state === 'ending' || record.state === 'ended'
}

export function isUsable({ state }: Pick<BrowserRecord, 'state'>): boolean {
  return state === 'ready' || state === 'standby'
}

/** Rows that are starting, ready or on standby. Written like the condition of the indexes, so that they apply. */
export function isLiveRow(table = 'browsers'): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${table}.deleted_at`)} IS NULL`
}

/** Rows that are ready or on standby. */
export function isUsableRow(table = 'browsers'): RawBuilder<boolean> {
  return sql<boolean>`(${isLiveRow(table)} AND ${sql.ref(`${table}.state`)} <> 'starting')`
}
