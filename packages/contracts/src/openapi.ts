// The OpenAPI 3.1 document, computed from the table of operations.
import { Type, type TSchema } from 'typebox'
import { ErrorBody, errorCatalogue, type ErrorCode } from './errors.ts'
import { pathsOf, takesIdempotencyKey, type Operation } from './operation.ts'

type Json = Record<string, unknown>

const AFTER_AUTH: ErrorCode[] = ['unauthorized', 'too_many_requests', 'internal_error', 'unavailable']

const header = (description: string, type = 'string'): Json => ({ description, schema: { type } })
const pagingHeaders: Record<NonNullable<Operation['paging']>, Json> = {
  offset: {
    'X-Has-More': header('Whether another page follows', 'boolean'),
    'X-Next-Offset': header('Offset of the next page, 0 when there is none', 'integer'),
    'X-Limit': header('Limit that was applied', 'integer'),
    'X-Offset': header('Offset that was applied', 'integer'),
  },
  token: {
    'X-Has-More': header('Whether another page follows', 'boolean'),
    'X-Next-Page-Token': header('Token of the next page, absent when there is none'),
    'X-Limit': header('Limit that was applied', 'integer'),
  },
  cursor: {
    'X-Has-More': header('Whether another chunk follows', 'boolean'),
    'X-Next-Cursor': header('Cursor of the next chunk, absent when there is none'),
    'X-Row-Count': header('Lines in this chunk', 'integer'),
    'X-Content-Sha256': header('Hash of the body, in hex'),
  },
}

/** Which errors an operation can answer with, the common ones included. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const common = operation.auth === 'none' ? [] : AFTER_AUTH
  const idempotency: ErrorCode[] = takesIdempotencyKey(operation) ? ['idempotency_key_reused'] : []
  const project: ErrorCode[] = operation.auth === 'none' ? [] : ['forbidden', 'project_not_found']
  const input: ErrorCode[] = operation.params || operation.query || operation.body ? ['bad_request'] : []
  return [...new Set([...operation.errors, ...input, ...project, ...idempotency, ...common])]
}

export function openApiDocument(operations: readonly Operation[]): Json {
  const components = new Map<string, Json>()

  // Titled schemas are the nouns of the API: each becomes one component that others point to.
  function schemaOf(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(schemaOf)
    if (typeof schema !== 'object' || schema === null) return schema
    const { title, ...rest } = schema as Json & { title?: string }
    const body = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, schemaOf(value)]))
    if (title === undefined) return body
    components.set(title, body)
    return { $ref: `#/components/schemas/${title}` }
  }

  function parametersIn(place: 'path' | 'query', schema: TSchema | undefined): Json[] {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, TSchema & { description?: string; type?: unknown }>
      required?: string[]
    }
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description && { description }),
      ...(rest.type === 'array' && { style: 'form', explode: false }),
      schema: schemaOf(rest),
    }))
  }

  function responsesOf(operation: Operation): Json {
    const success: Json = { description: operation.summary }
    if (operation.paging) success['headers'] = pagingHeaders[operation.paging]
    if (operation.kind === 'json') {
      success['content'] = { 'application/json': { schema: schemaOf(operation.response) } }
    } else if (operation.kind !== 'empty') {
      const type = (operation.contentType ?? 'application/octet-stream').split(';')[0]!
      success['content'] = { [type]: {} }
    }
    const responses: Json = { [operation.status]: success }
    const byStatus = Map.groupBy(errorsOf(operation), (code) => errorCatalogue[code].status)
    for (const [status, codes] of [...byStatus].toSorted(([a], [b]) => a - b)) {
      responses[status] = {
        description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].meaning}`).join('; '),
        content: { 'application/json': { schema: schemaOf(ErrorBody) } },
      }
    }
    return responses
  }

  const projectHeaders = [
    { $ref: '#/components/parameters/ProjectId' },
    { $ref: '#/components/parameters/Project' },
  ]

  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    for (const [index, path] of pathsOf(operation).entries()) {
      const open = operation.auth === 'none'
      const parameters = [
        ...parametersIn('path', operation.params),
        ...parametersIn('query', operation.query),
        ...(open ? [] : projectHeaders),
        ...(takesIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ]
      paths[path] ??= {}
      paths[path][operation.method.toLowerCase()] = {
        operationId: index === 0 ? operation.id : `${operation.id}At${path.split('/')[1]}`,
        tags: [operation.tag],
        summary: operation.summary,
        ...(open && { security: [] }),
        ...(parameters.length > 0 && { parameters }),
        ...(operation.body && {
          requestBody: {
            required: !operation.bodyOptional,
            content: { 'application/json': { schema: schemaOf(operation.body) } },
          },
        }),
        responses: responsesOf(operation),
      }
    }
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Berth',
      version: '0.1.0',
      description: 'Remote browser sessions for automated agents, and the resources around them',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      parameters: {
        ProjectId: {
          name: 'X-Kernel-Project-Id',
          in: 'header',
          description: 'Id of the project to work in; the default project when absent',
          schema: Type.String({ maxLength: 255 }),
        },
        Project: {
          name: 'X-Kernel-Project',
          in: 'header',
          description: 'Id or exact name of the project to work in',
          schema: Type.String({ maxLength: 255 }),
        },
        IdempotencyKey: {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'The same key with the same body has one effect and one answer, for 24 hours',
          schema: Type.String({ minLength: 1, maxLength: 255 }),
        },
      },
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => a.localeCompare(b))),
    },
  }
}
