// What to type and what comes back: a curl call made from the row, and the shape of its answer.
import { isOpen, type Operation } from '@berth/contracts/operation'
import { html, joined, type Html } from './html.ts'
import { asSchema, typeOf, type Schema } from './schema.ts'

/** A call that works once its variables are set. */
export function curlOf(operation: Operation): Html {
  const params = Object.entries((operation.params && asSchema(operation.params).properties) ?? {})
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)
  const body = operation.body && sampleObject(asSchema(operation.body))
  const query = Object.entries(operation.query ? sampleRequired(asSchema(operation.query)) : {})
  const isStream = operation.bodyStream !== undefined
  const form = operation.form ? sampleRequired(asSchema(operation.form)) : {}
  const isImplied = operation.method === 'GET' || (operation.method === 'POST' && body)
  const options = [
    ...(isOpen(operation) ? [] : ['-H "Authorization: Bearer $BERTH_API_KEY"']),
    ...(query.length > 0 && !isStream ? ['--get'] : []),
    ...query.map(
      ([name, value]) =>
        `${isStream ? '--url-query' : '--data-urlencode'} ${quoted(`${name}=${String(value)}`)}`,
    ),
    ...(operation.bodyStream === 'bytes' ? ['--data-binary @file'] : []),
    ...Object.entries(form).map(([name, value]) => `-F ${quoted(`${name}=${String(value)}`)}`),
    ...(body ? ['-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body))}`] : []),
    ...(operation.kind === 'binary' ? ['--output answer.bin'] : []),
  ]
  const first = `curl ${isImplied ? '' : `-X ${operation.method} `}"$BERTH_URL${path}"`
  const settings = params.map(
    ([name, { description }]) => html`${name.toUpperCase()}=... <i># ${description ?? name}</i>`,
  )
  return html`${joined([...settings, [first, ...options].join(' \\\n  ')], '\n')}`
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The required fields, or where none is, the first. */
function sampleObject(schema: Schema): Record<string, unknown> {
  const required = sampleRequired(schema)
  const [first] = Object.entries(schema.properties ?? {})
  if (!first || Object.keys(required).length > 0) return required
  return { [first[0]]: sampleOf(first[1]) }
}

function sampleRequired(schema: Schema): Record<string, unknown> {
  const required = new Set(schema.required)
  let day = 0
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name))
  // Each date is a day after the one before, so that an end comes after its start.
  return Object.fromEntries(
    fields.map(([name, field]) => [name, field.format === 'date-time' ? dayOf(++day) : sampleOf(field)]),
  )
}

function dayOf(day: number): string {
  return `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`
}

function sampleOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sampleOf(schema.anyOf[0]!)
  switch ([schema.type ?? 'object'].flat()[0]) {
    case 'integer':
    case 'number':
      return Math.min(Math.max(10, schema.minimum ?? 0), schema.maximum ?? Infinity)
    case 'boolean':
      return true
    case 'array':
      return schema.items ? [sampleOf(schema.items)] : []
    case 'object':
      return sampleObject(schema)
    default:
      return schema.format === 'date-time' ? dayOf(1) : 'example'.slice(0, schema.maxLength)
  }
}

/** The answer as JSON with types in place of values. */
export function shapeOf(schema: Schema, indent = ''): Html {
  const deeper = `${indent}  `
  if (schema.items) {
    const item = schema.items.properties ? shapeOf(schema.items, deeper) : valueShape(schema.items, deeper)
    return html`${[`[\n${deeper}`, item, `\n${indent}]`]}`
  }
  const required = new Set(schema.required)
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\n${deeper}"${name}"${required.has(name) ? '' : '?'}: `,
    valueShape(field, deeper),
  ])
  return html`${['{', joined(fields, ','), `\n${indent}}`]}`
}

function valueShape(field: Schema, indent: string): Html {
  if (field.title === undefined && (field.properties ?? field.items?.properties))
    return shapeOf(field, indent)
  if (!field.enum) return html`<b>${typeOf(field)}</b>`
  return html`<b>${field.enum.map((value) => JSON.stringify(value)).join(' | ')}</b>`
}
