import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { insertAuditRecords } from '@berth/server/audit/store'
import { Housekeeping } from '@berth/server/jobs/housekeeping'
import { startDatabase } from '../fixtures/database.ts'

const DAY_MS = 24 * 3_600_000
const log = pino({ level: 'silent' })

function recordAged(days: number) {
  return {
    timestamp: new Date(Date.now() - days * DAY_MS),
    project_id: null,
    key_id: 'key',
    request_id: `${days} days old`,
    service: 'api',
    auth_strategy: 'api_key',
    user_id: 'u',
    email: 'e',
    status: 200,
    method: 'GET',
    path: '/',
    route: '/',
    domain: 'localhost',
    duration_ms: 1,
    client_ip: '127.0.0.1',
    user_agent: '',
  }
}

test('housekeeping removes what is past its time, in several steps, and nothing else', async (t) => {
  const { db, pool } = await startDatabase(t)
  await insertAuditRecords(
    db,
    Array.from({ length: 11_000 }, () => recordAged(31)),
  )
  await insertAuditRecords(db, [recordAged(29), recordAged(0)])
  for (const [key, hours] of [
    ['old', 25],
    ['new', 23],
  ]) {
    await sql`INSERT INTO idempotency_keys (scope, key, request_hash, created_at)
      VALUES ('s', ${key}, '', now() - make_interval(hours => ${hours}))`.execute(db)
  }
  const housekeeping = new Housekeeping({ pool, log, auditRetentionDays: 30 })
  // Replicas do this at the same time; none gets in another's way.
  const replica = new Housekeeping({ pool, log, auditRetentionDays: 30 })
  await Promise.all([housekeeping.run(), replica.run()])
  await housekeeping.run()
  await Promise.all([housekeeping.close(), replica.close()])

  const records = await db.selectFrom('audit_logs').select('request_id').orderBy('timestamp').execute()
  assert.deepEqual(
    records.map((record) => record.request_id),
    ['29 days old', '0 days old'],
  )
  const keys = await db.selectFrom('idempotency_keys').select('key').execute()
  assert.deepEqual(
    keys.map((row) => row.key),
    ['new'],
  )
})
