import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parserOf } from './values.ts'
import type { ValueKind } from './rows.ts'

const parse = (kind: ValueKind, ...texts: string[]) => {
  let value: unknown
  for (const text of texts) value = parserOf(kind)(text, value)
  return value
}

test('flags that repeat collect their values', () => {
  assert.deepEqual(parse('strings', 'a', 'b'), ['a', 'b'])
  assert.deepEqual(parse('comma-list', 'a,b', 'c'), ['a', 'b', 'c'])
  assert.deepEqual(parse('map', 'a=1', 'b=x=y'), { a: '1', b: 'x=y' })
  assert.deepEqual(parse('null-map', 'a', 'b'), { a: null, b: null })
  assert.deepEqual(parse('point', '1,2', '-3,4'), [
    [1, 2],
    [-3, 4],
  ])
})

test('an extension or a destination is an id by its shape, and otherwise a name', () => {
  assert.deepEqual(parse('extension', 'a23456789012345678901234', 'ublock'), [
    { id: 'a23456789012345678901234' },
    { name: 'ublock' },
  ])
  assert.deepEqual(parse('reference', 'collector'), { name: 'collector' })
})

test('a viewport is a width, a height and perhaps a rate', () => {
  assert.deepEqual(parse('viewport', '1280x800'), { width: 1280, height: 800 })
  assert.deepEqual(parse('viewport', '1280x800@60'), { width: 1280, height: 800, refresh_rate: 60 })
  assert.throws(() => parse('viewport', '1280'), /like 1280x800/)
})

test('telemetry is everything, nothing, or some categories', () => {
  assert.deepEqual(parse('telemetry', 'off'), { enabled: false })
  assert.deepEqual(parse('telemetry', 'console,screenshot'), {
    enabled: true,
    browser: { console: { enabled: true }, screenshot: { enabled: true } },
  })
  assert.deepEqual(Object.keys((parse('telemetry', 'all') as { browser: object }).browser), [
    'console',
    'interaction',
    'network',
    'page',
  ])
})

test('a value of the wrong form is refused with the form that is expected', () => {
  const wrong: [ValueKind, string, RegExp][] = [
    ['integer', '1.5', /whole number/],
    ['integer', 'abc', /whole number/],
    ['number', '', /must be a number/],
    ['boolean', 'yes', /true or false/],
    ['map', '=x', /NAME=VALUE/],
    ['json', '{', /JSON/],
    ['point', '1', /100,200/],
    ['json-file', '/no/such/file', /Cannot read/],
  ]
  for (const [kind, text, message] of wrong)
    assert.throws(() => parse(kind, text), message, `${kind} ${text}`)
  assert.throws(() => parserOf('string', { values: ['a', 'b'] })('c', undefined), /one of: a, b/)
})
