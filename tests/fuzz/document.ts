// The server's OpenAPI document, in the form that the generator and the judge need.
import type { FieldsSchema, ValueSchema } from '../conformance/bad-values.ts'

type Json = Record<string, unknown>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: ValueSchema
}

export interface DescribedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isOpen: boolean
  readonly parameters: readonly Parameter[]
  readonly body: FieldsSchema | undefined
  readonly isBodyRequired: boolean
  readonly responses: ReadonlyMap<number, DescribedResponse>
}

export interface DescribedResponse {
  readonly contentType: string | undefined
  /** Where in the document its schema is; undefined if there is none. */
  readonly schemaPointer: string | undefined
  readonly headers: Readonly<Record<string, { readonly schema: { readonly type: string } }>>
}

export class ApiDocument {
  readonly root: Json
  readonly operations: readonly DescribedOperation[]
  readonly #matchers: { readonly pattern: RegExp; readonly operation: DescribedOperation }[]

  constructor(root: Json) {
    this.root = root
    const paths = root['paths'] as Record<string, Record<string, Json>>
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, node]) => this.#describe(path, method, node)),
    )
    // A fixed path takes precedence over one with an id in the same place.
    const fixedFirst = this.operations.toSorted((a, b) => holesIn(a.path) - holesIn(b.path))
    this.#matchers = fixedFirst.map((operation) => ({
      // An empty id is valid, but at the end of a path it is only a trailing slash.
      pattern: new RegExp(
        `^${operation.path.replace(/\{\w+\}$/, '[^/?]+').replaceAll(/\{\w+\}/g, '[^/?]*')}/?$`,
      ),
      operation,
    }))
  }

  /** The operation of a request line; undefined if the document has none. */
  match(method: string, target: string): DescribedOperation | undefined {
    const path = target.split('?', 1)[0]!
    return this.#matchers.find(({ pattern, operation }) => operation.method === method && pattern.test(path))
      ?.operation
  }

  #describe(path: string, method: string, node: Json): DescribedOperation {
    const body = node['requestBody'] as
      | { required?: boolean; content: Record<string, { schema: object }> }
      | undefined
    // Bytes and forms are not parsed.
    const json = body?.content['application/json']
    const parameters = (node['parameters'] ?? []) as object[]
    const pointer = `#/paths/${escapePointer(path)}/${method}/responses`
    return {
      id: node['operationId'] as string,
      method: method.toUpperCase(),
      path,
      isOpen: Array.isArray(node['security']) && node['security'].length === 0,
      parameters: parameters.map((item) => this.#resolve(item) as unknown as Parameter),
      body: json && (this.#resolve(json.schema) as unknown as FieldsSchema),
      isBodyRequired: (json && body?.required) ?? false,
      responses: new Map(
        Object.entries(node['responses'] as Record<string, object>).map(([status, response]) => [
          Number(status),
          this.#describeResponse(response, `${pointer}/${status}`),
        ]),
      ),
    }
  }

  #describeResponse(node: object, at: string): DescribedResponse {
    const pointer = '$ref' in node ? (node.$ref as string) : at
    const { content = {}, headers = {} } = this.#resolve(node) as {
      content?: Record<string, { schema?: object }>
      headers?: Record<string, object>
    }
    const [contentType, media] = Object.entries(content)[0] ?? []
    return {
      contentType,
      schemaPointer: media?.schema && `${pointer}/content/${escapePointer(contentType!)}/schema`,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [
          name.toLowerCase(),
          this.#resolve(header) as unknown as { schema: { type: string } },
        ]),
      ),
    }
  }

  #resolve(node: object): Json {
    if (!('$ref' in node)) return node as Json
    const steps = (node.$ref as string).slice(2).split('/').map(unescapePointer)
    return this.#resolve(steps.reduce<unknown>((at, step) => (at as Json)[step], this.root) as object)
  }
}

const holesIn = (path: string) => path.split('{').length

function escapePointer(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1')
}

function unescapePointer(text: string): string {
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}
