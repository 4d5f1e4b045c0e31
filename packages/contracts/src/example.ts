// A request body that the operation accepts, made from its schema: what readers of the reference start from.

interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

/** The required fields, or where none is required, the first. */
export function exampleOf(schema: Schema): Record<string, unknown> {
  const required = requiredOf(schema)
  const [first] = Object.entries(schema.properties ?? {})
  if (!first || Object.keys(required).length > 0) return required
  return { [first[0]]: valueOf(first[1]) }
}

function requiredOf(schema: Schema): Record<string, unknown> {
  const required = new Set(schema.required)
  let day = 0
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => required.has(name))
  // Each date is a day after the one before, so that an end comes after its start.
  return Object.fromEntries(
    fields.map(([name, field]) => [name, field.format === 'date-time' ? dateOf(++day) : valueOf(field)]),
  )
}

function dateOf(day: number): string {
  return `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`
}

function valueOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return valueOf(schema.anyOf[0]!)
  switch ([schema.type ?? 'object'].flat()[0]) {
    case 'integer':
    case 'number':
      return Math.min(Math.max(10, schema.minimum ?? 0), schema.maximum ?? Infinity)
    case 'boolean':
      return true
    case 'array':
      return schema.items ? [valueOf(schema.items)] : []
    case 'object':
      return exampleOf(schema)
    default:
      return schema.format === 'date-time' ? dateOf(1) : 'example'.slice(0, schema.maxLength)
  }
}
