// Migrations, master keys and the operator's commands, with a real PostgreSQL.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { migrate } from '@berth/server/platform/database/migrate'
import { migrations } from '@berth/server/platform/database/migrations/index'
import { startPostgres, databaseUrl } from '../fixtures/postgres.ts'
import { programFile } from '../fixtures/programs.ts'
import { serverEnv, startServer, type TestServer } from '../fixtures/server.ts'

const run = promisify(execFile)
const admin = programFile('admin')

function runAdmin(env: Record<string, string>, ...args: string[]) {
  return run(process.execPath, [admin, ...args], { env: serverEnv(env) })
}

async function query<T extends object>(url: string, sql: string, values: unknown[] = []): Promise<T[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<T>(sql, values)).rows
  } finally {
    await client.end()
  }
}

const urlOf = (server: TestServer) => server.databaseUrl ?? databaseUrl(join(server.dataDir, 'postgres/run'))

test('several replicas may migrate at once; each migration is applied once', async (t) => {
  const { url } = await startPostgres(t)
  await Promise.all(Array.from({ length: 8 }, () => migrate({ connectionString: url })))
  const rows = await query<{ version: number }>(url, 'SELECT version FROM schema_migrations')
  assert.deepEqual(
    rows.map((row) => row.version),
    migrations.map((migration) => migration.version),
  )
})

test('a migration that fails leaves nothing', async (t) => {
  const { url } = await startPostgres(t)
  const broken = { version: 1, name: 'broken', sql: 'CREATE TABLE half (a int); SELECT 1/0;' }
  await assert.rejects(migrate({ connectionString: url }, [broken]), /Cannot apply migration 1 "broken"/)
  assert.deepEqual(await query(url, "SELECT 1 FROM pg_tables WHERE tablename = 'half'"), [])
  await migrate({ connectionString: url })
})

test('a schema from a newer program is refused', async (t) => {
  const { url } = await startPostgres(t)
  await migrate({ connectionString: url })
  await query(url, "INSERT INTO schema_migrations (version, name) VALUES (999, 'future')")
  await assert.rejects(
    migrate({ connectionString: url }),
    /its schema is version 999, this program knows up to/,
  )
})

test('the audit log cannot be changed, not even with SQL', async (t) => {
  const server = await startServer(t)
  await server.fetch('/org/projects')
  await server.fetch(`/audit-logs?start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z`)
  for (const sql of ["UPDATE audit_logs SET path = 'x'", 'DELETE FROM audit_logs', 'TRUNCATE audit_logs']) {
    await assert.rejects(query(urlOf(server), sql), /append-only/, sql)
  }
})

test('the master key is rotated while the server runs: old answers decrypt, new ones use the new key', async (t) => {
  const server = await startServer(t, { hasOwnPostgres: true })
  const create = async (name: string) =>
    server.fetch('/org/projects', {
      method: 'POST',
      body: JSON.stringify({ name }),
      headers: { 'content-type': 'application/json', 'idempotency-key': name },
    })
  const kids = async () => {
    const rows = await query<{ kid: string }>(
      urlOf(server),
      "SELECT DISTINCT encode(substring(response FROM 2 FOR 8), 'hex') AS kid FROM idempotency_keys",
    )
    return rows.map((row) => row.kid)
  }
  const before = await create('before')
  const [oldKid] = await kids()
  const { stdout } = await runAdmin({ BERTH_DATA_DIR: server.dataDir }, 'rotate-master-key')
  const newKid = /to master key (\w+)/.exec(stdout)?.[1]
  const moved = Number(/Moved (\d+) records/.exec(stdout)?.[1])
  assert.ok(moved >= 2, `${moved} records: the answer, and secrets of the server itself`)
  assert.notEqual(newKid, oldKid)
  assert.deepEqual(await kids(), [newKid])
  assert.deepEqual(await (await create('before')).json(), await before.json())
  await create('after')
  assert.deepEqual(await kids(), [newKid], 'the running server uses the new key')

  await runAdmin({ BERTH_DATA_DIR: server.dataDir }, 'forget-old-master-keys')
  assert.equal((await create('before')).headers.get('idempotent-replayed'), 'true')
  await server.stop()
  const restarted = await startServer(t, { dataDir: server.dataDir })
  assert.equal((await restarted.fetch('/org/projects')).status, 200)
})

test('keys from BERTH_MASTER_KEY are rotated by listing the new one first', async (t) => {
  const { url } = await startPostgres(t)
  const [oldKey, newKey] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
  const base = { DATABASE_URL: url, BERTH_API_KEY: 'sk_operator0000_abcdefghijklmnopqrstuvwxyz012345' }
  const server = await startServer(t, { env: { ...base, BERTH_MASTER_KEY: oldKey } })
  await server.fetch('/org/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'x' }),
    headers: { 'content-type': 'application/json', 'idempotency-key': 'x' },
  })
  await server.stop()
  await assert.rejects(
    runAdmin({ ...base, BERTH_DATA_DIR: server.dataDir, BERTH_MASTER_KEY: oldKey }, 'rotate-master-key'),
    /must list the new key and the old one/,
  )
  const env = { ...base, BERTH_MASTER_KEY: `${newKey},${oldKey}` }
  await runAdmin({ ...env, BERTH_DATA_DIR: server.dataDir }, 'forget-old-master-keys')
  const restarted = await startServer(t, { env: { ...base, BERTH_MASTER_KEY: newKey } })
  const replay = await restarted.fetch('/org/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'x' }),
    headers: { 'content-type': 'application/json', 'idempotency-key': 'x' },
  })
  assert.equal(replay.headers.get('idempotent-replayed'), 'true')
})

test('a stored answer that was moved to another row is refused', async (t) => {
  const server = await startServer(t)
  const create = (name: string) =>
    server.fetch('/org/projects', {
      method: 'POST',
      body: JSON.stringify({ name }),
      headers: { 'content-type': 'application/json', 'idempotency-key': name },
    })
  await create('one')
  await create('two')
  await query(
    urlOf(server),
    `UPDATE idempotency_keys SET response = (SELECT response FROM idempotency_keys WHERE key = 'one') WHERE key = 'two'`,
  )
  const moved = await create('two')
  assert.equal(moved.status, 422)
  assert.equal(((await moved.json()) as { code: string }).code, 'invalid_state')
})

test('mint-key creates a working organisation key, with and without a running server', async (t) => {
  const server = await startServer(t, { hasOwnPostgres: true })
  const beside = (await runAdmin({ BERTH_DATA_DIR: server.dataDir }, 'mint-key')).stdout.trim()
  assert.equal((await server.fetch('/org/projects', { key: beside })).status, 200)
  await server.stop()
  const alone = (await runAdmin({ BERTH_DATA_DIR: server.dataDir }, 'mint-key')).stdout.trim()
  const restarted = await startServer(t, { dataDir: server.dataDir })
  assert.equal((await restarted.fetch('/org/projects', { key: alone })).status, 200)
  assert.match((await runAdmin({}, '--help')).stdout, /rotate-master-key/)
})
