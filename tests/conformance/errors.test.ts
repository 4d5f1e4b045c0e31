// Errors: one shape, a code of the catalogue, and the wrong field.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { errorCatalogue, errorCodes } from '@berth/contracts/errors'
import { operations } from '@berth/contracts/operations'
import { startServer } from '../fixtures/server.ts'
import { badValues, type FieldsSchema } from './bad-values.ts'
import { assertError } from './error-answer.ts'
import { newKey, newProject } from './fixture-keys.ts'
import { HttpCaller, type Answer } from './http-exchange.ts'
import { newResources } from './resources.ts'
import { sampleBody, sampleRequest } from './sample-request.ts'
import { ServerDatabase } from './server-database.ts'

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const JSON_BODY = [['Content-Type', 'application/json']] as const

// Runs while only the first project exists, before the others are created.
const whileAlone = {
  archive: await caller.sendJson(server.key, 'PATCH', '/org/projects/Default', { status: 'archived' }),
  delete: await caller.sendJson(server.key, 'DELETE', '/org/projects/Default'),
}
const references = {
  projects: (await newProject(caller, server.key, 'Refused')).id,
  api_keys: (await newKey(caller, server.key, { name: 'refused' })).id,
  ...(await newResources(caller, server.key)),
}

/** The details have one entry per field, and the message repeats the first. */
function assertNames(answer: Answer, field: string, what: string): void {
  const { details = [], message } = assertError(answer, 'bad_request', what)
  const named = details.filter((detail) => detail.message?.startsWith(`${field}: `))
  assert.ok(named.length > 0, `${what}: no detail names "${field}" in ${answer.text.slice(0, 300)}`)
  for (const detail of details) assert.equal(detail.code, 'invalid_input', what)
  assert.ok(message.includes(details[0]!.message!), `${what}: "${message}" does not tell the first detail`)
}

test('the catalogue gives every code a status, and forbids retries that would be useless', () => {
  for (const code of errorCodes) {
    const { status, final, meaning } = errorCatalogue[code]
    assert.ok(status >= 400 && status < 600, code)
    // Published clients retry these; the other 5xx may succeed on a retry.
    const isInVain =
      status === 409 || ['insufficient_storage', 'sessions_unavailable', 'request_failed'].includes(code)
    assert.equal(final === true, isInVain, code)
    assert.ok(meaning.length > 0, code)
  }
})

test('the last active project can be neither archived nor deleted', async () => {
  assertError(whileAlone.archive, 'last_active_project')
  assertError(whileAlone.delete, 'last_active_project')
  const project = await caller.sendJson(server.key, 'GET', '/org/projects/Default')
  assert.equal((project.json as { status: string }).status, 'active')
})

for (const operation of operations.filter(({ body }) => body)) {
  const schema = operation.body as unknown as FieldsSchema
  const exchange = sampleRequest(operation, operation.path, references)
  const send = (body: string) => caller.sendAs(server.key, { ...exchange, headers: JSON_BODY, body })

  for (const [field, fieldSchema] of Object.entries(schema.properties)) {
    test(`${operation.id} names "${field}" when it is wrong`, async () => {
      const before = await database.state()
      for (const value of badValues(fieldSchema, 'body')) {
        const text = toJson({ ...sampleBody(operation), [field]: value })
        assertNames(await send(text), field, text.slice(0, 200))
      }
      assert.deepEqual(await database.state(), before)
    })
  }

  for (const field of schema.required ?? []) {
    test(`${operation.id} names "${field}" when it is missing`, async () => {
      assertNames(await send('{}'), field, 'without it')
      const nothing = await caller.sendAs(server.key, { ...exchange, headers: JSON_BODY, body: '' })
      assertError(nothing, 'bad_request', 'an empty body')
    })
  }

  const isClosed = schema.additionalProperties === false
  const strangers = ['extra', 'project', 'toString', 'hasOwnProperty', 'valueOf', '$where', '']

  if (isClosed) {
    test(`${operation.id} refuses a field it does not know`, async () => {
      const before = await database.state()
      for (const field of strangers) {
        const text = toJson({ ...sampleBody(operation), [field]: 1 })
        assertNames(await send(text), field || 'body', text)
      }
      assert.deepEqual(await database.state(), before)
    })
  } else {
    test(`${operation.id} ignores fields that it does not know, and names them`, async () => {
      const before = await database.state()
      const [field, fieldSchema] = Object.entries(schema.properties)[0]!
      // Refused because of another field, so that it has no effect.
      const wrong = { ...sampleBody(operation), [field]: badValues(fieldSchema, 'body')[0] }
      const answer = await send(
        toJson({ ...wrong, ...Object.fromEntries(strangers.map((name) => [name, 1])) }),
      )
      assertNames(answer, field, 'with unknown fields')
      const { details = [] } = assertError(answer, 'bad_request')
      for (const { message = '' } of details) assert.ok(message.startsWith(field), answer.text)
      assert.equal(
        answer.headers['x-berth-ignored'],
        'extra, project, toString, hasOwnProperty, valueOf, %24where, ""',
      )
      assert.deepEqual(await database.state(), before)
    })
  }

  test(`${operation.id} refuses names that would reach a prototype`, async () => {
    const before = await database.state()
    const [, ...rest] = toJson(sampleBody(operation))
    const fields = rest.join('')
    for (const key of ['__proto__', '\\u005f_proto__', 'constructor', 'prototype']) {
      for (const value of ['{"polluted":true}', '{"prototype":{"polluted":true}}', 'null', '"x"']) {
        // An open body ignores what is only a name.
        const isDangerous = key.includes('proto__') || (key === 'constructor' && value.includes('prototype'))
        if (!isClosed && !isDangerous) continue
        assertError(await send(`{"${key}":${value},${fields}`), 'bad_request', key)
      }
    }
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
    assert.deepEqual(await database.state(), before)
  })

  test(`${operation.id} refuses a body that is not a JSON object`, async () => {
    const before = await database.state()
    const broken = [
      '{',
      '}',
      '{"name":',
      '{"name":"x"',
      "{'name':'x'}",
      '{"name":"x",}',
      'name=x',
      '\u{0}',
      'NaN',
    ]
    const notObjects = [
      '[]',
      '1',
      '"x"',
      'true',
      '[{"name":"x"}]',
      ...(operation.bodyOptional ? [] : ['null']),
    ]
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    for (const text of [...broken, ...notObjects, nested, `{"name":${nested}}`]) {
      assertError(await send(text), 'bad_request', text.slice(0, 40))
    }
    const invalidUtf8 = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ])
    assertError(
      await caller.sendAs(server.key, { ...exchange, headers: JSON_BODY, body: invalidUtf8 }),
      'bad_request',
      'bytes that are not text',
    )
    assert.deepEqual(await database.state(), before)
  })

  test(`${operation.id} accepts only application/json`, async () => {
    const before = await database.state()
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
    ]
    const odd = [
      'application/jsonp',
      'application/json-seq',
      'text/plain; application/json',
      'json',
      '*/*',
      'x',
    ]
    const body = toJson(sampleBody(operation))
    for (const type of [...types, ...odd]) {
      const headers = [['Content-Type', type]] as const
      assertError(
        await caller.sendAs(server.key, { ...exchange, headers, body }),
        'unsupported_media_type',
        type,
      )
    }
    const untyped = await caller.sendAs(server.key, { ...exchange, headers: [], body })
    assertError(untyped, 'unsupported_media_type', 'no type')
    assert.deepEqual(await database.state(), before)
  })

  const maxBytes = operation.maxBodyBytes ?? 1024 * 1024
  test(`${operation.id} refuses a body larger than ${maxBytes / 1024 / 1024} MB`, async () => {
    const before = await database.state()
    assertError(await send(toJson({ name: 'x'.repeat(maxBytes) })), 'payload_too_large')
    assert.deepEqual(await database.state(), before)
  })
}

for (const operation of operations.filter(({ query }) => query)) {
  const { properties } = operation.query as unknown as FieldsSchema
  for (const [field, schema] of Object.entries(properties)) {
    test(`${operation.id} names the parameter "${field}" when it is wrong`, async () => {
      const { path, ...exchange } = sampleRequest(operation, operation.path, references)
      const isRepeatable = schema.type === 'array'
      const values = badValues(schema, 'query').map(String)
      for (const value of values) {
        const url = withParameter(path, field, value)
        const answer = await caller.sendAs(server.key, { ...exchange, path: url })
        assertNamesParameter(answer, field, url.slice(0, 200))
      }
      if (!isRepeatable) {
        const twice = `${withParameter(path, field, 'a')}&${field}=b`
        assertNamesParameter(await caller.sendAs(server.key, { ...exchange, path: twice }), field, twice)
      }
    })
  }
}

/** Items of a list are named by index, as in `exclude_method.0`. */
function assertNamesParameter(answer: Answer, field: string, what: string): void {
  const { details = [] } = assertError(answer, 'bad_request', what)
  const isNamed = details.some(
    ({ message = '' }) => message.startsWith(`${field}: `) || message.startsWith(`${field}.`),
  )
  assert.ok(isNamed, `${what}: no detail names "${field}" in ${answer.text.slice(0, 300)}`)
}

test('a change with fields that the server does not know is made, and the answer names them', async () => {
  const body = { name: 'Newer', colour: 'teal', settings: { a: 1 } }
  const made = await caller.sendJson(server.key, 'POST', '/org/projects', body)
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers['x-berth-ignored'], 'colour, settings')
  assert.equal((made.json as { name: string }).name, 'Newer')
  const pool = await caller.sendJson(server.key, 'POST', '/browser_pools', {
    size: 'refused, so that no browser starts',
    telemetry: { expotr: {}, browser: { plattform: { enabled: true }, console: { level: 'all' } } },
  })
  assertNames(pool, 'size', 'a pool')
  assert.equal(
    pool.headers['x-berth-ignored'],
    'telemetry.browser.console.level, telemetry.browser.plattform, telemetry.expotr',
  )
  const known = await caller.sendJson(server.key, 'POST', '/org/projects', { name: 'Known' })
  assert.ok(!('x-berth-ignored' in known.headers))
})

test('a name in use is a conflict that clients do not retry', async () => {
  const other = await newProject(caller, server.key, 'Other')
  const again = await caller.sendJson(server.key, 'POST', '/org/projects', { name: 'Other' })
  assertError(again, 'already_exists')
  const renamed = await caller.sendJson(server.key, 'PATCH', `/org/projects/${other.id}`, { name: 'Refused' })
  assertError(renamed, 'already_exists')
})

test('a project with keys in it is a conflict that clients do not retry', async () => {
  const project = await newProject(caller, server.key, 'Full')
  await newKey(caller, server.key, { name: 'inside', project_id: project.id })
  assertError(await caller.sendJson(server.key, 'DELETE', `/org/projects/${project.id}`), 'project_not_empty')
})

test('a key cannot delete itself', async () => {
  const key = await newKey(caller, server.key, { name: 'itself' })
  assertError(
    await caller.sendJson(key.key, 'DELETE', `/org/api_keys/${key.id}`),
    'cannot_delete_current_key',
  )
  assert.equal((await caller.sendJson(key.key, 'GET', '/org/limits')).status, 200)
})

test('a key that would expire before its predecessor is refused, and the error names the field', async () => {
  const path = `/org/api_keys/${references.api_keys}/rotate`
  const answer = await caller.sendJson(server.key, 'POST', path, { days_to_expire: 3, expire_in_days: 4 })
  assertNames(answer, 'days_to_expire', 'rotate')
})

test('a default cap above the limit of the organisation is refused, and the error names the field', async () => {
  const body = { default_project_max_concurrent_sessions: 1_000_000 }
  const answer = await caller.sendJson(server.key, 'PATCH', '/org/limits', body)
  assertNames(answer, 'default_project_max_concurrent_sessions', 'limits')
})

test('all wrong fields are reported, up to a limit', async () => {
  const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field${index}`, index]))
  const answer = await caller.sendJson(server.key, 'POST', '/credentials', body)
  const { details = [] } = assertError(answer, 'bad_request')
  assert.ok(details.length > 1 && details.length <= 100, `${details.length} details`)
  assert.ok(answer.text.length < 16_384, `${answer.text.length} bytes`)
})

test('a long wrong value is not repeated in the answer', async () => {
  const long = 'x'.repeat(10_000)
  const answers = [
    await caller.sendJson(server.key, 'POST', '/org/projects', { name: long }),
    await caller.sendJson(server.key, 'POST', '/org/projects', { name: 7, [long]: 1 }),
    await caller.sendJson(server.key, 'POST', '/credentials', { [long]: 1 }),
    await caller.sendJson(server.key, 'GET', `/org/projects/${long}`),
    await caller.sendJson(server.key, 'GET', `/${long}`),
    await caller.sendJson(server.key, 'GET', `/org/projects?limit=${long}`),
  ]
  for (const answer of answers) {
    assertError(answer, ['bad_request', 'not_found'])
    assert.ok((answer.headers['x-berth-ignored'] ?? '').length <= 103)
    assert.ok(answer.text.length < 1000, `${answer.text.length} bytes: ${answer.text.slice(0, 100)}`)
  }
})

/** JSON.stringify, except that 1e400 stays as a client may write it. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (item === Infinity ? '<1e400>' : item)).replace(
    '"<1e400>"',
    '1e400',
  )
}

function withParameter(path: string, name: string, value: string): string {
  const [base = '', query] = path.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set(name, value)
  return `${base}?${parameters.toString()}`
}
