// Login flows over kills and several servers: each ends in a documented state, and the profile is the old one or the
// new one. The sites and instances are fake; an instance ends with its server.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  begin,
  connect,
  follow,
  loggedIn,
  makeDue,
  reaches,
  read,
  submit,
  timeline,
} from '../fixtures/auth-connections.ts'
import { eventually } from '../fixtures/host.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'
import { sample } from '../tiers.ts'

const masterKey = Buffer.alloc(32, 9).toString('base64')
const firstKey = 'sk_flows0000000_abcdefghijklmnopqrstuvwxyz012345'
const LEASE_SECONDS = '2'

async function startFleet(t: TestContext) {
  const database = await newDatabase(t)
  const start = (env: Record<string, string> = {}) =>
    startServer(t, {
      env: {
        DATABASE_URL: database.url,
        BERTH_MASTER_KEY: masterKey,
        BERTH_API_KEY: firstKey,
        BERTH_LEASE_SECONDS: LEASE_SECONDS,
        ...env,
      },
    })
  return { start }
}

const killed = ({ process }: TestServer, at: string) =>
  eventually(`a kill at ${at}`, () => process.signalCode === 'SIGKILL')

const steps = (events: Record<string, unknown>[]) =>
  events.filter(({ event }) => event === 'managed_auth_state').map(({ flow_step }) => flow_step)

const typed = { field_values: { email: 'me@site.example', password: 'right' } }

test('any server accepts submissions and streams events for a flow that another one runs', async (t) => {
  const { start } = await startFleet(t)
  const [owner, other] = await Promise.all([start(), start()])
  const { id } = await connect(owner, 'code')
  await begin(owner, id)
  const streams = [follow(owner, id), follow(other, id), follow(other, id)]
  await reaches(other, id, 'AWAITING_INPUT')
  assert.equal((await submit(other, id, typed)).status, 202)
  await eventually('the code is asked for', async () => (await read(other, id)).fields?.[0]?.id === 'code')
  assert.equal((await submit(other, id, { field_values: { code: '123456' } })).status, 202)
  // A stream reports the state that it reads, so it may miss a short one. It never reports states in a wrong order.
  const path = ['AWAITING_INPUT', 'SUBMITTING', 'AWAITING_INPUT', 'SUBMITTING', 'COMPLETED']
  for (const events of await Promise.all(streams)) {
    assert.equal(events.at(-1)!['flow_status'], 'SUCCESS')
    const told = steps(events).filter((step) => path.includes(String(step)))
    const seen = told.filter((step, index) => step !== told[index - 1])
    const rest = path.values()
    assert.ok(
      seen.every((step) => rest.some((next) => next === step)),
      seen.join(),
    )
    assert.equal(seen.at(-1), 'COMPLETED')
  }
  // A cancel reaches the flow on any server, and so does a new login.
  const slow = await connect(owner, 'slow')
  await begin(owner, slow.id)
  await eventually('it has a browser', async () => Boolean((await read(other, slow.id)).browser_session_id))
  const { browser_session_id: session } = await read(other, slow.id)
  await send(other, 'POST', `/auth/connections/${slow.id}/cancel`)
  await eventually(
    'its session has ended',
    async () => (await send(owner, 'GET', `/browsers/${session}`)).status === 404,
  )
})

test('a connection is checked once, by one of several servers', async (t) => {
  const { start } = await startFleet(t)
  const servers = await Promise.all([start(), start(), start()])
  const [first] = servers
  const ids: string[] = []
  for (let count = 0; count < 6; count++) ids.push((await loggedIn(first, 'plain')).id)
  await query(first, 'UPDATE auth_connections SET next_check_at = now()')
  await query(first, "SELECT pg_notify('berth_changes', $1)", [`auth-connection:${ids[0]}:`])
  const checks = async () => query<{ connection_id: string }>(first, 'SELECT connection_id FROM auth_checks')
  await eventually('all are checked', async () => (await checks()).length >= ids.length)
  // Another round of every server, which finds nothing to do.
  for (const id of ids)
    await query(first, "SELECT pg_notify('berth_changes', $1)", [`auth-connection:${id}:`])
  await delay(500)
  assert.deepEqual((await checks()).map((row) => row.connection_id).toSorted(), ids.toSorted())
})

test('scheduled checks run after a restart', async (t) => {
  const dataDir = tempDir(t)
  const before = await startServer(t, { dataDir })
  const { id } = await loggedIn(before, 'out')
  await query(before, "UPDATE auth_connections SET next_check_at = now() + interval '1 s'")
  await before.stop('SIGKILL')
  const server = await startServer(t, { dataDir })
  await eventually('it has logged in again', async () => {
    const [newest] = await timeline(server, id)
    return newest!.type === 'reauth' && newest!.status === 'SUCCESS'
  })
})

/** A fake instance ends with its server, so anything unsaved is lost. */
const points: { at: string; site: string; ends: readonly string[]; isSaved: boolean }[] = [
  { at: 'login-flow-begun', site: 'plain', ends: ['IN_PROGRESS'], isSaved: false },
  { at: 'browser-reserved', site: 'plain', ends: ['IN_PROGRESS'], isSaved: false },
  { at: 'browser-started', site: 'plain', ends: ['IN_PROGRESS'], isSaved: false },
  { at: 'login-browser-created', site: 'plain', ends: ['browser_error'], isSaved: false },
  { at: 'login-submission-taken', site: 'plain', ends: ['internal_error'], isSaved: false },
  { at: 'login-succeeded', site: 'plain', ends: ['internal_error'], isSaved: false },
  { at: 'login-outcome-kept', site: 'plain', ends: ['browser_error'], isSaved: false },
  { at: 'profile-stored', site: 'plain', ends: ['browser_error'], isSaved: false },
  { at: 'profile-committed', site: 'plain', ends: ['SUCCESS'], isSaved: true },
  { at: 'login-profile-saved', site: 'plain', ends: ['SUCCESS'], isSaved: true },
  { at: 'login-settled', site: 'plain', ends: ['SUCCESS'], isSaved: true },
  { at: 'login-failed', site: 'captcha', ends: ['captcha_blocked'], isSaved: false },
]

for (const { at, site, ends, isSaved } of sample(points, 'loginCrashPoints')) {
  test(`a kill at ${at} leaves ${ends.join(' or ')}`, async (t) => {
    const dataDir = tempDir(t)
    const doomed = await startServer(t, { dataDir, env: { BERTH_CRASH_AT: at } })
    const { id, profile_name } = await connect(doomed, site)
    const go = async () => {
      await begin(doomed, id)
      await reaches(doomed, id, 'AWAITING_INPUT')
      await submit(doomed, id, typed)
    }
    await go().catch(() => {})
    await killed(doomed, at)
    const server = await startServer(t, { dataDir })
    const outcome = async () => {
      const { flow_status, error_code } = await read(server, id)
      return error_code ?? flow_status ?? ''
    }
    await eventually(`it is ${ends.join(' or ')}`, async () => ends.includes(await outcome()))
    const profile = await send<{ version?: number }>(server, 'GET', `/profiles/${profile_name}`)
    assert.equal(profile.body.version, isSaved ? 1 : undefined)
    const { status } = await read(server, id)
    assert.equal(status, isSaved ? 'AUTHENTICATED' : 'NEEDS_AUTH')
    // A person can continue from any of these states.
    if ((await outcome()) === 'IN_PROGRESS') await reaches(server, id, 'AWAITING_INPUT')
    else await begin(server, id)
    if (site === 'captcha') return
    const { flow_step } = await eventuallyAsked(server, id)
    if (flow_step === 'AWAITING_INPUT') await submit(server, id, typed)
    await reaches(server, id, 'SUCCESS')
    const left = await query(server, 'SELECT id FROM auth_flows WHERE finished_at IS NULL')
    assert.deepEqual(left, [])
  })
}

/** With a stored credential it asks for nothing. */
async function eventuallyAsked(server: TestServer, id: string) {
  await eventually('it goes on', async () => {
    const { flow_step, flow_status } = await read(server, id)
    return flow_step === 'AWAITING_INPUT' || flow_status === 'SUCCESS'
  })
  return read(server, id)
}

test('a kill during a health check leaves nothing of it, and it runs again', async (t) => {
  for (const at of ['login-check-claimed', 'login-check-done']) {
    const dataDir = tempDir(t)
    const doomed = await startServer(t, { dataDir, env: { BERTH_CRASH_AT: at } })
    const { id } = await loggedIn(doomed, 'plain')
    await makeDue(doomed, id)
    await killed(doomed, at)
    const server = await startServer(t, { dataDir })
    await eventually('it is checked', async () => (await timeline(server, id))[0]!.type === 'health_check')
    assert.equal((await timeline(server, id)).length, 2)
    await server.stop()
  }
})

test('flows of a server that never returns are ended by another', { timeout: 120_000 }, async (t) => {
  const { start } = await startFleet(t)
  const [doomed, other] = await Promise.all([start(), start()])
  const { id } = await connect(doomed, 'plain')
  await begin(doomed, id)
  await reaches(other, id, 'AWAITING_INPUT')
  await doomed.stop('SIGKILL')
  const ended = await reaches(other, id, 'FAILED', 60_000)
  assert.equal(ended.error_code, 'browser_error')
  assert.match(ended.error_message!, /was lost/)
  await begin(other, id)
  await reaches(other, id, 'AWAITING_INPUT')
})

test('a flow ends at the timeout of its wait for input, or at its total timeout', async (t) => {
  const server = await startServer(t, { env: { BERTH_LOGIN_WAIT_SECONDS: '1', BERTH_LOGIN_SECONDS: '3' } })
  const waiting = await connect(server, 'plain')
  await begin(server, waiting.id)
  await reaches(server, waiting.id, 'AWAITING_INPUT')
  const late = await reaches(server, waiting.id, 'EXPIRED')
  assert.equal(late.error_code, 'awaiting_input_timeout')
  assert.equal((await submit(server, waiting.id, typed)).status, 422)
  const slow = await connect(server, 'slow')
  await begin(server, slow.id)
  const over = await reaches(server, slow.id, 'EXPIRED')
  assert.equal(over.error_code, 'session_expired')
  assert.equal(over.status, 'NEEDS_AUTH')
})

test('a server that stops leaves its flows to the next one, or ends them with its sessions', async (t) => {
  const dataDir = tempDir(t)
  const first = await startServer(t, { dataDir })
  const { id } = await connect(first, 'plain')
  await begin(first, id)
  await reaches(first, id, 'AWAITING_INPUT')
  await first.stop('SIGINT')
  const second = await startServer(t, { dataDir })
  const ended = await reaches(second, id, 'FAILED')
  assert.match(ended.error_message!, /server was stopped/)
})

test('old flows are removed, except the latest of a connection', async (t) => {
  const dataDir = tempDir(t)
  const first = await startServer(t, { dataDir })
  const { id } = await loggedIn(first, 'plain')
  await send(first, 'POST', `/auth/connections/${id}/check`)
  await begin(first, id)
  await reaches(first, id, 'SUCCESS')
  const gone = await loggedIn(first, 'plain')
  await send(first, 'DELETE', `/auth/connections/${gone.id}`)
  assert.equal((await timeline(first, id)).length, 3)
  const year = "interval '1 year'"
  await query(
    first,
    `UPDATE auth_flows SET created_at = created_at - ${year}, finished_at = finished_at - ${year}`,
  )
  await query(first, `UPDATE auth_checks SET created_at = created_at - ${year}`)
  await query(first, `UPDATE auth_connections SET deleted_at = deleted_at - ${year}`)
  await first.stop()
  const second = await startServer(t, { dataDir })
  await eventually('the clean-up was at it', async () => (await timeline(second, id)).length === 1)
  assert.equal((await read(second, id)).flow_status, 'SUCCESS')
  await eventually('nothing is left of the other', async () => {
    return (await query(second, 'SELECT id FROM auth_connections WHERE id = $1', [gone.id])).length === 0
  })
})
