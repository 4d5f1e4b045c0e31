// Builds the OpenAPI 3.1 document from the table of operations.
import { Type, type TSchema } from 'typebox'
import { exampleOf } from './example.ts'
import { ErrorBody, errorCatalogue, type ErrorCode } from './errors.ts'
import { isOpen, pathsOf, publicIdOf, takesIdempotencyKey, type Operation } from './operation.ts'

type Json = Record<string, unknown>

/** Version of the API, independent of the server version. */
export const API_VERSION = '0.1.0'

const ALWAYS: ErrorCode[] = ['misdirected_request', 'headers_too_large', 'internal_error']
const AFTER_AUTH: ErrorCode[] = ['unauthorized', 'too_many_requests', 'unavailable']

/** Statuses of errors that may say when to try again. */
const LATER = new Set([429, 503, 529])

const statusNames: Record<number, string> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No content' }

interface HeaderRow {
  readonly description: string
  readonly schema: { readonly type: string }
}

const header = (description: string, type = 'string'): HeaderRow => ({ description, schema: { type } })

export const pagingHeaders: Readonly<Record<NonNullable<Operation['paging']>, Record<string, HeaderRow>>> = {
  offset: {
    'X-Has-More': header('Whether another page follows', 'boolean'),
    'X-Next-Offset': header('Offset of the next page; 0 on the last page', 'integer'),
    'X-Limit': header('Limit of this page', 'integer'),
    'X-Offset': header('Offset of this page', 'integer'),
  },
  token: {
    'X-Has-More': header('Whether another page follows', 'boolean'),
    'X-Next-Page-Token': header('Token of the next page; absent on the last page'),
    'X-Limit': header('Limit of this page', 'integer'),
  },
  cursor: {
    'X-Has-More': header('Whether another chunk follows', 'boolean'),
    'X-Next-Cursor': header('Cursor of the next chunk; absent on the last chunk'),
    'X-Row-Count': header('Number of lines in this chunk', 'integer'),
    'X-Content-Sha256': header('SHA-256 of the body, in hexadecimal'),
  },
}

const header$ = (name: string) => ({ $ref: `#/components/headers/${name}` })

const sharedHeaders = {
  Ignored: header(
    'Fields of the body that the server does not know and has ignored, such as `telemetry.expotr`; at most 20',
  ),
  RateLimit: header(
    'Requests a minute that the project may send, if the operator has set a limit',
    'integer',
  ),
  RateLimitRemaining: header('Requests that are left in this minute', 'integer'),
  RequestId: header('Id of the request; the server log contains it too'),
  RetryAfter: header('Seconds to wait before the next attempt', 'integer'),
  ShouldRetry: header('`false`: another attempt would fail in the same way', 'boolean'),
}

const requestId = { 'X-Request-Id': header$('RequestId') }
const retryAfter = { 'Retry-After': header$('RetryAfter') }
const ignored = { 'X-Berth-Ignored': header$('Ignored') }
const rateLimit = {
  'X-RateLimit-Limit': header$('RateLimit'),
  'X-RateLimit-Remaining': header$('RateLimitRemaining'),
}
const ofEvents = { 'X-SSE-Content-Type': header('Media type of the data of each event: application/json') }
const ofFile = { 'Content-Disposition': header('Whether to save it, and the name of the file') }
const ofRange = {
  'Accept-Ranges': header('`bytes`'),
  'Content-Range': header('The range, and the whole size'),
}
const replayed = {
  'Idempotent-Replayed': header(
    '`true` when this response repeats an earlier one for the same Idempotency-Key',
  ),
}

/** Of the database: another change came first, or its disk is full. */
const CHANGE_ERRORS: ErrorCode[] = ['conflict', 'insufficient_storage']
const BODY_ERRORS: ErrorCode[] = ['payload_too_large', 'unsupported_media_type', 'request_timeout']

/** All errors that an operation can return, including the common ones. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const isGuarded = !isOpen(operation)
  // The project headers can be invalid even if the operation has no other input.
  const hasInput = operation.params || operation.query || operation.body || isGuarded
  const input: ErrorCode[] = hasInput ? ['bad_request'] : []
  // The server reads a body, and may reject it, even if the operation needs none.
  const body: ErrorCode[] = operation.method === 'GET' ? [] : BODY_ERRORS
  const project: ErrorCode[] = isGuarded ? ['forbidden', 'project_not_found'] : []
  const idempotency: ErrorCode[] = takesIdempotencyKey(operation) ? ['idempotency_key_reused'] : []
  const changes = operation.effect === 'write' || operation.effect === 'act' ? CHANGE_ERRORS : []
  const common = isGuarded ? [...AFTER_AUTH, ...ALWAYS] : ALWAYS
  return [
    ...new Set([...operation.errors, ...input, ...body, ...project, ...idempotency, ...changes, ...common]),
  ]
}

export function statusName(status: number): string {
  return statusNames[status] ?? 'Success'
}

const mediaTypes: Partial<Record<Operation['kind'], string>> = {
  json: 'application/json',
  events: 'text/event-stream',
}

/** Without parameters such as the charset. */
function mediaTypeOf({ kind, contentType }: Operation): string {
  return (contentType ?? mediaTypes[kind] ?? 'application/octet-stream').split(';')[0]!
}

const BYTES = { type: 'string', format: 'binary' }

// An alias without a name in the reference gets the words of its path appended, because ids must be unique.
function operationIdAt(operation: Operation, path: string): string {
  const known = operation.referenceIds?.[pathsOf(operation).indexOf(path)]
  if (known !== undefined) return known
  if (path === operation.path) return operation.id
  const words = path.replaceAll(/\{\w+\}/g, '').match(/[a-zA-Z0-9]+/g) ?? []
  return `${publicIdOf(operation)}At${words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')}`
}

export function openApiDocument(operations: readonly Operation[]): Json {
  const schemas = new Map<string, unknown>()
  const errorAnswers = new Map<string, Json>()

  // Each schema with a title becomes one shared component.
  function schemaOf(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(schemaOf)
    if (typeof schema !== 'object' || schema === null) return schema
    const { title, type, ...rest } = asPlainMap(schema as Json)
    // A title that is not a string is a property called `title`.
    if (typeof title !== 'string') return mapValues(asPlainMap(schema as Json))
    if (Array.isArray(type)) {
      const notNull = { title, type: type.find((name) => name !== 'null') as string, ...rest }
      return { anyOf: [schemaOf(notNull), { type: 'null' }] }
    }
    const component = mapValues({ ...(type !== undefined && { type }), ...rest })
    const known = schemas.get(title)
    if (known && JSON.stringify(known) !== JSON.stringify(component)) {
      throw new Error(`Cannot describe the API: two different schemas are called "${title}"`)
    }
    schemas.set(title, component)
    return { $ref: `#/components/schemas/${title}` }
  }

  function mapValues(object: object): Json {
    return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, schemaOf(value)]))
  }

  function parametersIn(place: 'path' | 'query' | 'header', schema: TSchema | undefined): Json[] {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, TSchema & { description?: string; type?: unknown; deprecated?: boolean }>
      required?: string[]
    }
    return Object.entries(properties).map(([name, { description, deprecated, ...rest }]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description && { description }),
      ...(deprecated && { deprecated }),
      ...(rest.type === 'array' && { style: 'form', explode: false }),
      ...(rest.type === 'object' && { style: 'deepObject', explode: true }),
      schema: schemaOf(rest),
    }))
  }

  function successOf(operation: Operation): Json {
    const { kind } = operation
    const headers = {
      ...requestId,
      ...(isOpen(operation) ? {} : rateLimit),
      ...((operation.body ?? operation.form) && ignored),
      ...(kind === 'events' && ofEvents),
      ...(kind === 'binary' && ofFile),
      ...(operation.paging && pagingHeaders[operation.paging]),
      ...(takesIdempotencyKey(operation) && replayed),
    }
    const success: Json = { description: statusName(operation.status), headers }
    if (kind !== 'empty') success['content'] = { [mediaTypeOf(operation)]: { schema: contentOf(operation) } }
    return success
  }

  function contentOf({ kind, response, described = response, contentType = '' }: Operation): unknown {
    switch (kind) {
      case 'json':
      case 'events':
        return schemaOf(described)
      case 'binary':
        return contentType === 'application/json' ? { type: 'object' } : BYTES
      case 'relay':
        return BYTES
      case 'text':
      case 'html':
      case 'empty':
        return contentType.startsWith('application/json') ? { type: 'object' } : { type: 'string' }
    }
  }

  function requestBodyOf({ body, bodyOptional, bodyStream, form }: Operation): Json | undefined {
    if (body) {
      const content = { schema: schemaOf(body), example: exampleOf(body) }
      return { required: !bodyOptional, content: { 'application/json': content } }
    }
    switch (bodyStream) {
      case 'bytes':
        return { required: false, content: { 'application/octet-stream': { schema: BYTES } } }
      case 'multipart':
        return { required: true, content: { 'multipart/form-data': { schema: schemaOf(form ?? {}) } } }
      case undefined:
        return undefined
    }
  }

  // Most statuses have one code and share its component. If several codes share a status, the response lists them.
  function failureOf(codes: readonly ErrorCode[]): Json {
    const { status } = errorCatalogue[codes[0]!]
    const answer = {
      description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].meaning}`).join('; '),
      headers: {
        ...requestId,
        ...(status === 400 && ignored),
        ...(status === 401 && { 'WWW-Authenticate': header('`Bearer`') }),
        ...(status === 429 && rateLimit),
        ...(LATER.has(status) && retryAfter),
        ...(codes.some((code) => errorCatalogue[code].final) && { 'X-Should-Retry': header$('ShouldRetry') }),
      },
      content: { 'application/json': { schema: schemaOf(ErrorBody) } },
    }
    if (codes.length > 1) return answer
    errorAnswers.set(codes[0]!, answer)
    return { $ref: `#/components/responses/${codes[0]}` }
  }

  function responsesOf(operation: Operation): Json {
    const responses: Json = { [operation.status]: successOf(operation) }
    for (const [status, description] of Object.entries(operation.alsoAnswers ?? {})) {
      const { content, headers, ...rest } = successOf(operation) as { content?: Json; headers: Json }
      const isLater = status === '202' && operation.kind === 'binary'
      responses[status] = {
        ...rest,
        headers: { ...headers, ...(isLater && retryAfter), ...(status === '206' && ofRange) },
        ...(status !== '204' && !isLater && content && { content }),
        description,
      }
    }
    const byStatus = Map.groupBy(errorsOf(operation), (code) => errorCatalogue[code].status)
    for (const [status, codes] of byStatus) responses[status] = failureOf(codes)
    return responses
  }

  function describe(operation: Operation, path: string): Json {
    const requestBody = requestBodyOf(operation)
    const parameters = [
      ...parametersIn('path', operation.params),
      ...parametersIn('query', operation.query),
      ...parametersIn('header', operation.headers),
      ...(isOpen(operation) ? [] : projectHeaders),
      ...(takesIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ]
    return {
      operationId: operationIdAt(operation, path),
      tags: [operation.tag],
      summary: operation.summary,
      ...descriptionOf(operation, path),
      ...(operation.deprecated && { deprecated: true }),
      // The reference page shows an operation once, at its first path.
      ...(path !== operation.path && { 'x-scalar-ignore': true }),
      ...securityOf(operation),
      ...(parameters.length > 0 && { parameters }),
      ...(requestBody && { requestBody }),
      responses: responsesOf(operation),
    }
  }

  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    for (const path of pathsOf(operation)) {
      paths[path] ??= {}
      paths[path][operation.method.toLowerCase()] = describe(operation, path)
    }
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Berth',
      version: API_VERSION,
      description:
        'Berth runs browsers on your own server. Use this API to create and control browser sessions, and to manage pools, profiles, logins and apps',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key. A key that was made with `scopes` needs the scope that each operation names',
        },
      },
      headers: sharedHeaders,
      parameters: sharedParameters,
      responses: sortedByName(errorAnswers),
      schemas: sortedByName(schemas),
    },
  }
}

/** Generators of clients know maps by `additionalProperties`, and not by patterns of names. */
function asPlainMap(schema: Json): Json {
  const { patternProperties, properties, additionalProperties: _none, ...rest } = schema
  const [only, ...others] = Object.entries((patternProperties ?? {}) as Json)
  if (only === undefined || others.length > 0 || properties !== undefined) return schema
  const [pattern, values] = only
  return {
    ...rest,
    ...(pattern !== '^.*$' && { propertyNames: { pattern } }),
    additionalProperties: values,
  }
}

function sortedByName(entries: ReadonlyMap<string, unknown>): Json {
  return Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const projectHeaders = [
  { $ref: '#/components/parameters/ProjectId' },
  { $ref: '#/components/parameters/Project' },
]

const sharedParameters = {
  ProjectId: {
    name: 'X-Kernel-Project-Id',
    in: 'header',
    description:
      'Id of the project to use; the default project when omitted. Together with X-Kernel-Project, both must name the same project',
    schema: Type.String({ maxLength: 255 }),
  },
  Project: {
    name: 'X-Kernel-Project',
    in: 'header',
    description: 'Id or exact name of the project to use',
    schema: Type.String({ maxLength: 255 }),
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Repeat a request with the same key within 24 hours to get the same response without a second effect',
    schema: Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$', minLength: 1, maxLength: 255 }),
  },
}

/** OpenAPI 3.1 lets a bearer scheme name what the key must be allowed. */
function securityOf({ scope, ...operation }: Operation): { security?: Json[] } {
  if (isOpen(operation)) return { security: [] }
  if (operation.needsNoScope) return { security: [{ bearer: [] }] }
  return scope === null ? {} : { security: [{ bearer: [scope] }] }
}

function descriptionOf(operation: Operation, path: string): { description?: string } {
  const { auth, description, scope, closedToApps, anyOrigin } = operation
  const others = pathsOf(operation).filter((each) => each !== path)
  const parts = [
    ...(description === undefined ? [] : [description]),
    ...(auth === 'organization-key' ? ['Requires an organisation-wide API key'] : []),
    ...(scope === null ? [] : [`A key with scopes needs \`${scope}\``]),
    ...(closedToApps ? ["Refuses the key of an app's deployment"] : []),
    ...(auth === 'flow-token' ? ['Also accepts the token of the login flow instead of an API key'] : []),
    ...(anyOrigin ? ['Web pages of any origin may call it, but not with an API key'] : []),
    ...(others.length > 0 ? [`Also at ${others.map((each) => `\`${each}\``).join(', ')}`] : []),
  ]
  return parts.length > 0 ? { description: parts.join('\n\n') } : {}
}
