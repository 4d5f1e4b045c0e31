// The state of a session, as one word of its row, and every way from one state to another. What is not in the table does
// not happen: `transition` is the only writer of the state, and a trigger of the database refuses any other change.
// Being leased is not a state: a browser of a pool is ready or on standby whether somebody has leased it or not.
import { sql, type Expression, type RawBuilder } from 'kysely'
import type { EndReason } from '@berth/contracts/browsers'
import type { SaveState } from '@berth/contracts/profiles'
import type { Db } from '../../platform/database/schema.ts'
import { browserColumns } from './columns.ts'
import type { BrowserRecord } from './types.ts'

/**
 * - starting: it has a place under the limits, and its instance is being made.
 * - ready: it can be used.
 * - standby: the same, and its instance is frozen until somebody uses it.
 * - ending: nobody can use it any more; something of its instance may be left, as it is being saved.
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

/** With what is known of the new state. */
export type Move =
  | { readonly to: 'ready' | 'standby' | 'ended' }
  | { readonly to: 'ending'; readonly reason: EndReason; readonly uptimeMs?: number }

/**
 * Checks and stores in one statement, so that of two at once the second sees what the first did. Undefined: there is no
 * such way from the state that it is in, or no such session; then nothing has changed.
 */
export async function transition(db: Db, id: string, move: Move): Promise<BrowserRecord | undefined> {
  return moving(db, move).where('id', '=', id).returning(browserColumns).executeTakeFirst()
}

/** Of the sessions with these ids, those that may make the move; others stay as they are. */
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

function moving(db: Db, move: Move) {
  return db
    .updateTable('browsers')
    .set({ state: move.to, ...factsOf(move) })
    .where('state', '=', (where) => where.fn.any(where.val(statesBefore(move.to))))
}

/** What is written together with the state, and stays true after it. */
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

/** Ends after which there is nothing left to save, or nothing worth it. */
const UNSAVED_ENDS: readonly EndReason[] = ['start_failed', 'crashed', 'out_of_memory', 'lost']
export const isUnsavedAfter = (reason: EndReason) => UNSAVED_ENDS.includes(reason)

/**
 * One whose changes are to be saved says from the moment it is ending that they are, so that whoever starts from its
 * profile next knows what to wait for.
 */
function savingAfter(reason: EndReason) {
  const isUnsaved = isUnsavedAfter(reason)
  const save: SaveState = isUnsaved ? 'failed' : 'saving'
  const message = isUnsaved ? `the session ended as ${reason}` : null
  // The save may be quicker than this: what it says of itself stays.
  const only = sql`profile_save IS NULL AND profile_id IS NOT NULL AND profile_save_changes AND state <> 'starting'`
  return {
    profile_save: sql<SaveState | null>`CASE WHEN ${only} THEN ${save} ELSE profile_save END`,
    profile_save_message: sql<string | null>`CASE WHEN ${only} THEN ${message} ELSE profile_save_message END`,
  }
}

/** It is over for its users, whatever is left of it. */
export function isOver(
  record: BrowserRecord,
): record is BrowserRecord & { readonly deleted_at: string; readonly end_reason: EndReason } {
  return record.state === 'ending' || record.state === 'ended'
}

/** Somebody can use it. */
export function isUsable({ state }: Pick<BrowserRecord, 'state'>): boolean {
  return state === 'ready' || state === 'standby'
}

/** Rows that are starting, ready or on standby; in the words that the indexes know, see the migration. */
export function isLiveRow(table = 'browsers'): RawBuilder<boolean> {
  return sql<boolean>`${sql.ref(`${table}.deleted_at`)} IS NULL`
}

/** Rows that are ready or on standby. */
export function isUsableRow(table = 'browsers'): RawBuilder<boolean> {
  return sql<boolean>`(${isLiveRow(table)} AND ${sql.ref(`${table}.state`)} <> 'starting')`
}
