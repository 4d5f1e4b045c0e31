import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditLogEntry } from '@berth/contracts/audit-logs'
import { distinctIds } from './distinct-ids.ts'

const entry = (path: string, duration: number): AuditLogEntry => ({
  timestamp: '2026-11-19T21:00:00.000Z',
  auth_strategy: 'api_key',
  user_id: 'user_1',
  email: '',
  status: 200,
  method: 'GET',
  path,
  route: path,
  domain: 'localhost',
  duration_ms: duration,
  client_ip: '127.0.0.1',
  user_agent: '',
  scope: '',
})

test('the same request twice within a millisecond is two entries', () => {
  const entries = [entry('/org/projects', 20), entry('/changes', 5), entry('/org/projects', 23)]
  const ids = distinctIds(entries)
  assert.equal(new Set(entries.map((each) => ids.get(each))).size, 3)
})

test('an older page of the list changes no id', () => {
  const newer = [entry('/org/projects', 20), entry('/org/projects', 23)]
  const before = distinctIds(newer)
  const after = distinctIds([...newer, entry('/org/projects', 1)])
  for (const each of newer) assert.equal(after.get(each), before.get(each))
})
