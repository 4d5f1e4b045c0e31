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

test('the interval starts at the last check, or at a later success', () => {
  assert.equal(nextCheck(connection, () => 0.5)!.toISOString(), '2026-01-01T02:00:00.000Z')
  const later = { ...connection, last_success_at: '2026-01-01T03:00:00Z' }
  assert.equal(nextCheck(later, () => 0.5)!.toISOString(), '2026-01-01T04:00:00.000Z')
})

test('the interval varies by 5% in both directions', () => {
  assert.equal(nextCheck(connection, () => 0)!.toISOString(), '2026-01-01T01:57:00.000Z')
  assert.equal(nextCheck(connection, () => 1)!.toISOString(), '2026-01-01T02:03:00.000Z')
})

test('schedules no check before the first success, or when checks are off', () => {
  assert.equal(nextCheck({ ...connection, memory: null }), null)
  assert.equal(nextCheck({ ...connection, health_checks: false }), null)
})
