// Request validation from the contract's schemas.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { PRINTABLE } from '@berth/contracts/schema'
import type { FastifySchemaCompiler } from 'fastify'
import { AppError, type ErrorDetail } from '../platform/errors/app-error.ts'
import { dropsUnknown, rememberIgnored, withOpenObjects, type Path } from './ignored-fields.ts'

const MAX_DETAILS = 20
// RFC 3339, with the ranges of its parts.
const DATE_TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i

function isDateTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text) ?? []
  // Date would accept 30 February as a day in March.
  return Number(year) > 0 && Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

// tests/conformance/openapi.test.ts checks the schemas themselves. Here that would take 50 ms of the first request.
const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  allowUnionTypes: true,
  strict: true,
  validateSchema: false,
  passContext: true,
})
ajv.addFormat('date-time', isDateTime)
ajv.addKeyword(dropsUnknown)

/**
 * The first request compiles its schema, in a few milliseconds. Compiling all of them at the start would delay it by
 * a third of a second.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart, method }) => {
  const isBody = httpPart === 'body'
  const isFilter = httpPart === 'querystring' && method === 'GET'
  const read = isBody ? undefined : textReader(schema, { isFilter })
  let validate: ValidateFunction | undefined
  const ignored: Path[] = []
  const readAndValidate = (data: Record<string, unknown>) => {
    read?.(data)
    validate ??= ajv.compile(isBody ? withOpenObjects(schema) : schema)
    const isValid = validate.call(ignored, data)
    if (ignored.length > 0) rememberIgnored(data, ignored.splice(0))
    readAndValidate.errors = validate.errors ?? null
    return isValid
  }
  readAndValidate.errors = null as ErrorObject[] | null
  return readAndValidate
}

/**
 * Paths and queries are text; this reads numbers, booleans and lists from it. Ajv's own coercion
 * accepts 1e400 as an integer and then checks no bounds. Text that cannot be read stays text, and
 * the schema refuses it. An empty filter is none: clients send `since=` when nobody gave a value.
 */
function textReader(
  schema: object,
  { isFilter }: { isFilter: boolean },
): (data: Record<string, unknown>) => void {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, { type?: unknown }>
    required?: readonly string[]
  }
  const droppable = isFilter ? Object.keys(properties).filter((name) => !required.includes(name)) : []
  const readers = Object.entries(properties).flatMap(([name, { type }]) => {
    const read = typeof type === 'string' ? textReaders[type] : undefined
    return read ? [{ name, read }] : []
  })
  const maps = Object.keys(properties).filter((name) => properties[name]!.type === 'object')
  return (data) => {
    for (const name of droppable) if (data[name] === '') delete data[name]
    for (const name of maps) gather(data, name)
    for (const { name, read } of readers) {
      const value = data[name]
      if (value !== undefined) data[name] = read(value)
    }
  }
}

/** Collects `tags[team]=a&tags[env]=b` into the map `tags`. */
function gather(data: Record<string, unknown>, name: string): void {
  const entries = Object.keys(data).filter((key) => key.startsWith(`${name}[`) && key.endsWith(']'))
  if (entries.length === 0) return
  // No prototype, because a key can have any name.
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

/** The same error as Fastify's, without its detour through another error object. */
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
