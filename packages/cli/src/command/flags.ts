// The flags of a verb: one for every field of its operation, and further names from its row.
import { Option } from 'commander'
import type { ApiOperation, Field } from '../api/operation-table.ts'
import { usage } from '../basics/failure.ts'
import type { FlagRow, ValueKind, Verb } from './rows.ts'
import { parserOf, readText } from './values.ts'

export interface FieldFlag {
  readonly option: Option
  readonly place: 'query' | 'body'
  readonly path: readonly string[]
  readonly always?: unknown
}

export interface Flags {
  readonly fields: readonly FieldFlag[]
  /** That the command reads itself. */
  readonly others: readonly Option[]
}

const dashed = (path: readonly string[]) => path.join('-').replaceAll('_', '-')

/** Long names that mean the same in every command. */
const RESERVED = new Set(['output', 'quiet', 'context', 'project', 'body', 'yes', 'wait', 'all', 'help'])

export function flagsFor(verb: Verb, operation: ApiOperation | undefined, args: readonly string[]): Flags {
  const fields: FieldFlag[] = []
  const others: Option[] = []
  const taken = new Set<string>()
  const covered: string[] = []
  for (const row of verb.flags ?? []) {
    const option = optionOf(row, operation)
    taken.add(option.long!.replace(/^--/, ''))
    if (row.field === undefined || operation === undefined) {
      others.push(option)
      continue
    }
    const { place } = findField(operation, row.field)
    if (!('always' in row)) covered.push(row.field)
    fields.push({ option, place, path: row.field.split('.'), ...('always' in row && { always: row.always }) })
  }
  if (operation) {
    const known = new Set([...args, ...(verb.without ?? [])])
    for (const place of ['query', 'body'] as const) {
      for (const field of operation[place]) {
        if (known.has(field.path.join('.')) || known.has(field.path[0]!)) continue
        const isHidden = isCovered(field, { covered, siblings: operation[place] })
        fields.push(...automatic(field, { place, taken, isHidden, isChange: operation.method === 'PATCH' }))
      }
    }
  }
  return { fields, others }
}

/** Another flag says it better, so help does not show this one. It works all the same. */
function isCovered(
  { path, kind, about = '' }: Field,
  { covered, siblings }: { covered: readonly string[]; siblings: readonly Field[] },
): boolean {
  const name = path.join('.')
  const hasParts =
    kind === 'json' && siblings.some((each) => each.path.length > 1 && each.path[0] === path[0])
  return (
    hasParts ||
    about.startsWith('Deprecated') ||
    covered.some((each) => name === each || name.startsWith(`${each}.`))
  )
}

interface Automatic {
  readonly place: 'query' | 'body'
  readonly taken: Set<string>
  readonly isHidden: boolean
  /** A field that may be null can be cleared. */
  readonly isChange: boolean
}

function automatic(field: Field, { place, taken, isHidden, isChange }: Automatic): FieldFlag[] {
  const name = dashed(field.path)
  const made: FieldFlag[] = []
  const add = (
    flags: string,
    more: { kind?: ValueKind; always?: unknown; help?: string; isHidden?: boolean },
  ) => {
    const long = /--([\w-]+)/.exec(flags)![1]!
    if (taken.has(long) || RESERVED.has(long)) return
    taken.add(long)
    const option = new Option(flags, more.help ?? shortened(field.about, field.values))
    if (more.kind) option.argParser(parserOf(more.kind, { values: field.values }))
    if (isHidden || more.isHidden) option.hideHelp()
    made.push({ option, place, path: field.path, ...('always' in more && { always: more.always }) })
  }
  if (field.kind === 'boolean') {
    add(`--${name}`, {})
    add(`--no-${name}`, { isHidden: true })
  } else {
    add(`--${name} <${placeholder(field)}>`, { kind: field.kind })
  }
  const empty = isChange ? emptyOf(field) : undefined
  if (empty !== undefined) add(`--clear-${name}`, { always: empty, help: `Remove ${name}` })
  return made
}

/** What removes a field in a change. The contract says it in words, and null may mean to keep it. */
function emptyOf({ kind, isNullable, about = '' }: Field): unknown {
  if (/empty string[^.]* removes/i.test(about)) return ''
  if (/empty object removes/i.test(about)) return {}
  return isNullable && /null (removes|restores)/.test(about) && kind !== 'boolean' ? null : undefined
}

function placeholder({ kind, path, values }: Field): string {
  switch (kind) {
    case 'integer':
    case 'number':
      return /seconds|sec$/.test(path.at(-1)!) ? 'seconds' : 'number'
    case 'map':
      return 'name=value'
    case 'json':
      return 'json'
    case 'string':
    case 'strings':
    case 'boolean':
      return values ? 'choice' : 'text'
  }
}

function optionOf(row: FlagRow, operation: ApiOperation | undefined): Option {
  const found = row.field === undefined || !operation ? undefined : findField(operation, row.field).field
  const option = new Option(row.flags, row.help ?? shortened(found?.about, found?.values))
  const takesValue = option.required || option.optional
  if (takesValue) {
    const kind = row.as ?? found?.kind ?? 'string'
    const parse = parserOf(kind, { values: found?.values })
    option.argParser(parse)
    if (option.optional) option.preset(kind === 'boolean' ? 'true' : '')
  }
  if (row.isHidden) option.hideHelp()
  return option
}

function findField(
  operation: ApiOperation,
  name: string,
): { place: 'query' | 'body'; field: Field | undefined } {
  for (const place of ['query', 'body'] as const) {
    const field = operation[place].find(({ path }) => path.join('.') === name)
    if (field) return { place, field }
  }
  // Deeper than the table goes.
  const [root] = name.split('.')
  const place = operation.body.some(({ path }) => path[0] === root) ? 'body' : 'query'
  if (!operation[place].some(({ path }) => path[0] === root))
    throw new Error(`The operation ${operation.id} has no field "${name}"`)
  return { place, field: undefined }
}

const MAX_HELP = 110

function shortened(about = '', values?: readonly string[]): string {
  const text = about.replaceAll('`', '')
  const sentence =
    text.length <= MAX_HELP
      ? text
      : (/^.{20,110}?(?=[.;:](?:\s|$))/.exec(text)?.[0] ?? text.slice(0, MAX_HELP))
  if (!values || values.length > 8) return sentence
  return `${sentence}${sentence ? ': ' : ''}${values.join(', ')}`
}

/** Puts a value where its path says. What is an object already keeps its other fields. */
export function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path as [string, ...string[]]
  if (rest.length > 0) {
    const inner = isMap(target[name]) ? target[name] : {}
    target[name] = inner
    setAt(inner, rest, value)
  } else if (isMap(value) && isMap(target[name])) {
    target[name] = { ...target[name], ...value }
  } else {
    target[name] = value
  }
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** --body: what the flags do not say. */
export function bodyFrom(text: unknown): Record<string, unknown> {
  if (typeof text !== 'string') return {}
  let value: unknown
  try {
    value = JSON.parse(readText(text))
  } catch (error) {
    throw usage(
      `Cannot read --body: ${(error as Error).message}`,
      'Give a JSON object, @FILE, or - for stdin',
    )
  }
  if (!isMap(value)) throw usage('Cannot use --body: it must be a JSON object')
  return value
}

/** Fields that the operation needs and nothing has set. */
export function missingFields(
  operation: ApiOperation,
  { query, body }: { query: Record<string, unknown>; body: Record<string, unknown> },
): string[] {
  return [...missingIn(operation.query, query), ...missingIn(operation.body, body)].map(
    ({ path }) => `--${dashed(path)}`,
  )
}

const missingIn = (fields: readonly Field[], values: Record<string, unknown>) =>
  fields.filter(({ path, isRequired }) => isRequired && !Object.hasOwn(values, path[0]!))
