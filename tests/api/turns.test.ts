// Work that waits in the database: projects take turns, however much one of them has.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { beginBuild } from '@berth/server/apps/deployments/store'
import { claimDue, insertConnection } from '@berth/server/logins/connections/store'
import { insertProject } from '@berth/server/tenancy/projects/store'
import { startDatabase } from '../fixtures/database.ts'

const { db } = await startDatabase({ after })
const SERVER = 'server-of-turns'
await sql`INSERT INTO servers (id) VALUES (${SERVER})`.execute(db)
const busy = await insertProject(db, 'Busy', false)
const quiet = await insertProject(db, 'Quiet', false)
/** In the order in which they came. */
const work = [
  { name: 'busy 1', project: busy },
  { name: 'busy 2', project: busy },
  { name: 'busy 3', project: busy },
  { name: 'quiet 1', project: quiet },
]
const TURNS = ['busy 1', 'quiet 1', 'busy 2', 'busy 3', undefined]

test('builds of apps', async () => {
  // Their keys play no part here.
  await sql`ALTER TABLE deployments DROP CONSTRAINT deployments_api_key_id_fkey`.execute(db)
  for (const [index, { name, project }] of work.entries()) {
    await sql`
      INSERT INTO deployments (id, project_id, server_id, queued_at, version, is_forced, entrypoint, source_type,
        sealed_key, env_names, secrets, api_key_id)
      VALUES (${name}, ${project.id}, ${SERVER}, now() + make_interval(secs => ${index}), '1', false, 'app.ts', 'file',
        '', '{}', '', 'none')`.execute(db)
  }
  const turns: (string | undefined)[] = []
  for (const _ of TURNS) turns.push((await beginBuild(db, SERVER))?.id)
  assert.deepEqual(turns, TURNS)
})

test('health checks of logins', async () => {
  const names = new Map<string, string>()
  for (const [index, { name, project }] of work.entries()) {
    const profile = `profile ${index}`
    await sql`INSERT INTO profiles (id, project_id, name) VALUES (${profile}, ${project.id}, ${profile})`.execute(
      db,
    )
    const id = (await insertConnection(db, {
      project_id: project.id,
      domain: `a${index}.example`,
      allowed_domains: [],
      profile_id: profile,
      save_credentials: true,
      record_session: false,
      health_checks: true,
      health_check_interval: 3_600,
      auto_reauth: true,
      telemetry_age: 'opt-in',
    }))!
    names.set(id, name)
    await sql`UPDATE auth_connections SET memory = '', next_check_at = now() - make_interval(secs => ${10 - index})
      WHERE id = ${id}`.execute(db)
  }
  const turns: (string | undefined)[] = []
  for (const _ of TURNS) {
    const id = await claimDue(db, { serverId: SERVER, seconds: 60 })
    turns.push(id === undefined ? undefined : names.get(id))
  }
  assert.deepEqual(turns, TURNS)
})
