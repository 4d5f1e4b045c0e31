import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '@berth/kit/ids'
import { checkName, nameKey } from './names.ts'

test('names differ by more than case and accents', () => {
  assert.equal(nameKey('Café ÉTÉ'), nameKey('cafe\u0301 ete'))
  assert.equal(nameKey('ＡＢＣ'), nameKey('abc'))
  assert.notEqual(nameKey('collector'), nameKey('collector 2'))
})

test('a name is neither blank nor like an id', () => {
  assert.equal(checkName('Datadog'), 'Datadog')
  assert.throws(() => checkName('  '), /blank/)
  assert.throws(() => checkName(newId()), /like an id/)
})
