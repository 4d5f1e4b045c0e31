import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { insertAuditRecords } from '@berth/server/tenancy/audit/store'
import { Blobs } from '@berth/server/platform/blobs/blobs'
import { DirectoryBlobStore } from '@berth/server/platform/blobs/directory-store'
import type { Db } from '@berth/server/platform/database/schema'
import { Housekeeping } from '@berth/server/platform/jobs/housekeeping'
import { housekeepingTasks } from '@berth/server/housekeeping-tasks'
import { webhookRetention } from '@berth/server/tenancy/webhooks/retention'
import { startDatabase } from '../fixtures/database.ts'
import { tempDir } from '../fixtures/server.ts'

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
    scope: '',
    user_agent: '',
  }
}

test('housekeeping removes everything expired, in several steps, and nothing else', async (t) => {
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
  const store = await DirectoryBlobStore.open(join(tempDir(t), 'blobs'))
  const blobs = new Blobs({ store, storeId: await store.identity(), log })
  for (const [id, days] of [
    ['old', 8],
    ['new', 6],
  ] as const) {
    const blob = await blobs.put(Readable.from([Buffer.from(id)]), { maxBytes: 10, signal: t.signal })
    await blobs.record(db, 'replay', blob)
    await insertReplay(db, { id, days, blobId: blob.id })
  }
  await insertSegments(db, { old: 31, new: 29 })
  const retention = {
    BERTH_AUDIT_RETENTION_DAYS: 30,
    BERTH_WEBHOOK_RETENTION_DAYS: 7,
    BERTH_REPLAY_RETENTION_DAYS: 7,
    BERTH_TELEMETRY_RETENTION_DAYS: 30,
    BERTH_APP_LOG_RETENTION_DAYS: 7,
    BERTH_LOGIN_RETENTION_DAYS: 90,
    BERTH_INVOCATION_RETENTION_DAYS: 30,
  }
  const options = { db, pool, log, tasks: housekeepingTasks(retention, blobs) }
  const housekeeping = new Housekeeping(options)
  // Replicas run this at the same time without disturbing each other.
  const replica = new Housekeeping(options)
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

  const segments = await db.selectFrom('telemetry_segments').select('payload').execute()
  assert.deepEqual(
    segments.map(({ payload }) => payload.toString()),
    ['new'],
  )
  const counted = db.selectFrom('telemetry_sessions').select(['project_id', 'stored_bytes'])
  assert.deepEqual(await counted.execute(), [{ project_id: 'p', stored_bytes: '3' }])
  // Once nothing of an ended session is left, it counts for no project.
  await sql`UPDATE browsers SET ended_at = now() - interval '2 hours'`.execute(db)
  await sql`DELETE FROM telemetry_segments`.execute(db)
  const last = new Housekeeping(options)
  await last.run()
  await last.close()
  assert.deepEqual(await counted.execute(), [{ project_id: null, stored_bytes: '0' }])

  const kept = await db.selectFrom('replays').select(['id', 'blob_id']).execute()
  assert.deepEqual(
    kept.map(({ id }) => id),
    ['new'],
  )
  const stored = (await Array.fromAsync(store.list())).map(({ id }) => id)
  assert.deepEqual(stored, [kept[0]!.blob_id])
  const rows = await db.selectFrom('blobs').select('id').execute()
  assert.deepEqual(rows, [{ id: kept[0]!.blob_id }])
})

test('webhook events that are over, too old to send, or of a deleted webhook do not stay', async (t) => {
  const { db, pool } = await startDatabase(t)
  await sql`INSERT INTO projects (id, name) VALUES ('p', 'p')`.execute(db)
  await sql`INSERT INTO webhooks (id, project_id, url, sealed_secret) VALUES ('w', 'p', 'u', '')`.execute(db)
  await sql`INSERT INTO webhooks (id, project_id, url, deleted_at) VALUES ('d', 'p', 'u', now())`.execute(db)
  for (const [webhook, event, state, hours] of [
    ['w', 'old', 'delivered', 8 * 24],
    ['w', 'new', 'failed', 6 * 24],
    ['w', 'waits', 'pending', 23],
    ['w', 'waits too long', 'pending', 26],
    ['d', 'nobody asks', 'pending', 1],
  ] as const) {
    await sql`INSERT INTO webhook_deliveries
        (webhook_id, event_id, event_type, subject, data, state, tried_from, finished_at)
      VALUES (${webhook}, ${event}, 'session.ended', 's', '{}', ${state}, now() - make_interval(hours => ${hours}),
        CASE WHEN ${state} <> 'pending' THEN now() - make_interval(hours => ${hours}) END)`.execute(db)
  }
  await sql`INSERT INTO webhook_attempts (delivery_seq, number, started_at, duration_ms)
    SELECT seq, 1, now(), 1 FROM webhook_deliveries`.execute(db)
  const housekeeping = new Housekeeping({ db, pool, log, tasks: webhookRetention(7) })
  await housekeeping.run()
  await housekeeping.close()
  const left = await db
    .selectFrom('webhook_deliveries')
    .select(['event_id', 'state'])
    .orderBy('seq')
    .execute()
  assert.deepEqual(
    left.map(({ event_id: id, state }) => [id, state]),
    [
      ['new', 'failed'],
      ['waits', 'pending'],
      ['waits too long', 'failed'],
    ],
  )
  assert.equal((await db.selectFrom('webhook_attempts').select('number').execute()).length, 3)
})

test('a housekeeping task that fails does not stop the others', async (t) => {
  const { db, pool } = await startDatabase(t)
  const ran: string[] = []
  const failing = { name: 'failing', run: () => Promise.reject(new Error('fails')) }
  const good = { name: 'good', run: async () => void ran.push('good') }
  const housekeeping = new Housekeeping({ db, pool, log, tasks: [failing, good] })
  await housekeeping.run()
  await housekeeping.close()
  assert.deepEqual(ran, ['good'])
})

/** The session of the recordings. */
async function insertSegments(db: Db, daysOf: Readonly<Record<string, number>>): Promise<void> {
  await sql`INSERT INTO telemetry_sessions (session_id, sealed_key, stored_bytes) VALUES ('b', '', 6)`.execute(
    db,
  )
  for (const [index, [payload, days]] of Object.entries(daysOf).entries()) {
    await sql`INSERT INTO telemetry_segments
        (session_id, first_seq, last_seq, first_ts, last_ts, categories, payload, created_at)
      VALUES ('b', ${index}, ${index}, 0, 0, 0, ${Buffer.from(payload)}, now() - make_interval(days => ${days}))`.execute(
      db,
    )
  }
}

async function insertReplay(db: Db, { id, days, blobId }: { id: string; days: number; blobId: string }) {
  await sql`INSERT INTO projects (id, name) VALUES ('p', 'p') ON CONFLICT DO NOTHING`.execute(db)
  await sql`INSERT INTO servers (id) VALUES ('s') ON CONFLICT DO NOTHING`.execute(db)
  await sql`INSERT INTO browsers (id, project_id, headless, stealth, gpu, kiosk_mode, timeout_seconds,
      viewport_width, viewport_height, viewport_refresh_rate, server_id, state, deleted_at, end_reason, ended_at)
    VALUES ('b', 'p', true, false, false, false, 60, 800, 600, 25, 's', 'ended', now(), 'deleted', now())
    ON CONFLICT DO NOTHING`.execute(db)
  await sql`INSERT INTO replays (id, project_id, browser_id, server_id, framerate, state, sealed_key, blob_id, finished_at)
    VALUES (${id}, 'p', 'b', 's', 10, 'ready', '', ${blobId}, now() - make_interval(days => ${days}))`.execute(
    db,
  )
}
