// The overview: what runs now, what ran lately, what failed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Overview } from '@berth/contracts/overview'
import { createPool, filled } from '../fixtures/pools.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'

const DAY_MS = 24 * 3_600_000

async function overview(server: TestServer, path = '', key?: string): Promise<Overview> {
  const response = await server.fetch(`/overview${path}`, key === undefined ? {} : { key })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text) as Overview
}

async function make(server: TestServer, path: string, body: object): Promise<{ id: string; key: string }> {
  const answer = await send<{ id: string; key: string }>(server, 'POST', path, body)
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
  return answer.body
}

/** `count` ended sessions of one day, as the server stores them. */
async function addEnded(
  server: TestServer,
  { project, count = 1, daysAgo, reason = 'deleted', uptimeMs = 60_000, prefix }: Ended,
): Promise<void> {
  await query(server, "INSERT INTO servers (id) VALUES ('srv_of_the_past') ON CONFLICT DO NOTHING")
  await query(
    server,
    `INSERT INTO browsers (id, project_id, name, headless, stealth, gpu, kiosk_mode, timeout_seconds, viewport_width,
        viewport_height, viewport_refresh_rate, server_id, state, uptime_ms, created_at, deleted_at, ended_at, end_reason)
      SELECT $1 || n, $2, $1 || n, true, false, false, false, 60, 1280, 720, 60, 'srv_of_the_past', 'ended', $3, at, at, at, $4
      FROM generate_series(1, $5::int) AS n,
        LATERAL (SELECT now() - make_interval(days => $6::int) - make_interval(secs => n * 0.001)) AS times (at)`,
    [prefix, project, uptimeMs, reason, count, daysAgo],
  )
}

interface Ended {
  readonly project: string
  readonly count?: number
  readonly daysAgo: number
  readonly reason?: string
  readonly uptimeMs?: number
  readonly prefix: string
}

const server = await startServer({ after })
const [first] = await query<{ id: string }>(server, 'SELECT id FROM projects')

test('sessions are counted by what they do, and places by the limits', async (t) => {
  const own = await startServer(t, {
    env: { BERTH_MAX_CONCURRENT_SESSIONS: '9', BERTH_MAX_POOLED_SESSIONS: '4' },
  })
  await createSession(own)
  await createSession(own, { headless: false })
  const { session_id: frozen } = await createSession(own)
  await query(own, "UPDATE browsers SET state = 'standby' WHERE id = $1", [frozen])
  const pool = await createPool(own, { name: 'pool', size: 2, headless: true })
  await filled(own, pool, 2)
  const { capacity, failures } = await overview(own)
  assert.deepEqual(capacity.sessions.starting, { headless: 0, headful: 0 })
  assert.equal(capacity.sessions.in_use.headful, 1)
  assert.equal(capacity.sessions.in_use.headless + capacity.sessions.standby.headless, 2)
  assert.deepEqual(capacity.sessions.idle_in_pools, { headless: 2, headful: 0 })
  assert.deepEqual(capacity.places, {
    used: 5,
    max: 9,
    project_max: null,
    pooled_used: 2,
    pooled_max: 4,
    project_pooled_max: null,
  })
  for (const kind of ['headless', 'headful', 'empty'] as const) {
    assert.equal(typeof capacity.warm[kind].wanted, 'number')
    assert.ok(capacity.warm[kind].ready <= capacity.warm[kind].wanted)
  }
  assert.deepEqual(failures, [])
})

test('days are in UTC, complete, and count a session for the day of its creation', async () => {
  await addEnded(server, { project: first!.id, count: 3, daysAgo: 2, uptimeMs: 90_000, prefix: 'two-days' })
  await addEnded(server, { project: first!.id, daysAgo: 8, prefix: 'too-old' })
  const { days } = await overview(server, '?days=7')
  const dates = Array.from({ length: 7 }, (_, index) =>
    new Date(Date.now() - (6 - index) * DAY_MS).toISOString().slice(0, 10),
  )
  assert.deepEqual(
    days.map(({ date }) => date),
    dates,
  )
  assert.equal(
    days.reduce((sum, day) => sum + day.sessions, 0),
    3,
  )
  assert.equal(
    days.reduce((sum, day) => sum + day.minutes, 0),
    4.5,
  )
  assert.equal((await overview(server)).days.length, 30)
  assert.equal((await overview(server, '?days=1')).days.length, 1)
  for (const wrong of ['0', '91', 'x', '1.5']) {
    const answer = await send(server, 'GET', `/overview?days=${wrong}`)
    assert.equal(answer.status, 400)
    assert.match(answer.body.message!, /days/)
  }
})

test('the last 20 failures are listed, and no end that somebody asked for', async (t) => {
  const own = await startServer(t)
  const [project] = await query<{ id: string }>(own, 'SELECT id FROM projects')
  const add = (reason: string, count: number, daysAgo: number) =>
    addEnded(own, { project: project!.id, count, daysAgo, reason, prefix: `${reason}-` })
  await add('crashed', 15, 3)
  for (const reason of ['out_of_memory', 'start_failed', 'lost']) await add(reason, 3, 1)
  for (const reason of ['deleted', 'timed_out', 'released', 'server_stopped']) await add(reason, 2, 0)
  const { failures } = await overview(own)
  assert.equal(failures.length, 20)
  const reasons = failures.map(({ end_reason }) => end_reason)
  assert.equal(reasons.filter((reason) => reason === 'crashed').length, 11)
  assert.equal(reasons.slice(0, 9).includes('crashed'), false, 'the newest are first')
  const newest = failures.find(({ session_id }) => session_id === 'crashed-1')!
  assert.equal(newest.name, 'crashed-1')
  assert.ok(Date.parse(newest.deleted_at) < Date.now() - 2 * DAY_MS)
})

test('a project sees its own, and a key without the scope sees nothing', async () => {
  const tenants = await Promise.all(
    ['mine', 'theirs'].map(async (name) => {
      const { id } = await make(server, '/org/projects', { name })
      const { key } = await make(server, '/org/api_keys', { name, project_id: id })
      return { id, key, name }
    }),
  )
  const [mine, theirs] = tenants
  await send(server, 'PATCH', `/org/projects/${mine!.id}/limits`, {
    max_concurrent_sessions: 5,
    max_pooled_sessions: 2,
  })
  await addEnded(server, { project: theirs!.id, count: 4, daysAgo: 0, reason: 'crashed', prefix: 'their-' })
  await addEnded(server, { project: mine!.id, count: 2, daysAgo: 0, reason: 'lost', prefix: 'my-' })
  await createSession(server)

  for (const ask of [
    () => overview(server, '', mine!.key),
    async () =>
      (await send<Overview>(server, 'GET', '/overview', undefined, { 'X-Kernel-Project-Id': mine!.id })).body,
  ]) {
    const seen = await ask()
    assert.deepEqual(seen.failures.map(({ session_id }) => session_id).toSorted(), ['my-1', 'my-2'])
    assert.equal(seen.days.at(-1)!.sessions, 2)
    assert.equal(seen.capacity.places.used, 0)
    assert.equal(seen.capacity.places.project_max, 5)
    assert.equal(seen.capacity.places.project_pooled_max, 2)
    assert.deepEqual(seen.capacity.sessions.in_use, { headless: 0, headful: 0 })
  }
  assert.equal((await overview(server)).failures.length, 6)

  const { key } = await make(server, '/org/api_keys', { name: 'other', scopes: ['profiles:read'] })
  assert.equal((await server.fetch('/overview', { key })).status, 403)
})
