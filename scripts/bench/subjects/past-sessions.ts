// Sessions that ended long ago, written straight into the database of a server: copies of one that the server itself
// made and ended, with the audit records of both.
import assert from 'node:assert/strict'
import { Client } from 'pg'
import { EmbeddedPostgres } from '@berth/server/platform/database/embedded/postgres'
import type { SessionServer } from './session-server.ts'

/** A new session every so often. */
const APART = "interval '1 minute'"

export async function addPastSessions(server: SessionServer, count: number): Promise<void> {
  const browser = await server.create({ headless: true })
  await server.delete(browser)
  await server.settled()
  const { host } = EmbeddedPostgres.connectionIn(server.dataDir)
  const database = new Client({ host: host!, user: 'berth', database: 'postgres' })
  await database.connect()
  try {
    const { rowCount } = await database.query(COPY_SESSION, [browser.session_id, count])
    assert.equal(rowCount, count)
    await database.query(await copyRecords(database), [`%${browser.session_id}`, count])
    // What autovacuum does by itself within a minute.
    for (const table of ['browsers', 'audit_logs']) await database.query(`VACUUM (ANALYZE) ${table}`)
  } finally {
    await database.end()
  }
}

/** Whatever columns there are. Ids look like real ones: a letter, and 23 digits of base 36 or fewer. */
const COPY_SESSION = `
  INSERT INTO browsers
  SELECT copy.* FROM generate_series(1, $2::int) AS number, browsers AS model,
    jsonb_populate_record(model, jsonb_build_object(
      'id', 'p' || left(md5(model.id || number), 23),
      'instance_id', 'i' || left(md5(number || model.id), 23),
      'created_at', model.created_at - number * ${APART},
      'deleted_at', model.deleted_at - number * ${APART},
      'ended_at', model.ended_at - number * ${APART}
    )) AS copy
  WHERE model.id = $1`

/** A create and a delete for each. Their ids are given by the table. */
async function copyRecords(database: Client): Promise<string> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
     WHERE attrelid = 'audit_logs'::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = ''`,
  )
  const names = rows.map(({ name }) => name)
  const values = names.map((name) => (name === 'timestamp' ? `timestamp - number * ${APART}` : name))
  return `INSERT INTO audit_logs (${names.join(', ')})
    SELECT ${values.join(', ')} FROM generate_series(1, $2::int) AS number,
      (SELECT * FROM audit_logs WHERE route LIKE '/browsers%' AND (path LIKE $1 OR method = 'POST')) AS model`
}
