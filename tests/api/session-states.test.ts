// The state table of a session against a real PostgreSQL: what `transition` stores, and what the database refuses.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { Client, DatabaseError } from 'pg'
import { newId } from '@berth/kit/ids'
import { migrate } from '@berth/server/platform/database/migrate'
import { migrations } from '@berth/server/platform/database/migrations/index'
import {
  endUnready,
  states,
  transition,
  transitionAll,
  transitions,
  type Move,
  type State,
} from '@berth/server/sessions/browsers/state'
import {
  findBrowserById,
  insertBrowser,
  keepUse,
  type SessionUse,
} from '@berth/server/sessions/browsers/store'
import { insertProject } from '@berth/server/tenancy/projects/store'
import { startDatabase } from '../fixtures/database.ts'
import { startPostgres } from '../fixtures/postgres.ts'

const { db, pool } = await startDatabase({ after })
const { id: projectId } = await insertProject(db, 'Mine', true)
await sql`INSERT INTO servers (id) VALUES ('s')`.execute(db)
await sql`INSERT INTO profiles (id, project_id, name) VALUES ('profile', ${projectId}, 'of tests')`.execute(
  db,
)

/** A session that looks as if it had always been in that state. */
async function sessionIn(state: State): Promise<string> {
  const { id } = await insertBrowser(
    db,
    {
      projectId,
      name: null,
      tags: {},
      headless: true,
      stealth: false,
      gpu: false,
      kioskMode: false,
      timeoutSeconds: 60,
      standbyAfterSeconds: null,
      viewport: { width: 800, height: 600, refreshRate: 25 },
      startUrl: null,
      proxyId: null,
      isDefaultProxyDisabled: false,
      privateHosts: null,
      region: 'us-east',
      memoryMb: 2048,
      locale: null,
      timezone: null,
      hasChromePolicy: false,
      telemetry: null,
    },
    { id: newId(), serverId: 's', instanceId: newId() },
  )
  for (const step of ways[state]) assert.ok(await transition(db, id, moveTo(step)))
  return id
}

const ways: Readonly<Record<State, readonly State[]>> = {
  starting: [],
  ready: ['ready'],
  standby: ['ready', 'standby'],
  ending: ['ready', 'ending'],
  ended: ['ready', 'ending', 'ended'],
}

function moveTo(to: State): Move {
  if (to === 'ending') return { to, reason: 'deleted', uptimeMs: 7 }
  // SAFETY: no transition leads to starting, which this test shows.
  return { to } as Move
}

function refusedBy(error: unknown): string | undefined {
  return error instanceof DatabaseError && error.code === '23514' ? error.constraint : undefined
}

async function stored(id: string) {
  return (await findBrowserById(db, id))!
}

for (const from of states) {
  for (const to of states) {
    const isAllowed = transitions[from].includes(to)
    test(`${from} → ${to}: ${isAllowed ? 'stored' : 'refused, and nothing changes'}`, async () => {
      const id = await sessionIn(from)
      const before = await stored(id)
      const outcome = await transition(db, id, moveTo(to))
      const now = await stored(id)
      if (!isAllowed) {
        assert.equal(outcome, undefined)
        assert.deepEqual(now, before)
        return
      }
      assert.deepEqual(outcome, now)
      assert.equal(now.state, to)
      const isOver = to === 'ending' || to === 'ended'
      assert.equal(now.deleted_at !== null, isOver)
      assert.equal(now.end_reason, isOver ? 'deleted' : null)
      assert.equal(now.ended_at !== null, to === 'ended')
      assert.equal(now.uptime_ms, isOver ? '7' : '0')
    })

    test(`${from} → ${to}: the database itself ${isAllowed || from === to ? 'accepts' : 'refuses'} it`, async () => {
      const id = await sessionIn(from)
      const isOver = to === 'ending' || to === 'ended'
      const written = sql`UPDATE browsers SET state = ${to},
          deleted_at = ${isOver ? sql`coalesce(deleted_at, now())` : null}, end_reason = ${isOver ? 'deleted' : null},
          ended_at = ${to === 'ended' ? sql`now()` : null}
        WHERE id = ${id}`.execute(db)
      if (isAllowed || from === to) await written
      else await assert.rejects(written, (error) => refusedBy(error) === 'browsers_transition')
      assert.equal((await stored(id)).state, isAllowed || from === to ? to : from)
    })
  }
}

test('a transition of a session that does not exist changes nothing', async () => {
  assert.equal(await transition(db, newId(), { to: 'ready' }), undefined)
})

test('only one of many parallel transitions is stored, with its own reason', async () => {
  const id = await sessionIn('ready')
  const reasons = ['deleted', 'timed_out', 'crashed', 'lost'] as const
  const outcomes = await Promise.all(reasons.map((reason) => transition(db, id, { to: 'ending', reason })))
  const done = outcomes.filter((outcome) => outcome !== undefined)
  assert.equal(done.length, 1)
  assert.equal((await stored(id)).end_reason, reasons[outcomes.indexOf(done[0])])
})

test('a transition of several sessions changes those that may change, and no others', async () => {
  const ids = new Map<State, string>()
  for (const state of states) ids.set(state, await sessionIn(state))
  const which = db
    .selectFrom('browsers')
    .select('id')
    .where('id', 'in', [...ids.values()])
  const moved = await transitionAll(db, which, { to: 'ending', reason: 'released' })
  assert.deepEqual(
    moved.map(({ id }) => id).toSorted(),
    (['starting', 'ready', 'standby'] as const).map((state) => ids.get(state)!).toSorted(),
  )
  for (const { state, end_reason } of moved) assert.deepEqual([state, end_reason], ['ending', 'released'])
  for (const state of ['ending', 'ended'] as const) {
    const { state: now, end_reason } = await stored(ids.get(state)!)
    assert.deepEqual([now, end_reason], [state, 'deleted'])
  }
})

test('a start that is given up ends only what is still starting', async () => {
  for (const state of states) {
    const id = await sessionIn(state)
    const before = await stored(id)
    const ended = await endUnready(db, id)
    assert.equal(ended?.end_reason, state === 'starting' ? 'start_failed' : undefined, state)
    assert.deepEqual(await stored(id), ended ?? before)
  }
})

test('a start that is given up waits for the transaction that makes the session ready, and follows it', async () => {
  for (const outcome of ['COMMIT', 'ROLLBACK']) {
    const id = await sessionIn('starting')
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await client.query("UPDATE browsers SET state = 'ready' WHERE id = $1", [id])
      const ending = endUnready(db, id)
      await client.query(outcome)
      assert.equal((await ending)?.state, outcome === 'COMMIT' ? undefined : 'ending')
      assert.equal((await stored(id)).state, outcome === 'COMMIT' ? 'ready' : 'ending')
    } finally {
      client.release()
    }
  }
})

async function saveAfter(state: State, reason: 'deleted' | 'crashed') {
  const id = await sessionIn(state)
  await sql`UPDATE browsers SET profile_id = 'profile', profile_save_changes = true WHERE id = ${id}`.execute(
    db,
  )
  await transition(db, id, { to: 'ending', reason })
  const { profile_save, profile_save_message } = await stored(id)
  return [profile_save, profile_save_message]
}

test('a session shows that it is being saved from its end on, unless there is nothing to save', async () => {
  assert.deepEqual(await saveAfter('ready', 'deleted'), ['saving', null])
  assert.deepEqual(await saveAfter('standby', 'deleted'), ['saving', null])
  assert.deepEqual(await saveAfter('ready', 'crashed'), ['failed', 'the session ended as crashed'])
  assert.deepEqual(await saveAfter('starting', 'deleted'), [null, null])
})

test('the facts of a row cannot contradict its state', async () => {
  const id = await sessionIn('ready')
  const refused = (set: string, constraint: string) =>
    assert.rejects(
      sql`UPDATE browsers SET ${sql.raw(set)} WHERE id = ${id}`.execute(db),
      (error) => refusedBy(error) === constraint,
      set,
    )
  await refused("deleted_at = now(), end_reason = 'deleted'", 'browsers_state_deleted')
  await refused("state = 'ending'", 'browsers_state_deleted')
  await refused('ended_at = now()', 'browsers_state_ended')
  await refused("state = 'asleep'", 'browsers_transition')
})

test('only changes that matter to a pool are announced: ready, ended and leased, but not standby', async (t) => {
  await sql`INSERT INTO browser_pools (id, project_id, size, fill_rate_per_minute, timeout_seconds,
      refresh_on_profile_update, browser) VALUES ('pool', ${projectId}, 1, 0, 60, false, '{}')`.execute(db)
  const id = await sessionIn('starting')
  await sql`UPDATE browsers SET pool_id = 'pool' WHERE id = ${id}`.execute(db)
  const client = await pool.connect()
  t.after(() => client.release(true))
  const heard: string[] = []
  client.on('notification', ({ payload }) => heard.push(payload!))
  await client.query('LISTEN berth_changes')
  const heardAfter = async (change: () => Promise<unknown>) => {
    heard.length = 0
    await change()
    await client.query('SELECT 1')
    return heard.length
  }
  assert.equal(await heardAfter(() => transition(db, id, { to: 'ready' })), 1)
  assert.equal(await heardAfter(() => transition(db, id, { to: 'standby' })), 0)
  assert.equal(await heardAfter(() => transition(db, id, { to: 'ready' })), 0)
  assert.equal(
    await heardAfter(() => sql`UPDATE browsers SET leased_at = now() WHERE id = ${id}`.execute(db)),
    1,
  )
  assert.equal(await heardAfter(() => transition(db, id, { to: 'ending', reason: 'deleted' })), 1)
  assert.equal(await heardAfter(() => transition(db, id, { to: 'ended' })), 0)
})

test('rows of an earlier version get the state that their columns meant', async (t) => {
  const { url } = await startPostgres(t)
  await migrate({ connectionString: url }, migrations.slice(0, 12))
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(
    `INSERT INTO projects (id, name) VALUES ('p', 'p'); INSERT INTO servers (id) VALUES ('s')`,
  )
  await client.query(
    `INSERT INTO browser_pools (id, project_id, size, fill_rate_per_minute, timeout_seconds,
       refresh_on_profile_update, browser) VALUES ('pool', 'p', 1, 0, 60, false, '{}')`,
  )
  const old = [
    { id: 'starting', is_starting: true },
    { id: 'ready', is_starting: false },
    { id: 'leased', is_starting: false, pool_id: 'pool', tenure: 3, leased_at: new Date() },
    { id: 'saving', is_starting: false, end_reason: 'deleted', profile_save: 'saving' },
    { id: 'saved', is_starting: false, end_reason: 'deleted', profile_save: 'saved' },
    { id: 'unsaved', is_starting: false, end_reason: 'crashed', profile_save: null },
  ]
  for (const { id, is_starting, end_reason, profile_save, pool_id, tenure = 0, leased_at } of old) {
    await client.query(
      `INSERT INTO browsers (id, project_id, headless, stealth, gpu, kiosk_mode, timeout_seconds, viewport_width,
         viewport_height, viewport_refresh_rate, has_chrome_policy, server_id, is_starting, deleted_at, end_reason,
         profile_save, pool_id, tenure, leased_at)
       VALUES ($1, 'p', true, false, false, false, 60, 800, 600, 25, false, 's', $2, $3, $4, $5, $6, $7, $8)`,
      [id, is_starting, end_reason && new Date(), end_reason, profile_save, pool_id, tenure, leased_at],
    )
  }
  await migrate({ connectionString: url })
  const { rows } = await client.query<{ id: string; state: State; lease_number: number; is_same: boolean }>(
    `SELECT id, state, lease_number, deleted_at IS NOT DISTINCT FROM ended_at AS is_same FROM browsers`,
  )
  await client.end()
  const stateOf = Object.fromEntries(rows.map(({ id, state }) => [id, state]))
  assert.deepEqual(stateOf, {
    starting: 'starting',
    ready: 'ready',
    leased: 'ready',
    saving: 'ending',
    saved: 'ended',
    unsaved: 'ended',
  })
  assert.equal(rows.find(({ id }) => id === 'leased')?.lease_number, 3)
  for (const { id, is_same } of rows) assert.equal(is_same, id !== 'saving', id)
})

test('what a session uses is kept in its row, and its last wake stays when its server starts again', async () => {
  const id = await sessionIn('standby')
  const kept = async (use: Omit<SessionUse, 'id'>) => {
    await keepUse(db, [{ id, ...use }])
    const { uptime_ms, standby_depth, resident_bytes, last_wake_ms } = await stored(id)
    return [uptime_ms, standby_depth, resident_bytes, last_wake_ms]
  }
  const deep = { uptimeMs: 5, depth: 'deep', residentBytes: 20_000_000, lastWakeMs: 150 } as const
  assert.deepEqual(await kept(deep), ['5', 'deep', '20000000', 150])
  assert.deepEqual(await kept({ ...deep, residentBytes: 6e9 }), ['5', 'deep', '6000000000', 150])
  const unknown = { depth: undefined, residentBytes: undefined, lastWakeMs: undefined }
  assert.deepEqual(await kept({ uptimeMs: 5, ...unknown }), ['5', null, null, 150])
})
