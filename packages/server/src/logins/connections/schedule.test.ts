import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextCheck } from './schedule.ts'

const connection = {
  health_checks: true,
  health_check_interval: 3600,
  memory: Buffer.from('sealed'),
  last_auth_check_at: '2026-01-01T01:00:00Z',
  last_success_at: '2026-01-01T00:00:00Z',
}

test('the interval counts from the last look, or from a later success', () => {
  assert.equal(nextCheck(connection, () => 0.5)!.toISOString(), '2026-01-01T02:00:00.000Z')
  const later = { ...connection, last_success_at: '2026-01-01T03:00:00Z' }
  assert.equal(nextCheck(later, () => 0.5)!.toISOString(), '2026-01-01T04:00:00.000Z')
})

test('it varies by a twentieth to either side', () => {
  assert.equal(nextCheck(connection, () => 0)!.toISOString(), '2026-01-01T01:57:00.000Z')
  assert.equal(nextCheck(connection, () => 1)!.toISOString(), '2026-01-01T02:03:00.000Z')
})

test('there is none before the first success, and none that is not wanted', () => {
  assert.equal(nextCheck({ ...connection, memory: null }), null)
  assert.equal(nextCheck({ ...connection, health_checks: false }), null)
})
