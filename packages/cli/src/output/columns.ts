// Which fields of a record a table shows. A column is written `path` or `path=Title`; the path may have dots.
import { sizeText, textOf } from './value-text.ts'

export interface Column {
  readonly title: string
  readonly path: readonly string[]
}

export function columnsOf(text: string): Column[] {
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((each) => {
      const [path = '', title = titleOf(path)] = each.split('=')
      return { path: path.split('.'), title: title.toUpperCase().replaceAll('_', ' ') }
    })
}

function titleOf(path: string): string {
  return path
    .replaceAll('.', ' ')
    .replace(/_(at|bytes)$/, '')
    .replace(/_seconds$/, ' (s)')
}

export function valueAt(record: unknown, path: readonly string[]): unknown {
  let value = record
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name]
  return value
}

export function cellOf(record: unknown, { path }: Column): string {
  const value = valueAt(record, path)
  if (typeof value === 'number' && path.at(-1)!.endsWith('_bytes')) return sizeText(value)
  return textOf(value)
}
