// Schema types that all contracts share.
import { Type, type TProperties, type TSchema, type TUnsafe, type Static } from 'typebox'

// The database cannot store control characters and lone surrogates unchanged, so free text must not contain them.
export const PRINTABLE = '^[^\\p{Cc}\\p{Cs}]*$'

export function Text(options: { description: string; minLength?: number; maxLength: number }) {
  return Type.String({ pattern: PRINTABLE, ...options })
}

export function Timestamp(description: string) {
  return Type.String({ format: 'date-time', description })
}

// Uses `type: [T, "null"]` instead of a union, which is simpler for validators, serializers and readers.
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type, enum: values, ...rest } = schema as T & { type?: string; enum?: readonly unknown[] }
  if (type === undefined) return Type.Unsafe(Type.Union([schema, Type.Null()]))
  return Type.Unsafe({ ...rest, type: [type, 'null'], ...(values && { enum: [...values, null] }) })
}

export function OneOf<const V extends readonly string[]>(
  values: V,
  options: { description: string; default?: V[number] },
): TUnsafe<V[number]> {
  return Type.Unsafe({ type: 'string', enum: [...values], ...options })
}

/**
 * An object of a request that ignores unknown fields, at this depth, and names them in the answer: a client can be newer
 * than the server. Never in a union: the first variant would drop the fields of the others.
 */
export function Open<P extends TProperties>(properties: P, options: object = {}) {
  return Type.Object(properties, { ...options })
}

/** An object that rejects unknown fields. In requests only where the reference closes the object too. */
export function Strict<P extends TProperties>(properties: P, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

// A list may arrive as `a=1,2` or `a=1&a=2`; the server turns both into an array before validation.
export function CommaList(options: { description: string; maxItems: number; maxLength: number }) {
  return Type.Array(Type.String({ pattern: PRINTABLE, minLength: 1, maxLength: options.maxLength }), {
    description: options.description,
    maxItems: options.maxItems,
  })
}

export const MAX_OFFSET = 1_000_000_000

export const MAX_PAGE = 100

/** The server cuts a larger limit, because published clients ask for one item more than they show. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 20,
      description: `Maximum number of items to return; more than ${MAX_PAGE} counts as ${MAX_PAGE}`,
    }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0, description: 'Number of items to skip' }),
  ),
}

/** For the lists where a larger limit is an error. */
export const boundedPageQuery = {
  ...pageQuery,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      default: 20,
      description: 'Maximum number of items to return',
    }),
  ),
}

export const idOrName = (what: string) =>
  Text({ description: `Id or name of the ${what}`, minLength: 1, maxLength: 255 })

export const resourceId = (what: string) =>
  Text({ description: `Id of the ${what}`, minLength: 1, maxLength: 255 })
