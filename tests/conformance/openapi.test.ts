import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Type, type TSchema } from 'typebox'
import { openApiDocument } from '@berth/contracts/openapi'
import { isOpen, operation, pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { Nullable } from '@berth/contracts/schema'
import { categoryOfType } from '@berth/contracts/telemetry-events'

interface Described {
  readonly operationId: string
  readonly security?: unknown[]
  readonly requestBody?: { readonly required: boolean }
  readonly responses: Record<string, object>
}

interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Record<string, Record<string, Described>>
  readonly components: { readonly schemas: Record<string, object> }
}

// Through text, as every reader gets it, so that anything JSON omits is noticed.
const document = JSON.parse(JSON.stringify(openApiDocument(operations))) as Document
const described = Object.values(document.paths).flatMap((methods) => Object.values(methods))

function nodesOf(node: unknown): Record<string, unknown>[] {
  if (typeof node !== 'object' || node === null) return []
  const children = Object.values(node).flatMap(nodesOf)
  return Array.isArray(node) ? children : [node as Record<string, unknown>, ...children]
}

function resolve(reference: string): unknown {
  const [start, ...steps] = reference
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  assert.equal(start, '#', `${reference} stays within the document`)
  return steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown> | undefined)?.[step],
    document,
  )
}

test('the document conforms to OpenAPI 3.1', async () => {
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone({ ...document }))
  assert.ok(valid, JSON.stringify(errors, null, 2))
  assert.equal(validator.version, '3.1')
  assert.equal(document.info.version, '0.1.0')
})

test('every schema in it is JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    formats: { 'date-time': true, binary: true },
  })
  ajv.addKeyword('components')
  ajv.addKeyword('discriminator')
  ajv.addSchema({ $id: 'berth', components: document.components })
  const schemas = nodesOf(document.paths).flatMap(({ schema }) => (schema ? [schema] : []))
  assert.ok(schemas.length > 0)
  for (const schema of [...schemas, ...Object.values(document.components.schemas)]) {
    const local = JSON.stringify(schema).replaceAll('"#/components/', '"berth#/components/')
    assert.doesNotThrow(() => ajv.compile(JSON.parse(local) as object), local)
  }
})

test('the document has every operation of the table at each of its paths, and no other', () => {
  const rows = operations.flatMap((row) => pathsOf(row).map((path) => `${row.method} ${path}`))
  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(listed.toSorted(), rows.toSorted())
})

test('every operation id is unique and an identifier', () => {
  const ids = described.map(({ operationId }) => operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[a-z][a-zA-Z0-9]*$/)
})

const nameAt = (method: string, path: string) => document.paths[path]![method]!.operationId

test('operations have the names of the reference, at every path that the reference has', () => {
  assert.equal(nameAt('post', '/browsers'), 'postBrowsers')
  assert.equal(nameAt('post', '/browsers/{id}/process/exec'), 'processExec')
  assert.equal(nameAt('post', '/browsers/{id}/computer/screenshot'), 'takeScreenshot')
  assert.equal(nameAt('get', '/org/projects/{id}/limits'), 'getOrgProjectLimits')
  assert.equal(nameAt('get', '/projects/{id}/limits'), 'getProjectLimits')
  assert.equal(nameAt('get', '/browsers/{id}/telemetry'), 'streamBrowserTelemetryAtBrowsersTelemetry')
  assert.equal(nameAt('get', '/health'), 'getHealth')
})

interface Answer {
  readonly headers: Record<string, object>
  readonly content?: Record<string, { readonly schema?: object }>
}

const answerOf = (method: string, path: string, status: number) => {
  const answer = document.paths[path]![method]!.responses[status] as Answer & { $ref?: string }
  return answer.$ref === undefined ? answer : (resolve(answer.$ref) as Answer)
}

test('every answer with content has a schema, streams and files too', () => {
  for (const { operationId, responses } of described) {
    for (const [status, response] of Object.entries(responses)) {
      for (const { schema } of Object.values((response as Answer).content ?? {})) {
        assert.ok(schema, `${operationId} ${status}`)
      }
    }
  }
  const stream = answerOf('get', '/browsers/{id}/telemetry/stream', 200)
  assert.deepEqual(stream.content, {
    'text/event-stream': { schema: { $ref: '#/components/schemas/TelemetryEvent' } },
  })
})

test('every type of telemetry event has a schema of its own', () => {
  const { oneOf, discriminator } = document.components.schemas['TelemetryEventBody'] as {
    oneOf: { $ref: string }[]
    discriminator: { mapping: Record<string, string> }
  }
  assert.deepEqual(Object.keys(discriminator.mapping), Object.keys(categoryOfType))
  assert.deepEqual(
    oneOf.map(({ $ref }) => $ref),
    Object.values(discriminator.mapping),
  )
  for (const [type, reference] of Object.entries(discriminator.mapping)) {
    const { properties } = resolve(reference) as { properties: Record<string, { const?: string }> }
    assert.equal(properties['type']!.const, type)
  }
})

const headerIn = (path: string) =>
  (document.paths[path]!['get'] as unknown as { parameters: { in?: string; name?: string }[] }).parameters
    .filter((parameter) => parameter.in === 'header')
    .map(({ name }) => name)

test('headers are declared where they are sent and read', () => {
  const headersOf = (...place: Parameters<typeof answerOf>) => Object.keys(answerOf(...place).headers)
  assert.ok(headersOf('post', '/browsers', 200).includes('X-Berth-Ignored'))
  assert.ok(headersOf('post', '/browsers', 400).includes('X-Berth-Ignored'))
  assert.ok(headersOf('post', '/browsers', 429).includes('Retry-After'))
  assert.ok(headersOf('post', '/browsers', 409).includes('X-Should-Retry'))
  assert.ok(headersOf('get', '/browsers', 200).includes('X-Next-Offset'))
  assert.ok(headersOf('get', '/browsers', 401).includes('WWW-Authenticate'))
  const replay = '/browsers/{id}/replays/{replay_id}'
  assert.ok(headersOf('get', replay, 202).includes('Retry-After'))
  assert.equal(answerOf('get', replay, 202).content, undefined)
  assert.ok(headersOf('get', replay, 206).includes('Content-Range'))
  assert.deepEqual(headerIn('/browsers/{id}/telemetry/stream'), ['Last-Event-ID'])
  assert.deepEqual(headerIn(replay), ['Range'])
})

test('files in forms are binary', () => {
  const forms = nodesOf(document.paths).flatMap((node) => {
    const form = node['multipart/form-data'] as { schema: { properties: Record<string, object> } } | undefined
    return form ? [form.schema.properties] : []
  })
  assert.ok(forms.length > 0)
  for (const fields of forms) {
    const files = Object.values(fields).filter((field) => (field as { format?: string }).format === 'binary')
    assert.equal(files.length, 1, Object.keys(fields).join())
  }
})

test('every reference resolves', () => {
  const references = nodesOf(document).flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
  assert.ok(references.length > 0)
  for (const reference of references) assert.notEqual(resolve(reference), undefined, reference)
})

test('open operations need no key, all others name the scope that a key needs', () => {
  for (const row of operations) {
    for (const path of pathsOf(row)) {
      const { security } = document.paths[path]![row.method.toLowerCase()]!
      assert.deepEqual(
        security,
        isOpen(row) ? [] : [{ bearer: row.needsNoScope ? [] : [row.scope] }],
        `${row.method} ${path}`,
      )
    }
  }
})

test('statuses, parameters and bodies match the table', () => {
  for (const row of operations) {
    for (const path of pathsOf(row)) {
      const { responses, requestBody } = document.paths[path]![row.method.toLowerCase()]!
      assert.ok(responses[row.status], `${row.id} answers ${row.status}`)
      const isRequired = row.bodyStream ? row.bodyStream === 'multipart' : row.body && !row.bodyOptional
      assert.equal(requestBody?.required, isRequired, row.id)
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      assert.deepEqual(inPath.toSorted(), Object.keys(row.params?.properties ?? {}).toSorted(), path)
    }
  }
})

function documentOf(...responses: TSchema[]): Document {
  const rows = responses.map((response, index) =>
    operation({
      id: `get${index}`,
      tag: 'Made up',
      summary: 'Made up',
      method: 'GET',
      path: `/made-up/${index}`,
      status: 200,
      response,
    }),
  )
  return openApiDocument(rows) as unknown as Document
}

test('a field called title does not name the schema it is in', () => {
  const { schemas } = documentOf(Type.Object({ title: Type.String() }, { title: 'Page' })).components
  assert.deepEqual(Object.keys(schemas), ['Error', 'ErrorDetail', 'Page', 'PlaywrightExecutor'])
  assert.deepEqual(schemas['Page'], Type.Object({ title: Type.String() }))
})

test('a named schema that may be null points to the same component', () => {
  const page = Type.Object({ id: Type.String() }, { title: 'Page' })
  const { schemas } = documentOf(page, Type.Object({ page: Nullable(page) }, { title: 'Book' })).components
  assert.deepEqual(schemas['Book'], {
    type: 'object',
    required: ['page'],
    properties: { page: { anyOf: [{ $ref: '#/components/schemas/Page' }, { type: 'null' }] } },
  })
})

test('two different schemas of one name are refused', () => {
  const one = Type.Object({ id: Type.String() }, { title: 'Page' })
  const other = Type.Object({ name: Type.String() }, { title: 'Page' })
  assert.throws(() => documentOf(one, other), /two different schemas are called "Page"/)
})
