import type { AuditLogEntry } from '@berth/contracts/audit-logs'

/** Entries have no id, and a page asks for the same thing twice within a millisecond. Such entries are numbered. */
export function distinctIds(entries: readonly AuditLogEntry[]): ReadonlyMap<AuditLogEntry, string> {
  const seen = new Map<string, number>()
  return new Map(
    entries.map((entry) => {
      const id = `${entry.timestamp} ${entry.method} ${entry.path}`
      const count = (seen.get(id) ?? 0) + 1
      seen.set(id, count)
      return [entry, count === 1 ? id : `${id} ${count}`]
    }),
  )
}
