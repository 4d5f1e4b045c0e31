import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMoment } from './moment.ts'

const now = Date.parse('2026-06-01T12:00:00Z') * 1000
const read = (text: string) => readMoment('since', text, now)

test('a moment is a time or a duration before now', () => {
  assert.equal(read('2026-06-01T11:59:00Z'), now - 60_000_000)
  assert.equal(read('2026-06-01T13:59:00.123456+02:00'), now - 60_000_000 + 123_456)
  assert.equal(read('5m'), now - 300_000_000)
  assert.equal(read('1h30m'), now - 5_400_000_000)
  assert.equal(read('1.5s'), now - 1_500_000)
  assert.equal(read('250ms'), now - 250_000)
  assert.equal(read('0s'), now)
})

test('other texts are refused', () => {
  for (const text of [
    '',
    '5',
    'm',
    '5y',
    '-5m',
    '5m-',
    '1e400s',
    '2026-06-01',
    '2026-13-01T00:00:00Z',
    'now',
    '5m\n',
  ]) {
    assert.throws(() => read(text), /since: must be a time/, text)
  }
})
