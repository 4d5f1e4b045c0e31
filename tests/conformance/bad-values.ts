// Values that a schema refuses, derived from the schema.
export interface ValueSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly items?: ValueSchema
}

export interface FieldsSchema {
  readonly properties: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
}

const onlyInBodies: Record<string, readonly unknown[]> = {
  string: [7, true, [], {}, ['text']],
  integer: ['1', true, [], {}, Infinity],
  number: ['1', true, [], {}],
  boolean: ['true', 1, [], {}],
  array: ['text', 7, {}],
  object: ['text', 7, true, []],
}

const anywhere: Record<string, readonly unknown[]> = {
  string: [],
  integer: ['x', '', 1.5, '1e400', '-1e400', 'Infinity', 'NaN', '0b', '１', -1e18, 1e18],
  number: ['x', '', 'NaN'],
  boolean: ['x', '', 'yes', 2],
  array: [],
  object: ['text'],
}

export function badValues(schema: ValueSchema, place: 'body' | 'query'): unknown[] {
  const types = [schema.type ?? 'string'].flat()
  const type = types[0]!
  const values: unknown[] = [...anywhere[type]!]
  if (place === 'body') {
    values.push(...onlyInBodies[type]!)
    if (!types.includes('null')) values.push(null)
  }
  if (schema.enum) values.push('nonsense', '', inOtherCase(String(schema.enum[0])))
  if (schema.format === 'date-time') values.push(...badTimes)
  if (schema.minLength) values.push('')
  if (schema.maxLength !== undefined) values.push('x'.repeat(schema.maxLength + 1))
  if (schema.pattern) values.push(...unstorable(place))
  if (schema.minimum !== undefined) values.push(schema.minimum - 1)
  if (schema.maximum !== undefined) values.push(schema.maximum + 1)
  if (schema.maxItems !== undefined)
    values.push(
      Array(schema.maxItems + 1)
        .fill('x')
        .join(','),
    )
  // Only the first of several types was used; a value that another type accepts is not bad.
  const takesObjects = types.length > 1 && types.includes('object')
  if (takesObjects) return values.filter((value) => JSON.stringify(value) !== '{}')
  // An empty filter is none.
  return place === 'query' ? values.filter((value) => value !== '') : values
}

const inOtherCase = (text: string) => (text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase())

/** A lone surrogate has no UTF-8 form, so only JSON can carry one. */
function unstorable(place: 'body' | 'query'): string[] {
  const controls = ['\0', 'a\0b', '\n', '\u{7}', '\u{1b}[2J', '\u{7f}', '\u{85}']
  return place === 'body' ? [...controls, '\u{d800}', 'a\u{dfff}b', '\u{dc00}\u{d800}'] : controls
}

export const badTimes = [
  '',
  'x',
  'now',
  '0',
  '1700000000',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:00+24:00',
  '+012026-01-01T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '99999-01-01T00:00:00Z',
  '2026-01-01T00:00:00Z\n',
  "2026-01-01T00:00:00Z'; DROP TABLE projects; --",
]
