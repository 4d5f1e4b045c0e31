// The least value that a schema of the contract accepts, for answers of an agent that is none.
import type { TSchema } from 'typebox'

interface Shape {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly TSchema[]
  readonly format?: string
  readonly minimum?: number
  readonly minLength?: number
  readonly properties?: Record<string, TSchema>
  readonly required?: readonly string[]
}

export function sampleOf(schema: TSchema): unknown {
  const shape = schema as Shape
  if (shape.const !== undefined) return shape.const
  if (shape.enum) return shape.enum[0]
  if (shape.anyOf) return sampleOf(shape.anyOf[0]!)
  switch ([shape.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (shape.required ?? []).map((name) => [name, sampleOf(shape.properties![name]!)]),
      )
    case 'array':
      return []
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return shape.minimum ?? 0
    case 'string':
      return shape.format === 'date-time' ? new Date(0).toISOString() : 'x'.repeat(shape.minLength ?? 0)
    default:
      return null
  }
}
