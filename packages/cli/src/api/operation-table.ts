// What the command line needs of the contract, as plain data: where each operation is, and its fields.
import { operations } from '@berth/contracts/operations'
import type { Operation } from '@berth/contracts/operation'

export type FieldKind = 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'map' | 'json'

export interface Field {
  /** Where it is in the body or the query, such as ['profile', 'save_changes']. */
  readonly path: readonly string[]
  readonly kind: FieldKind
  readonly values?: readonly string[]
  readonly isRequired?: true
  readonly isNullable?: true
  readonly about?: string
}

export interface ApiOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly kind: Operation['kind']
  readonly summary: string
  readonly isOpen?: true
  readonly paging?: Operation['paging']
  readonly params: readonly string[]
  readonly query: readonly Field[]
  readonly body: readonly Field[]
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

/** The table by the id of the operation. A build puts its value here instead, so that no schema is loaded. */
export function operationTable(): Record<string, ApiOperation> {
  return Object.fromEntries(operations.map((operation) => [operation.id, toApiOperation(operation)]))
}

function toApiOperation(operation: Operation): ApiOperation {
  const { id, method, path, kind, summary, paging, params, query, body, form, auth } = operation
  return {
    id,
    method,
    path,
    kind,
    summary: plain(summary),
    ...(auth === 'none' && { isOpen: true }),
    ...(paging && { paging }),
    params: Object.keys((params as Schema | undefined)?.properties ?? {}),
    query: fieldsOf(query),
    body: fieldsOf(body ?? form),
  }
}

function fieldsOf(schema: Schema | undefined, parents: readonly string[] = []): Field[] {
  const { properties = {}, required = [] } = schema ?? {}
  return Object.entries(properties).flatMap(([name, each]) => {
    const path = [...parents, name]
    const inner = each.properties && Object.keys(each.properties).length > 0 && each.type === 'object'
    // One level is enough for flags; what is deeper is JSON.
    const nested = inner && parents.length === 0 ? fieldsOf(each, path) : []
    const isRequired = required.includes(name) && parents.length === 0
    return [toField(each, { path, isRequired }), ...nested]
  })
}

function toField(schema: Schema, { path, isRequired }: { path: string[]; isRequired: boolean }): Field {
  const { kind, values } = kindOf(schema)
  const about = schema.description === undefined ? undefined : plain(schema.description.split('\n')[0]!)
  return {
    path,
    kind,
    ...(values && { values }),
    ...(isRequired && { isRequired }),
    ...(isNullable(schema) && { isNullable: true }),
    ...(about !== undefined && { about }),
  }
}

/** Which part of the API is ours says the reference; here it would only be in the way. */
function plain(text: string): string {
  const own = /^Extension: (.)(.*)$/s.exec(text)
  return own ? own[1]!.toUpperCase() + own[2]! : text
}

const typesOf = ({ type }: Schema): readonly string[] => [type ?? []].flat()

function isNullable(schema: Schema): boolean {
  return typesOf(schema).includes('null') || (schema.anyOf ?? []).some(isNullable)
}

function kindOf(schema: Schema): { kind: FieldKind; values?: readonly string[] } {
  const choices = schema.anyOf?.filter((each) => each.type !== 'null')
  if (choices) return choices.length === 1 ? kindOf(choices[0]!) : { kind: 'json' }
  const values = schema.enum?.filter((value): value is string => typeof value === 'string' && value !== '')
  if (values && values.length > 0) return { kind: 'string', values }
  const types = typesOf(schema).filter((type) => type !== 'null')
  if (types.length !== 1) return { kind: 'json' }
  switch (types[0]) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return { kind: types[0] }
    case 'array':
      return arrayKind(schema.items ?? {})
    case 'object':
      return { kind: schema.properties ? 'json' : 'map' }
    default:
      return { kind: 'json' }
  }
}

function arrayKind(items: Schema): { kind: FieldKind; values?: readonly string[] } {
  const { kind, values } = kindOf(items)
  return kind === 'string' ? { kind: 'strings', ...(values && { values }) } : { kind: 'json' }
}
