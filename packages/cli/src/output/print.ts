// Answers on stdout, in the form that -o asks for.
import { cellOf, columnsOf, type Column } from './columns.ts'
import type { Format } from './formats.ts'
import { write, type Terminal } from './terminal.ts'
import { textOf } from './value-text.ts'

export interface Shape {
  /** Columns of a list; also the first lines of one record. */
  readonly columns?: string | undefined
  /** More of them with -o wide. */
  readonly wide?: string | undefined
  /** Said when a list is empty. */
  readonly none?: string | undefined
}

export async function print(
  terminal: Terminal,
  value: unknown,
  { format, ...shape }: Shape & { readonly format: Format },
): Promise<void> {
  await write(terminal.out, await textFor(terminal, value, { format, ...shape }))
}

async function textFor(
  terminal: Terminal,
  value: unknown,
  { format, ...shape }: Shape & { readonly format: Format },
): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`
  if (format === 'yaml') {
    const { yamlOf } = await import('./yaml.ts')
    return yamlOf(value)
  }
  if (Array.isArray(value)) return listText(terminal, value, { isWide: format === 'wide', ...shape })
  if (typeof value === 'object' && value !== null)
    return recordText(terminal, value as Record<string, unknown>)
  return value === null || value === undefined ? '' : `${textOf(value)}\n`
}

async function listText(
  terminal: Terminal,
  list: readonly unknown[],
  { columns = '', wide = '', none = 'Nothing found', isWide }: Shape & { isWide: boolean },
): Promise<string> {
  if (list.length === 0) {
    terminal.note(none)
    return ''
  }
  const chosen = columnsOf(isWide ? `${columns} ${wide}` : columns)
  const shown = chosen.length > 0 ? chosen : columnsIn(list[0])
  // What no row has needs no column; the first one names the row.
  const used = shown.filter((column, at) => at === 0 || list.some((each) => cellOf(each, column) !== '-'))
  const rows = list.map((each) => used.map((column) => cellOf(each, column)))
  const { tableText } = await import('./table.ts')
  return tableText(
    used.map(({ title }) => title),
    rows,
    // Who asks for everything gets it, on several lines if need be.
    isWide ? { ...terminal, columns: undefined } : terminal,
  )
}

function columnsIn(record: unknown): Column[] {
  if (typeof record !== 'object' || record === null) return [{ title: 'VALUE', path: [] }]
  return Object.keys(record).map((name) => ({ title: name.toUpperCase().replaceAll('_', ' '), path: [name] }))
}

/** One line for each field. */
async function recordText(terminal: Terminal, record: Record<string, unknown>): Promise<string> {
  const rows = Object.entries(record).map(([name, value]) => {
    const text = cellOf(record, { title: name, path: [name] })
    return [name, typeof value === 'object' ? textOf(value) : text]
  })
  if (rows.length === 0) return ''
  const { tableText } = await import('./table.ts')
  // Addresses are copied from here, so nothing is cut.
  return tableText(['FIELD', 'VALUE'], rows, { ...terminal, columns: undefined })
}

/** For events and log lines: one compact JSON object in each line. */
export async function printLine(terminal: Terminal, value: unknown): Promise<void> {
  await write(terminal.out, `${JSON.stringify(value)}\n`)
}
