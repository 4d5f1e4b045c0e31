// How long creates hold the lock of the organisation, by the number of live sessions, and what servers ask for all the time
// when there are many.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Owner } from '../../../tests/fixtures/cleanup.ts'
import { createSession, send } from '../../../tests/fixtures/sessions.ts'
import { costBetween, Meter, resetStatements, statements, type Statement } from './meter.ts'
import { startRig, STILL } from './rig.ts'

export interface LockReadings {
  readonly live: number
  /** Of the statement that counts, which runs with the lock: by the clock. */
  readonly countMs: number
  /** Processor time of PostgreSQL for a create and a delete. */
  readonly databaseMs: number
  /** The others of that transaction. */
  readonly otherMs: number
  /** What a server without sessions of its own asks. */
  readonly idle: Statement[]
}

export async function measureLock(
  owner: Owner,
  { steps, creates, idleMs }: { steps: readonly number[]; creates: number; idleMs: number },
): Promise<LockReadings[]> {
  const rig = await startRig(owner)
  const server = await rig.startServer()
  const pattern = await createSession(server, STILL)
  const readings: LockReadings[] = []
  let live = 1
  for (const step of steps) {
    await addSessions(rig.sql, pattern.session_id, { from: live, to: step })
    live = step
    // As in a database that has had them for long.
    await rig.sql.query('VACUUM ANALYZE browsers')
    await resetStatements(rig.sql)
    await pause(idleMs)
    const idle = await statements(rig.sql)
    await resetStatements(rig.sql)
    const meter = new Meter(rig, server)
    const before = await meter.read()
    for (let count = 0; count < creates; count++) {
      const { session_id } = await createSession(server, STILL)
      await send(server, 'DELETE', `/browsers/${session_id}`)
    }
    const { databaseMs } = costBetween(before, await meter.read(), { count: creates })
    const asked = await statements(rig.sql, 100)
    const mean = (part: RegExp) => asked.find(({ query }) => part.test(query))?.meanMs ?? Number.NaN
    const countMs = mean(/ofOrganization/)
    const otherMs = mean(/^\s*insert into "browsers"/i) + mean(/"organization".*for no key update/i)
    readings.push({ live, countMs, databaseMs, otherMs, idle })
  }
  await server.stop()
  return readings
}

/** Rows of another server, which lives: only PostgreSQL knows of them. */
async function addSessions(
  sql: Client,
  pattern: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const { rows } = await sql.query<{ column_name: string }>(
    `SELECT column_name FROM information_schema.columns
      WHERE table_name = 'browsers' AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'server_id', 'instance_id')`,
  )
  const columns = rows.map(({ column_name }) => `"${column_name}"`).join(', ')
  await sql.query(
    `INSERT INTO servers (id, address) VALUES ('srv0000000000000000000other', NULL)
      ON CONFLICT (id) DO UPDATE SET seen_at = now()`,
  )
  await sql.query(
    `UPDATE servers SET seen_at = now() + interval '1 day' WHERE id = 'srv0000000000000000000other'`,
  )
  await sql.query(
    `INSERT INTO browsers (id, server_id, instance_id, ${columns})
      SELECT 'x' || lpad(number::text, 23, '0'), 'srv0000000000000000000other', NULL, ${columns}
      FROM browsers, generate_series(${from}, ${to - 1}) AS number WHERE browsers.id = '${pattern}'`,
  )
}
