import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findOperation } from '../api/operations.ts'
import { flagsFor, missingFields, setAt } from './flags.ts'

const longs = (flags: ReturnType<typeof flagsFor>) => flags.fields.map(({ option }) => option.long)

test('every field of an operation has a flag', () => {
  const flags = longs(flagsFor({ name: 'create', op: 'createBrowser' }, findOperation('createBrowser'), []))
  for (const flag of [
    '--headless',
    '--no-headless',
    '--profile-id',
    '--proxy-mode',
    '--viewport-width',
    '--tags',
  ])
    assert.ok(flags.includes(flag), flag)
})

test('a field that a change may remove has a flag for it', () => {
  const flags = flagsFor({ name: 'update', op: 'updateBrowser' }, findOperation('updateBrowser'), [
    'id',
  ]).fields
  const clear = flags.find(({ option }) => option.long === '--clear-name')
  // For the API, null would keep it.
  assert.deepEqual([clear?.path, clear?.always], [['name'], ''])
})

test('a flag of the row hides the one of the field, and both work', () => {
  const verb = { name: 'create', op: 'createBrowser', flags: [{ flags: '--kiosk', field: 'kiosk_mode' }] }
  const { fields } = flagsFor(verb, findOperation('createBrowser'), [])
  const found = fields
    .filter(({ path }) => path.join('.') === 'kiosk_mode')
    .map(({ option }) => [option.long, option.hidden])
  assert.deepEqual(found, [
    ['--kiosk', false],
    ['--kiosk-mode', true],
    ['--no-kiosk-mode', true],
  ])
})

test('a row that names an unknown field is an error of ours', () => {
  const verb = { name: 'x', op: 'getBrowser', flags: [{ flags: '--x', field: 'nothing' }] }
  assert.throws(() => flagsFor(verb, findOperation('getBrowser'), []), /has no field "nothing"/)
})

test('values are put where their path says, and maps are joined', () => {
  const body: Record<string, unknown> = {}
  setAt(body, ['telemetry'], { enabled: true })
  setAt(body, ['telemetry', 'export', 'otlp', 'destination'], { name: 'a' })
  setAt(body, ['tags'], { a: '1' })
  setAt(body, ['tags'], { b: '2' })
  assert.deepEqual(body, {
    telemetry: { enabled: true, export: { otlp: { destination: { name: 'a' } } } },
    tags: { a: '1', b: '2' },
  })
})

test('fields that an operation needs are named as flags', () => {
  const operation = findOperation('createBrowserPool')
  assert.deepEqual(missingFields(operation, { query: {}, body: {} }), ['--size'])
  assert.deepEqual(missingFields(operation, { query: {}, body: { size: 1 } }), [])
})
