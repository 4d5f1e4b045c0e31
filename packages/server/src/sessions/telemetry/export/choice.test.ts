import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportChoice, refuseExport } from './choice.ts'

const destination = { name: 'mine' }
const idle = { selection: ['control'] as const, isExporting: false }
const busy = { selection: undefined, isExporting: true }

test('a destination implies that the export is on', () => {
  assert.deepEqual(exportChoice({ export: { otlp: { destination } } }, idle), destination)
  assert.deepEqual(exportChoice({ export: { otlp: { destination, enabled: true } } }, idle), destination)
})

test('without a destination the export stays, or stops', () => {
  for (const request of [null, undefined, {}, { export: {} }, { export: { otlp: {} } }]) {
    assert.equal(exportChoice(request, busy), undefined)
  }
  assert.equal(exportChoice({ export: { otlp: { enabled: true } } }, busy), undefined)
  assert.equal(exportChoice({ export: { otlp: { enabled: false } } }, busy), null)
  assert.equal(exportChoice({ enabled: false }, { selection: null, isExporting: true }), null)
  assert.equal(exportChoice({ export: { otlp: { enabled: false } } }, idle), undefined)
})

const refuse = (otlp: object, captured: Parameters<typeof exportChoice>[1], message: RegExp) =>
  assert.throws(() => exportChoice({ export: { otlp } }, captured), message)

test('what cannot be is refused', () => {
  refuse({ destination, enabled: false }, idle, /enabled: false/)
  refuse({ destination: {} }, idle, /either id or name/)
  refuse({ destination: { id: 'a', name: 'b' } }, idle, /either id or name/)
  refuse({ destination }, busy, /same request/)
  refuse({ destination }, { selection: null, isExporting: false }, /same request/)
  refuse({ enabled: true }, idle, /needs a destination/)
  assert.throws(() => refuseExport({ export: { otlp: { destination } } }, 'no'), /no/)
  refuseExport({ export: { otlp: { enabled: false } } }, 'no')
})
