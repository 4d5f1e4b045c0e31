// The state table of a login flow against a real PostgreSQL: what `transition` stores, and what the database refuses.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { Client, DatabaseError } from 'pg'
import { newId } from '@berth/kit/ids'
import { findFlow, insertFlow, transition } from '@berth/server/logins/connections/flow-store'
import { insertConnection } from '@berth/server/logins/connections/store'
import {
  after as stateAfter,
  flowEvents,
  flowStates,
  transitions,
  type FlowEvent,
  type FlowState,
} from '@berth/server/logins/connections/transitions'
import { migrate } from '@berth/server/platform/database/migrate'
import { migrations } from '@berth/server/platform/database/migrations/index'
import { inTransaction } from '@berth/server/platform/database/transaction'
import { insertProject } from '@berth/server/tenancy/projects/store'
import { startDatabase } from '../fixtures/database.ts'
import { startPostgres } from '../fixtures/postgres.ts'

const { db, pool } = await startDatabase({ after })
const { id: projectId } = await insertProject(db, 'Mine', true)
await sql`INSERT INTO servers (id) VALUES ('s')`.execute(db)
await sql`INSERT INTO profiles (id, project_id, name) VALUES ('profile', ${projectId}, 'of tests')`.execute(
  db,
)

let connections = 0
async function flowIn(state: FlowState): Promise<string> {
  const connectionId = (await insertConnection(db, {
    project_id: projectId,
    domain: `${++connections}.example`,
    allowed_domains: [],
    profile_id: 'profile',
    save_credentials: true,
    record_session: false,
    health_checks: true,
    health_check_interval: 3_600,
    auto_reauth: true,
    telemetry_age: 'opt-in',
  }))!
  const { id } = await insertFlow(
    db,
    {
      id: newId(),
      connection_id: connectionId,
      type: 'LOGIN',
      server_id: 's',
      is_recorded: false,
      telemetry_age: 'opt-in',
      handoff_hash: Buffer.from('hash'),
      handoff_code: Buffer.from('code'),
    },
    { totalSeconds: 600 },
  )
  for (const event of ways[state]) assert.ok(await move(id, event))
  return id
}

const ways: Readonly<Record<FlowState, readonly FlowEvent[]>> = {
  DISCOVERING: [],
  AWAITING_INPUT: ['asks'],
  AWAITING_EXTERNAL_ACTION: ['awaits_action'],
  SUBMITTING: ['submits'],
  SAVING: ['submits', 'saves'],
  SUCCESS: ['submits', 'saves', 'succeeds'],
  FAILED: ['fails'],
  EXPIRED: ['expires'],
  CANCELED: ['is_canceled'],
}

function move(id: string, event: FlowEvent) {
  const outcome = event === 'saves' ? { outcome: Buffer.from('sealed') } : {}
  return inTransaction(pool, ({ db: tx }) => transition(tx, id, event, outcome, { waitSeconds: 60 }))
}

const stored = async (id: string) => (await findFlow(db, id))!

function refusedBy(error: unknown): string | undefined {
  return error instanceof DatabaseError && error.code === '23514' ? error.constraint : undefined
}

for (const from of flowStates) {
  for (const event of flowEvents) {
    const to = stateAfter({ state: from }, event)
    test(`${from} ${event}: ${to ? `stored as ${to}` : 'refused, and nothing changes'}`, async () => {
      const id = await flowIn(from)
      const before = await stored(id)
      const outcome = await move(id, event)
      const now = await stored(id)
      if (!to) {
        assert.equal(outcome, undefined)
        assert.deepEqual(now, before)
        return
      }
      assert.deepEqual(outcome, now)
      assert.equal(now.state, to)
      assert.equal(now.finished_at !== null, stateAfter({ state: to }, 'fails') === undefined)
      assert.equal(now.outcome !== null, to === 'SAVING')
      // Announced once: not for the same state again, and not while nothing of it is visible.
      const isTold = to !== from && to !== 'SAVING'
      assert.equal(now.version, before.version + (isTold ? 1 : 0))
      if (!isTold) assert.deepEqual([now.step, now.question], [before.step, before.question])
    })
  }

  for (const to of flowStates) {
    const isAllowed = from === to || Object.values(transitions[from]).includes(to)
    test(`${from} → ${to}: the database itself ${isAllowed ? 'accepts' : 'refuses'} it`, async () => {
      const id = await flowIn(from)
      const { step } = await stored(id)
      const isEnd = ['SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED'].includes(to)
      const steps = ['DISCOVERING', 'AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION', 'SUBMITTING']
      const reached = step === 'COMPLETED' ? 'SUBMITTING' : step
      const shown = to === 'SUCCESS' ? 'COMPLETED' : steps.includes(to) ? to : reached
      const written = sql`UPDATE auth_flows SET state = ${to}, step = ${shown},
          finished_at = ${isEnd ? sql`now()` : null}, outcome = ${to === 'SAVING' ? Buffer.from('sealed') : null}
        WHERE id = ${id}`.execute(db)
      if (isAllowed) await written
      else await assert.rejects(written, (error) => refusedBy(error) === 'auth_flows_transition')
      assert.equal((await stored(id)).state, isAllowed ? to : from)
    })
  }
}

test('if a flow is ended several times in parallel, the first end counts', async () => {
  const id = await flowIn('AWAITING_INPUT')
  const events = ['fails', 'expires', 'is_canceled', 'is_dropped', 'saves'] as const
  const outcomes = await Promise.all(events.map((event) => move(id, event)))
  const { state } = await stored(id)
  const first = outcomes.filter((flow) => flow !== undefined)
  // A saved flow may still fail or be dropped, and nothing else.
  assert.ok(first.length === 1 || first.some((flow) => flow.state === 'SAVING'), JSON.stringify(first))
  assert.ok(first.some((flow) => flow.state === state))
})

test('only one of two parallel answers is accepted', async () => {
  const id = await flowIn('AWAITING_INPUT')
  const outcomes = await Promise.all([move(id, 'is_answered'), move(id, 'is_answered')])
  assert.equal(outcomes.filter((flow) => flow !== undefined).length, 1)
  assert.equal((await stored(id)).state, 'SUBMITTING')
})

test('the facts of a flow cannot contradict its state', async () => {
  const id = await flowIn('SUBMITTING')
  const refused = (set: string, constraint: string) =>
    assert.rejects(
      sql`UPDATE auth_flows SET ${sql.raw(set)} WHERE id = ${id}`.execute(db),
      (error) => refusedBy(error) === constraint,
      set,
    )
  await refused('finished_at = now()', 'auth_flows_state_finished')
  await refused("state = 'FAILED'", 'auth_flows_state_finished')
  await refused("outcome = ''", 'auth_flows_state_outcome')
  await refused("state = 'SAVING'", 'auth_flows_state_outcome')
  await refused("step = 'COMPLETED'", 'auth_flows_state_step')
})

test('flows of an earlier version get the state that their columns meant, and secrets can be used where they were used before', async (t) => {
  const { url } = await startPostgres(t)
  await migrate({ connectionString: url }, migrations.slice(0, 13))
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`INSERT INTO projects (id, name) VALUES ('p', 'p'); INSERT INTO servers (id) VALUES ('s');
    INSERT INTO profiles (id, project_id) VALUES ('profile', 'p')`)
  const old = [
    ['IN_PROGRESS', 'DISCOVERING', false],
    ['IN_PROGRESS', 'AWAITING_INPUT', false],
    ['IN_PROGRESS', 'AWAITING_EXTERNAL_ACTION', false],
    ['IN_PROGRESS', 'SUBMITTING', false],
    ['IN_PROGRESS', 'SUBMITTING', true],
    ['SUCCESS', 'COMPLETED', false],
    ['FAILED', 'SUBMITTING', false],
    ['EXPIRED', 'AWAITING_INPUT', false],
    ['CANCELED', 'DISCOVERING', false],
  ] as const
  for (const [index, [status, step, hasOutcome]] of old.entries()) {
    await client.query(
      `INSERT INTO auth_connections (id, project_id, domain, profile_id, save_credentials, record_session,
         health_checks, health_check_interval, auto_reauth, telemetry_age)
       VALUES ($1, 'p', $1, 'profile', true, false, true, 3600, true, 'opt-in')`,
      [String(index)],
    )
    await client.query(
      `INSERT INTO auth_flows (id, connection_id, type, status, step, server_id, expires_at, deadline_at, is_recorded,
         telemetry_age, outcome, finished_at)
       VALUES ($1, $1, 'LOGIN', $2, $3, 's', now(), now(), false, 'opt-in', $4, $5)`,
      [String(index), status, step, hasOutcome ? '' : null, status === 'IN_PROGRESS' ? null : new Date()],
    )
  }
  await client.query(`INSERT INTO projects (id, name, is_default) VALUES ('main', 'main', true), ('other', 'other', false);
    INSERT INTO credentials (id, project_id, name, domain, sealed_values) VALUES ('c', 'p', 'mine', 'a.com', ''),
      ('d', 'other', 'mine', 'b.com', '');
    INSERT INTO credential_providers (id, name, provider_type, sealed_token, priority, cache_ttl_seconds)
      VALUES ('used', 'used', 'onepassword', '', 0, 0), ('unused', 'unused', 'onepassword', '', 0, 0);
    UPDATE auth_connections SET credential = '{"name": "mine"}', allowed_domains = '{sso.com}',
      learned_login_url = 'https://login.com:8443/in?x' WHERE id = '0';
    UPDATE auth_connections SET credential = '{"provider": "used", "auto": true}' WHERE id = '1'`)
  await migrate({ connectionString: url })
  const { rows } = await client.query<{ state: FlowState; step: string }>(
    'SELECT state, step FROM auth_flows ORDER BY id',
  )
  const lists = await client.query<{ id: string; list: string[] }>(
    `SELECT id, project_ids AS list FROM credential_providers UNION ALL SELECT id, allowed_domains FROM credentials
     ORDER BY id`,
  )
  assert.deepEqual(
    lists.rows.map(({ id, list }) => [id, ...list.toSorted()]),
    [['c', '0', 'login.com:8443', 'sso.com'], ['d'], ['unused', 'main'], ['used', 'main', 'p']],
  )
  await client.end()
  const meant = old.map(([status, step, hasOutcome]) => ({
    state: status === 'IN_PROGRESS' ? (hasOutcome ? 'SAVING' : step) : status,
    step,
  }))
  assert.deepEqual(rows, meant)
})
