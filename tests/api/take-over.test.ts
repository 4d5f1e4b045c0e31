// Finding the sessions of servers that are gone, in a database with many of servers that are not.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { kyselyOver } from '@berth/server/platform/database/executor'
import { listOfLostServers, takeOverSessions } from '@berth/server/sessions/browsers/store'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

const ENDED = 3_000
const LIVE = 300
const SILENT_SECONDS = 8
const wanted = { serverId: 'me', silentSeconds: SILENT_SECONDS }

/** Sessions of a server that lives, and of many that are gone and have none. */
async function startWithRows(t: TestContext) {
  const server = await startServer(t)
  const live = await createSession(server)
  const ended = await createSession(server)
  assert.equal((await send(server, 'DELETE', `/browsers/${ended.session_id}`)).status, 204)
  const client = new Client(server.databaseUrl)
  await client.connect()
  cleanUpAfter(t, () => client.end())
  await client.query(`INSERT INTO servers (id) VALUES ('me'), ('other')`)
  await client.query(
    `INSERT INTO servers (id, seen_at) SELECT 'gone' || n, now() - interval '1 day' FROM generate_series(1, 100) AS n`,
  )
  const { rows } = await client.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
      WHERE table_name = 'browsers' AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'server_id', 'instance_id')`,
  )
  const columns = rows.map(({ name }) => `"${name}"`).join(', ')
  const copy = (id: string, prefix: string, count: number) =>
    client.query(
      `INSERT INTO browsers (id, server_id, ${columns})
        SELECT '${prefix}' || lpad(n::text, 23, '0'), 'other', ${columns}
        FROM browsers, generate_series(1, ${count}) AS n WHERE browsers.id = '${id}'`,
    )
  await copy(ended.session_id, 'e', ENDED)
  await copy(live.session_id, 'l', LIVE)
  await client.query('VACUUM ANALYZE browsers, servers')
  return client
}

/** How many rows of sessions a statement reads. */
async function rowsRead<T>(client: Client, work: () => Promise<T>): Promise<{ result: T; read: number }> {
  await client.query('BEGIN')
  const result = await work()
  const { rows } = await client.query<{ read: number }>(
    `SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int AS read
      FROM pg_stat_xact_user_tables WHERE relname = 'browsers'`,
  )
  await client.query('COMMIT')
  return { result, read: rows[0]!.read }
}

test('as long as all servers are there, taking over reads no session', async (t) => {
  const client = await startWithRows(t)
  const db = kyselyOver(client)
  const taking = await rowsRead(client, () => takeOverSessions(db, { ...wanted, limit: 20 }))
  assert.deepEqual(taking.result, [])
  assert.ok(taking.read < 20, `${taking.read} rows`)
  const looking = await rowsRead(client, () => listOfLostServers(db, wanted))
  assert.deepEqual(looking.result, [])
  assert.ok(looking.read < 20, `${looking.read} rows`)
})

test('the sessions of a silent server are taken in parts, each once, and those that ended are not', async (t) => {
  const client = await startWithRows(t)
  const db = kyselyOver(client)
  await client.query(`UPDATE servers SET seen_at = now() - interval '10 s' WHERE id = 'other'`)
  assert.equal((await listOfLostServers(db, wanted)).length, LIVE)
  const taken = new Set<string>()
  for (;;) {
    const result = await takeOverSessions(db, { ...wanted, limit: 20 })
    if (result.length === 0) break
    assert.ok(result.length <= 20)
    for (const { id, server_id } of result) {
      assert.equal(server_id, 'me')
      assert.ok(!taken.has(id), 'it is taken once')
      taken.add(id)
    }
  }
  assert.equal(taken.size, LIVE)
  assert.ok([...taken].every((id) => id.startsWith('l')))
})

test('a server that is heard again keeps its sessions', async (t) => {
  const client = await startWithRows(t)
  await client.query(`UPDATE servers SET seen_at = now() WHERE id = 'other'`)
  assert.deepEqual(await takeOverSessions(kyselyOver(client), { ...wanted, limit: 20 }), [])
})
