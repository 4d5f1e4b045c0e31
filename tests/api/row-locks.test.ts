// A row lock must not block references to the row. PostgreSQL checks references with FOR KEY SHARE at any time, also
// at the second change of a row in one transaction, so we cannot choose the order of locks.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { insertConnection, lockConnection } from '@berth/server/logins/connections/store'
import type { Db } from '@berth/server/platform/database/schema'
import { inTransaction } from '@berth/server/platform/database/transaction'
import { lockProfile } from '@berth/server/sessions/profiles/store'
import { findProjectBy, insertProject } from '@berth/server/tenancy/projects/store'
import { findProxy } from '@berth/server/sessions/proxies/store'
import { startDatabase } from '../fixtures/database.ts'

const { db, pool } = await startDatabase({ after })
const { id: projectId } = await insertProject(db, 'Mine', true)
await sql`INSERT INTO profiles (id, project_id, name) VALUES ('profile', ${projectId}, 'of tests')`.execute(
  db,
)
await sql`INSERT INTO proxies (id, project_id, type, protocol, bypass_hosts, config)
  VALUES ('proxy', ${projectId}, 'custom', 'http', '{}', '{}')`.execute(db)
const connectionId = (await insertConnection(db, {
  project_id: projectId,
  domain: 'a.example',
  allowed_domains: [],
  profile_id: 'profile',
  save_credentials: true,
  record_session: false,
  health_checks: true,
  health_check_interval: 3_600,
  auto_reauth: true,
  telemetry_age: 'opt-in',
}))!

const locks: readonly { table: string; id: string; lock: (tx: Db) => Promise<unknown> }[] = [
  { table: 'auth_connections', id: connectionId, lock: (tx) => lockConnection(tx, connectionId) },
  { table: 'profiles', id: 'profile', lock: (tx) => lockProfile(tx, 'profile') },
  {
    table: 'proxies',
    id: 'proxy',
    lock: (tx) => findProxy(tx, projectId, 'proxy', { isLocked: true }),
  },
  {
    table: 'projects',
    id: projectId,
    lock: (tx) => findProjectBy(tx, 'id', projectId, { isLocked: true }),
  },
]

for (const { table, id, lock } of locks) {
  test(`a locked row of ${table} can be referred to, but not locked by another`, async () => {
    await inTransaction(pool, async ({ db: tx }) => {
      assert.ok(await lock(tx))
      assert.ok(await isFree(table, id, 'KEY SHARE'))
      assert.ok(!(await isFree(table, id, 'NO KEY UPDATE')))
      assert.ok(!(await isFree(table, id, 'SHARE')))
    })
  })
}

async function isFree(table: string, id: string, strength: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM ${sql.table(table)} WHERE id = ${id} FOR ${sql.raw(strength)} SKIP LOCKED`.execute(db)
  return rows.length > 0
}
