import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { CommaList, Strict, Text, Timestamp } from '@berth/contracts/schema'
import { compileValidator, validationDetails } from './validation.ts'

interface Validator {
  (data: unknown): boolean
  errors: { message: string }[] | null
}

function complaints(httpPart: 'body' | 'querystring', schema: object, data: unknown): string[] {
  const validate = compileValidator({ schema, httpPart, method: 'GET', url: '/' }) as unknown as Validator
  return validate(data) ? [] : validationDetails(validate.errors ?? []).map((detail) => detail.message)
}

const body = Strict({
  name: Text({ description: 'x', minLength: 1, maxLength: 3 }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  inner: Type.Optional(Strict({ kind: Type.Optional(Type.Unsafe({ type: 'string', enum: ['a', 'b'] })) })),
})

test('every validation error names the field and the remedy', () => {
  assert.deepEqual(complaints('body', body, {}), ['name: is required'])
  assert.deepEqual(complaints('body', body, { name: '' }), ['name: must have at least 1 character(s)'])
  assert.deepEqual(complaints('body', body, { name: 'abcd' }), ['name: must have at most 3 characters'])
  assert.deepEqual(complaints('body', body, { name: 'a', x: 1 }), ['x: is not a known field; remove it'])
  assert.deepEqual(complaints('body', body, { name: 'a', count: 9 }), ['count: must be at most 5'])
  assert.deepEqual(complaints('body', body, { name: 'a', count: '3' }), ['count: must be integer'])
  assert.deepEqual(complaints('body', body, { name: 'a', inner: { kind: 'c' } }), [
    'inner.kind: must be one of a, b',
  ])
  assert.deepEqual(complaints('body', body, []), ['body: must be object'])
})

test('counts length in code points and refuses broken Unicode', () => {
  assert.deepEqual(complaints('body', body, { name: '😀😀😀' }), [])
  for (const name of ['\0', '\ud800', 'a\nb', '\u007f']) {
    assert.deepEqual(complaints('body', body, { name }), [
      'name: must not contain control characters or broken Unicode',
    ])
  }
})

test('reads numbers from query text, and lists in both notations', () => {
  const query = Type.Object({
    limit: Type.Optional(Type.Integer({ maximum: 5 })),
    tags: Type.Optional(CommaList({ description: 'x', maxItems: 3, maxLength: 5 })),
  })
  const data: Record<string, unknown> = { limit: '3', tags: ['a,b', 'c'] }
  assert.deepEqual(complaints('querystring', query, data), [])
  assert.deepEqual(data, { limit: 3, tags: ['a', 'b', 'c'] })
  assert.deepEqual(complaints('querystring', query, { limit: '1.5' }), ['limit: must be integer'])
  assert.deepEqual(complaints('querystring', query, { tags: 'a,b,c,d' }), ['tags: must have at most 3 items'])
})

test('an empty filter is none, and an empty value that is required stays empty', () => {
  const query = Type.Object({
    limit: Type.Optional(Type.Integer({ default: 20 })),
    since: Type.Optional(Timestamp('x')),
    tags: Type.Optional(CommaList({ description: 'x', maxItems: 3, maxLength: 5 })),
    path: Text({ description: 'x', minLength: 1, maxLength: 3 }),
  })
  const data: Record<string, unknown> = { limit: '', since: '', tags: '', path: 'a' }
  assert.deepEqual(complaints('querystring', query, data), [])
  assert.deepEqual(data, { limit: 20, path: 'a' })
  assert.deepEqual(complaints('querystring', query, { path: '' }), [
    'path: must have at least 1 character(s)',
  ])
})

test('refuses a date-time that does not exist', () => {
  const query = Type.Object({ at: Timestamp('x') })
  for (const at of ['2026-01-31T12:00:00Z', '2026-01-31t12:00:00.123456789+02:00']) {
    assert.deepEqual(complaints('querystring', query, { at }), [], at)
  }
  for (const at of ['2026-02-30T12:00:00Z', '2026-01-31', '2026-01-31T25:00:00Z', 'now', '1e400']) {
    assert.equal(complaints('querystring', query, { at }).length, 1, at)
  }
})
