// The events of a deployment and its invocations, in one order. Numbers are assigned under the lock of the deployment's
// row, in the transaction of the change. So a reader that asks for everything after its last number
// misses nothing.
import { sql } from 'kysely'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db, Tables } from '../../platform/database/schema.ts'
import { places, type DeploymentLock } from './lock.ts'

export interface LogLine {
  readonly at: string
  readonly line: string
}

/** Holds only what changed; the row has the rest. */
export interface StateChange {
  readonly status: string
  readonly reason: string | null
}

export type NewEvent =
  | { readonly kind: 'log'; readonly invocationId: string | null; readonly lines: readonly LogLine[] }
  | { readonly kind: 'deployment_state'; readonly change: StateChange }
  | { readonly kind: 'app_version_summary'; readonly appVersionId: string }
  | { readonly kind: 'invocation_state'; readonly invocationId: string; readonly change: StateChange }

export interface StoredEvent {
  readonly seq: number
  readonly kind: Tables['app_events']['kind']['__select__']
  readonly createdAt: string
  readonly payload: Buffer
}

/** Locks the deployment's row until the transaction ends; take other locks first. */
export async function appendEvents(
  tx: Db,
  { deploymentId, lock }: { deploymentId: string; lock: DeploymentLock },
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return
  const { last_event: last } = await tx
    .updateTable('deployments')
    .set({ last_event: sql<string>`last_event + ${events.length}` })
    .where('id', '=', deploymentId)
    .returning('last_event')
    .executeTakeFirstOrThrow()
  const first = BigInt(last) - BigInt(events.length) + 1n
  await tx
    .insertInto('app_events')
    .values(
      events.map((event, index) => {
        const seq = String(first + BigInt(index))
        return {
          deployment_id: deploymentId,
          seq,
          invocation_id: 'invocationId' in event ? event.invocationId : null,
          kind: event.kind,
          payload: lock.seal(JSON.stringify(contentOf(event)), places.event(deploymentId, seq)),
        }
      }),
    )
    .execute()
  await announceChange(tx, 'appEventsAdded', { deploymentId })
}

function contentOf(event: NewEvent): unknown {
  switch (event.kind) {
    case 'log':
      return event.lines
    case 'app_version_summary':
      return event.appVersionId
    case 'deployment_state':
    case 'invocation_state':
      return event.change
  }
}

/** Each event may hold a megabyte of lines. */
const AT_ONCE = 16

export async function readEvents(
  db: Db,
  options: { deploymentId: string; invocationId: string | null; after: number; since: Date | null },
): Promise<StoredEvent[]> {
  const { deploymentId, invocationId, after, since } = options
  let query = db
    .selectFrom('app_events')
    .select(['seq', 'kind', 'created_at', 'payload'])
    .where('deployment_id', '=', deploymentId)
    .where('seq', '>', String(after))
  query =
    invocationId === null
      ? query.where('kind', '<>', 'invocation_state')
      : query.where('invocation_id', '=', invocationId)
  if (since) query = query.where('created_at', '>=', since.toISOString())
  const rows = await query.orderBy('seq').limit(AT_ONCE).execute()
  return rows.map(({ seq, kind, created_at, payload }) => ({
    seq: Number(seq),
    kind,
    createdAt: created_at,
    payload,
  }))
}

/** For the hourly housekeeping. */
export async function deleteEventsBefore(tx: Db, end: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ seq: string }>`
    DELETE FROM app_events WHERE ctid IN (
      SELECT ctid FROM app_events WHERE created_at < ${end.toISOString()} LIMIT ${limit})
    RETURNING seq`.execute(tx)
  return rows.length
}
