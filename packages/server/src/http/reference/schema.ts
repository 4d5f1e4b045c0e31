// How a schema of the contract reads: its type, its bounds, its fields, and where its section is.
import type { Operation } from '@berth/contracts/operation'
import { Text } from '@berth/contracts/schema'
import { html, joined, prose, type Html } from './html.ts'

/** What of JSON Schema the contract uses. */
export interface Schema {
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly deprecated?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

type ContractSchema = NonNullable<Operation['response']>

export function asSchema(schema: ContractSchema): Schema {
  return schema
}

/** The pattern of all free text, said once in the guide instead of at every field. */
const FREE_TEXT = asSchema(Text({ description: '', maxLength: 1 })).pattern

/** Every titled schema within these, by title. */
export function namedSchemas(roots: readonly (ContractSchema | undefined)[]): Map<string, Schema> {
  const found = new Map<string, Schema>()
  const visit = (schema: Schema | undefined): void => {
    if (schema === undefined) return
    if (schema.title !== undefined) found.set(schema.title, schema)
    for (const child of childrenOf(schema)) visit(child)
  }
  for (const root of roots) visit(root && asSchema(root))
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function childrenOf({ properties, items, anyOf, additionalProperties }: Schema): (Schema | undefined)[] {
  const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined
  return [...Object.values(properties ?? {}), ...(anyOf ?? []), items, rest]
}

export function typeOf(schema: Schema): Html {
  const types = [schema.type ?? []].flat()
  const orNull = types.includes('null') && ' or null'
  if (schema.title !== undefined) {
    return html`<a href="#schema-${schema.title}">${schema.title}</a>${orNull}`
  }
  if (schema.anyOf) return html`${joined(schema.anyOf.map(typeOf), ' or ')}`
  if (schema.items) return html`array of ${typeOf(schema.items)}${orNull}`
  if (typeof schema.additionalProperties === 'object') {
    return html`map to ${typeOf(schema.additionalProperties)}${orNull}`
  }
  const names = types.map((type) => (type === 'string' && schema.format ? schema.format : type))
  return html`${names.join(' or ') || 'any value'}`
}

function range(low: number | undefined, high: number | undefined, unit = ''): string | undefined {
  if (low === undefined && high === undefined) return undefined
  if (low === undefined) return `at most ${number(high!)}${unit}`
  if (high === undefined) return `at least ${number(low)}${unit}`
  return `${number(low)} to ${number(high)}${unit}`
}

function number(value: number): string {
  return value.toLocaleString('en').replaceAll(',', '\u202f')
}

export function boundsOf(schema: Schema): Html[] {
  const items = schema.items && boundsOf(schema.items)
  const plain = [
    range(schema.minimum, schema.maximum),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
  ].filter((text) => text !== undefined)
  return [
    ...plain.map((text) => html`${text}`),
    ...(items ?? []).map((bound) => html`each ${bound}`),
    ...(schema.enum ? [choiceOf(schema.enum)] : []),
    ...(schema.pattern && schema.pattern !== FREE_TEXT ? [html`matches ${code(schema.pattern)}`] : []),
    ...(schema.default !== undefined ? [html`default ${code(schema.default)}`] : []),
  ]
}

function choiceOf(values: readonly unknown[]): Html {
  return html`${values.length > 1 ? 'one of' : 'always'} ${joined(values.map(code), ' ')}`
}

function code(value: unknown): Html {
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`
}

/** A caller must know what to send, and a reader of an answer what may be missing. */
export type Direction = 'sent' | 'received'

/** The fields of an object, those of unnamed objects within it included. */
export function fieldsOf(schema: Schema, direction: Direction): Html {
  return html`<ul class="fields">
    ${rowsOf(schema, direction, '')}
  </ul>`
}

function rowsOf(schema: Schema, direction: Direction, prefix: string): Html[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const name = prefix + key
    const inner = field.items ?? field
    const isUnnamed = inner.title === undefined && inner.properties !== undefined
    const isMarked = required.has(key) === (direction === 'sent')
    return [
      html`<li>${fieldOf(name, field, isMarked && direction)}</li>`,
      ...(isUnnamed ? rowsOf(inner, direction, field.items ? `${name}[].` : `${name}.`) : []),
    ]
  })
}

function fieldOf(name: string, field: Schema, marked: Direction | false): Html {
  return html`<div class="field">
      <code class="name">${name}</code>
      <span class="type">${joined([typeOf(field), ...boundsOf(field)], html`<i>·</i>`)}</span>
      ${marked === 'sent' && html`<span class="mark required">required</span>`}
      ${marked === 'received' && html`<span class="mark">may be absent</span>`}
      ${field.deprecated && html`<span class="mark">deprecated</span>`}
    </div>
    ${field.description && html`<p>${prose(field.description)}</p>`}`
}
