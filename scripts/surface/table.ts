// Prints the expected operations as a text table with totals.
import type { Count, Surface, SurfaceRow } from './compare.ts'

const HEADINGS = ['built', 'method', 'path', 'client call', 'requested']

export function surfaceTable(surface: Surface, rows: readonly SurfaceRow[]): string {
  const groups = [...Map.groupBy(rows, ({ resource }) => resource)]
  const cells = new Map(rows.map((row) => [row, cellsOf(row, surface.newest)]))
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...[...cells.values()].map((row) => row[column]!.length)),
  )
  const line = (row: readonly string[]) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd()
  return [
    line(HEADINGS),
    ...groups.map(([resource, group]) => [resource, ...group.map((row) => line(cells.get(row)!))].join('\n')),
  ].join('\n\n')
}

function cellsOf(row: SurfaceRow, newest: string): string[] {
  const only = row.version !== null && row.version !== newest ? ` (last in ${row.version})` : ''
  return [
    row.isBuilt ? 'yes' : 'no',
    row.method,
    row.path,
    row.call === null ? '' : `${row.call}${only}`,
    row.requested === null ? '' : `#${row.requested}`,
  ]
}

export function surfaceTotals(surface: Surface): string {
  const { client, olderClients, requested, newest, ownOnly, helpers } = surface
  return [
    `built ${share(client)} client operations (${newest}), ${share(requested)} requested`,
    `      ${share(olderClients)} that only older clients call`,
    `client methods without their own API request: ${helpers.join(', ')}`,
    `other operations of Berth: ${ownOnly.join(', ')}`,
  ].join('\n')
}

function share({ built, of }: Count): string {
  return `${built} of ${of}`
}
