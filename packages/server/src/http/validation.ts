// Request validation from the contract's schemas. Bodies are taken as they are; in paths and
// queries, where everything is text, numbers and booleans are read from it.
import { Ajv, type ErrorObject } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { ErrorDetail } from '../errors.ts'

const MAX_DETAILS = 20
// RFC 3339, with the ranges of its parts.
const DATE_TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i

function isDateTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text) ?? []
  // Date would take the 30th of February for a day in March.
  return Number(year) > 0 && Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

function newAjv(options: { coerce: boolean }): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    coerceTypes: options.coerce,
    removeAdditional: false,
    allowUnionTypes: true,
    strict: true,
  })
  ajv.addFormat('date-time', isDateTime)
  return ajv
}

const strictAjv = newAjv({ coerce: false })
const coercingAjv = newAjv({ coerce: true })

export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return strictAjv.compile(schema)
  const validate = coercingAjv.compile(schema)
  const lists = listProperties(schema)
  if (lists.length === 0) return validate
  // `a=1,2` and `a=1&a=2` mean the same; the published client sends the first.
  const withLists = (data: Record<string, string | string[]>) => {
    for (const name of lists) {
      if (data[name] !== undefined)
        data[name] = [data[name]].flat().flatMap((text: string) => text.split(','))
    }
    const isValid = validate(data)
    withLists.errors = validate.errors ?? null
    return isValid
  }
  withLists.errors = null as ErrorObject[] | null
  return withLists
}

function listProperties(schema: object): string[] {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }
  return Object.keys(properties).filter((name) => properties[name]!.type === 'array')
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
      return 'must not contain control characters or broken Unicode'
    default:
      return message ?? 'is not valid'
  }
}
