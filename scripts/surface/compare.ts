// Finds out which of the expected operations are built: those of the newest published client, those that only older
// clients have, and those that requested.json lists.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathsOf, type Operation } from '@berth/contracts/operation'
import type { PublishedClient } from './client-operations.ts'

export interface SurfaceRow {
  readonly resource: string
  readonly isBuilt: boolean
  readonly method: string
  readonly path: string
  /** Null if no installed client calls it. */
  readonly call: string | null
  /** The newest client version that has the call. */
  readonly version: string | null
  /** The number in requested.json; null if it is not there. */
  readonly requested: number | null
}

export interface Count {
  readonly built: number
  readonly of: number
}

export interface Surface {
  readonly rows: readonly SurfaceRow[]
  readonly newest: string
  readonly client: Count
  readonly olderClients: Count
  readonly requested: Count
  /** Our operations that neither a client nor requested.json has. */
  readonly ownOnly: readonly string[]
  readonly helpers: readonly string[]
}

interface Endpoint {
  readonly method: string
  readonly path: string
}

interface Requested extends Endpoint {
  readonly number: number
}

export function requestedOperations(): Requested[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'requested.json'), 'utf8')) as Requested[]
}

/** Two paths are the same if their parameters are in the same places; names do not count. */
function keyOf({ method, path }: Endpoint): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
}

export function compareSurface(
  clients: readonly PublishedClient[],
  operations: readonly Operation[],
): Surface {
  const newest = clients[0]
  if (!newest) throw new Error('Cannot compare: no published client is installed')
  const ours = operations.flatMap((row) =>
    pathsOf(row).map((path) => ({ id: row.id, method: row.method, path })),
  )
  const built = new Set(ours.map(keyOf))
  const numbers = new Map(requestedOperations().map((row) => [keyOf(row), row.number]))
  const rows = new Map<string, SurfaceRow>()
  for (const { version, operations: calls } of clients) {
    for (const { method, path, call } of calls) {
      const key = keyOf({ method, path })
      if (rows.has(key)) continue
      const resource = call.split('.').slice(0, -1).join('.')
      const requested = numbers.get(key) ?? null
      rows.set(key, { resource, isBuilt: built.has(key), method, path, call, version, requested })
    }
  }
  for (const row of requestedOperations()) {
    const key = keyOf(row)
    if (rows.has(key)) continue
    const { method, path, number: requested } = row
    const resource = path.split('/')[1]!
    rows.set(key, { resource, isBuilt: built.has(key), method, path, call: null, version: null, requested })
  }
  const all = [...rows.values()].toSorted(byResourceAndPath)
  const served = new Set(ours.filter((row) => rows.has(keyOf(row))).map(({ id }) => id))
  return {
    rows: all,
    newest: newest.version,
    client: count(all.filter(({ version }) => version === newest.version)),
    olderClients: count(all.filter(({ version }) => version !== null && version !== newest.version)),
    requested: count(all.filter(({ requested }) => requested !== null)),
    ownOnly: operations.filter(({ id }) => !served.has(id)).map(({ id }) => id),
    helpers: newest.helpers,
  }
}

function count(rows: readonly SurfaceRow[]): Count {
  return { built: rows.filter(({ isBuilt }) => isBuilt).length, of: rows.length }
}

function byResourceAndPath(a: SurfaceRow, b: SurfaceRow): number {
  return compareText(a.resource, b.resource) || compareText(a.path, b.path) || compareText(a.method, b.method)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
