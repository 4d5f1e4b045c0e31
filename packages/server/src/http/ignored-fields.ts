// Fields of a request that the contract does not know. An open object drops them before a handler could see them, and the
// answer names them: a client newer than this server goes on working, and a typo can still be found.
import type { AnySchemaObject, FuncKeywordDefinition } from 'ajv'

export const IGNORED_HEADER = 'x-berth-ignored'

const KEYWORD = 'dropsUnknown'
const MAX_NAMED = 20
const MAX_NAME_LENGTH = 100
const MORE = '...'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Marks every open object in the schema of a body. The keyword below is not part of the contract. */
export function withOpenObjects(schema: Schema): Schema {
  const { properties, additionalProperties, items, anyOf } = schema
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, withOpenObjects(field)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withOpenObjects(additionalProperties),
    }),
    ...(items && { items: withOpenObjects(items) }),
    ...(anyOf && { anyOf: anyOf.map(withOpenObjects) }),
    ...(properties && additionalProperties === undefined && { [KEYWORD]: true }),
  }
}

/** Where a field is, such as `telemetry` and `expotr`. */
export type Path = readonly string[]

/** Called with a list as `this`, to which it adds the path of what it drops. Needs Ajv's `passContext`. */
export const dropsUnknown: FuncKeywordDefinition = {
  keyword: KEYWORD,
  type: 'object',
  schemaType: 'boolean',
  modifying: true,
  errors: false,
  compile: (_isOn: boolean, { properties }: AnySchemaObject) => {
    const known = new Set(Object.keys(properties as object))
    return function drop(this: Path[], data: Record<string, unknown>, at?: { instancePath: string }) {
      for (const name in data) {
        if (known.has(name)) continue
        delete data[name]
        // One more than is shown tells that there are more.
        if (this.length <= MAX_NAMED) this.push([...partsOf(at?.instancePath ?? ''), name])
      }
      return true
    }
  },
}

/** By the body of the request, because Fastify gives a validator nothing else. */
const ignored = new WeakMap<object, readonly Path[]>()

export function rememberIgnored(body: object, fields: readonly Path[]): void {
  if (fields.length > 0) ignored.set(body, [...(ignored.get(body) ?? []), ...fields])
}

const NONE: Readonly<Record<string, string>> = {}

/** The header that names what was ignored; none for almost every request. */
export function ignoredHeader(body: unknown): Readonly<Record<string, string>> {
  const fields = typeof body === 'object' && body !== null ? ignored.get(body) : undefined
  return fields ? { [IGNORED_HEADER]: headerOf(fields) } : NONE
}

/** Visible ASCII without commas and spaces inside a name, at most 20 names of 100 characters. */
function headerOf(fields: readonly Path[]): string {
  const names = fields.slice(0, MAX_NAMED).map(toName)
  return (fields.length > MAX_NAMED ? [...names, MORE] : names).join(', ')
}

function toName(path: Path): string {
  const name = path.map(toPart).join('.')
  return name.length > MAX_NAME_LENGTH ? name.slice(0, MAX_NAME_LENGTH - MORE.length) + MORE : name
}

// An empty name would be invisible, and a dot inside a name would look like another level.
function toPart(name: string): string {
  if (name === '') return '""'
  // What is shown is cut, so a name of a megabyte is not encoded whole.
  const start = name.slice(0, MAX_NAME_LENGTH).toWellFormed()
  return encodeURIComponent(start).replaceAll('.', '%2E') + (name.length > MAX_NAME_LENGTH ? MORE : '')
}

/** The parts of a JSON pointer. */
const partsOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
