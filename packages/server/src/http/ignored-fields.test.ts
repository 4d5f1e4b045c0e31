import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { operations } from '@berth/contracts/operations'
import { Nullable, Open, Strict } from '@berth/contracts/schema'
import { IGNORED_HEADER, ignoredHeader } from './ignored-fields.ts'
import { compileValidator } from './validation.ts'

const text = Type.Optional(Type.String())

const schema = Open({
  name: text,
  telemetry: Type.Optional(Nullable(Open({ export: text }))),
  closed: Type.Optional(Strict({ name: text, open: Type.Optional(Open({ name: text })) })),
  list: Type.Optional(Type.Array(Open({ name: text }))),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  'a/b~': Type.Optional(Open({})),
})
const validate = compileValidator({ schema, httpPart: 'body', method: 'POST', url: '/' }) as (
  data: unknown,
) => boolean

function namesIgnoredIn(body: object): string | undefined {
  assert.equal(validate(body), true)
  return ignoredHeader(body)[IGNORED_HEADER]
}

test('an open object drops unknown fields at every depth, and the header names them', () => {
  const body = {
    name: 'x',
    nmae: 1,
    telemetry: { expotr: { a: 1 } },
    closed: { open: { x: null } },
    list: [{ name: 'a' }, { other: [], name: 'b' }],
    tags: { any: 'thing' },
    'a/b~': { c: 1 },
  }
  assert.equal(namesIgnoredIn(body), 'telemetry.expotr, closed.open.x, list.1.other, a%2Fb~.c, nmae')
  assert.deepEqual(body, {
    name: 'x',
    telemetry: {},
    closed: { open: {} },
    list: [{ name: 'a' }, { name: 'b' }],
    tags: { any: 'thing' },
    'a/b~': {},
  })
})

test('nothing is named when everything is known, nor in the request after one with unknown fields', () => {
  assert.equal(namesIgnoredIn({ other: 1 }), 'other')
  assert.equal(namesIgnoredIn({ name: 'x', telemetry: null }), undefined)
  assert.equal(ignoredHeader(undefined)[IGNORED_HEADER], undefined)
})

test('a free-form object keeps every field', () => {
  const free = Open({ input: Type.Object({}, { additionalProperties: true }) })
  const accept = compileValidator({
    schema: free,
    httpPart: 'body',
    method: 'POST',
    url: '/',
  }) as typeof validate
  const body = { input: { any: { thing: 1 } } }
  assert.equal(accept(body), true)
  assert.deepEqual(body, { input: { any: { thing: 1 } } })
  assert.equal(ignoredHeader(body)[IGNORED_HEADER], undefined)
})

test('a closed object still refuses, also inside an open one', () => {
  assert.equal(validate({ closed: { other: 1 } }), false)
})

test('a refused request names what it ignored too', () => {
  const body = { name: 7, nmae: 'x' }
  assert.equal(validate(body), false)
  assert.equal(ignoredHeader(body)[IGNORED_HEADER], 'nmae')
})

test('the header is visible ASCII and bounded, whatever the names are', () => {
  const odd = ['', 'a,b', 'a b', 'a.b', 'ä\r\nX: y', '\ud800', 'constructor', '…']
  assert.equal(
    namesIgnoredIn(Object.fromEntries(odd.map((name) => [name, 1]))),
    '"", a%2Cb, a%20b, a%2Eb, %C3%A4%0D%0AX%3A%20y, %EF%BF%BD, constructor, %E2%80%A6',
  )
  const many = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`${'ä'.repeat(300)}${index}`, 1]),
  )
  const header = namesIgnoredIn(many)!
  assert.match(header, /^[\x21-\x7e]+(, [\x21-\x7e]+){20}$/)
  assert.ok(header.endsWith(', ...') && header.length <= 20 * 102 + 3, String(header.length))
  assert.deepEqual(many, {})
})

/** What the reference closes; it leaves every other object of a request open. */
const closedByReference = new Set([
  'createCredential',
  'updateCredential',
  'createCredentialProvider',
  'updateCredentialProvider',
  'createAuthConnection',
  'createAuthConnection.credential',
  'updateAuthConnection',
  'updateAuthConnection.credential',
  'loginAuthConnection',
  'submitAuthConnection',
  'exchangeAuthConnectionHandoff',
])
/** Of the operations in an instance it closes all bodies, except that of a new recording. */
const isClosedControl = (effect: string) => effect === 'control'

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: unknown
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}

function objectsIn(node: Node, path: string): { path: string; isClosed: boolean }[] {
  const { properties, additionalProperties, items, anyOf } = node
  const variants = anyOf?.filter((each) => each.properties) ?? []
  assert.ok(variants.length === 0, `${path}: an object in a union could drop the fields of another`)
  return [
    // Free-form objects keep every field.
    ...(properties && additionalProperties !== true
      ? [{ path, isClosed: additionalProperties === false }]
      : []),
    ...Object.entries(properties ?? {}).flatMap(([name, each]) => objectsIn(each, `${path}.${name}`)),
    ...(items ? objectsIn(items, path) : []),
  ]
}

test('exactly those bodies are closed that the reference closes', () => {
  for (const { id, body, effect } of operations) {
    if (!body) continue
    for (const { path, isClosed } of objectsIn(body, id)) {
      const expected = isClosedControl(effect) || closedByReference.has(path)
      assert.equal(isClosed, expected, `${path}: use ${expected ? 'Strict' : 'Open'}`)
    }
  }
})
