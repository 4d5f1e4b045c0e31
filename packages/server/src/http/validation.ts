// Request validation from the contract's schemas.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { PRINTABLE } from '@berth/contracts/schema'
import type { FastifySchemaCompiler } from 'fastify'
import { AppError, type ErrorDetail } from '../platform/errors/app-error.ts'

const MAX_DETAILS = 20
// RFC 3339, with the ranges of its parts.
const DATE_TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i

function isDateTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text) ?? []
  // Date would take the 30th of February for a day in March.
  return Number(year) > 0 && Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

const ajv = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true, strict: true })
ajv.addFormat('date-time', isDateTime)

/**
 * A schema is compiled by the first request it is for, in a few milliseconds; all of them together would keep a server
 * from starting for a third of a second.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const read = httpPart === 'body' ? undefined : textReader(schema)
  let validate: ValidateFunction | undefined
  const readAndValidate = (data: Record<string, unknown>) => {
    read?.(data)
    validate ??= ajv.compile(schema)
    const isValid = validate(data)
    readAndValidate.errors = validate.errors ?? null
    return isValid
  }
  readAndValidate.errors = null as ErrorObject[] | null
  return readAndValidate
}

/**
 * Paths and queries are all text: numbers, booleans and lists are read from it. Not by Ajv, whose
 * coercion takes 1e400 for an integer and then checks no bounds. What cannot be read stays text, for
 * the schema to refuse.
 */
function textReader(schema: object): (data: Record<string, unknown>) => void {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }
  const readers = Object.entries(properties).flatMap(([name, { type }]) => {
    const read = typeof type === 'string' ? textReaders[type] : undefined
    return read ? [{ name, read }] : []
  })
  const maps = Object.keys(properties).filter((name) => properties[name]!.type === 'object')
  return (data) => {
    for (const name of maps) gather(data, name)
    for (const { name, read } of readers) {
      const value = data[name]
      if (value !== undefined) data[name] = read(value)
    }
  }
}

/** `tags[team]=a&tags[env]=b` are the entries of `tags`. */
function gather(data: Record<string, unknown>, name: string): void {
  const entries = Object.keys(data).filter((key) => key.startsWith(`${name}[`) && key.endsWith(']'))
  if (entries.length === 0) return
  // Without a prototype: a key may be called anything.
  const map = Object.create(null) as Record<string, unknown>
  for (const key of entries) {
    map[key.slice(name.length + 1, -1)] = data[key]
    delete data[key]
  }
  data[name] = map
}

const textReaders: Record<string, (value: unknown) => unknown> = {
  integer: (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
  boolean: (value) => (value === 'true' ? true : value === 'false' ? false : value),
  // `a=1,2` and `a=1&a=2` mean the same; the published client sends the first.
  array: (value) => [value].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : [text])),
}

/** What Fastify makes of a failed validation, without its own detour over another error. */
export function refusalOf(errors: readonly Partial<ErrorObject>[]): AppError {
  const details = validationDetails(errors)
  return new AppError('bad_request', `Cannot accept the request: ${details[0]?.message}`, { details })
}

export function validationDetails(errors: readonly Partial<ErrorObject>[]): ErrorDetail[] {
  return errors.slice(0, MAX_DETAILS).map((error) => ({
    code: 'invalid_input',
    message: `${fieldOf(error)}: ${complaintOf(error)}`,
  }))
}

function fieldOf({ instancePath = '', keyword, params = {} }: Partial<ErrorObject>): string {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const extra =
    keyword === 'required'
      ? params['missingProperty']
      : keyword === 'additionalProperties'
        ? params['additionalProperty']
        : undefined
  const full = [path, extra].filter(Boolean).join('.')
  return full.slice(0, 200) || 'body'
}

function complaintOf({ keyword, params = {}, message }: Partial<ErrorObject>): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not a known field; remove it'
    case 'type':
      return `must be ${[params['type']].flat().join(' or ')}`
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`
    case 'minimum':
      return `must be at least ${params['limit']}`
    case 'maximum':
      return `must be at most ${params['limit']}`
    case 'minLength':
      return `must have at least ${params['limit']} character(s)`
    case 'maxLength':
      return `must have at most ${params['limit']} characters`
    case 'maxItems':
      return `must have at most ${params['limit']} items`
    case 'format':
      return 'must be an RFC 3339 date-time such as 2026-01-31T12:00:00Z'
    case 'pattern':
      return params['pattern'] === PRINTABLE
        ? 'must not contain control characters or broken Unicode'
        : `must match ${params['pattern']}`
    default:
      return message ?? 'is not valid'
  }
}
