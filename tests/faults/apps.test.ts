// The server is killed around an invocation, at every crash point and at random: a queued one runs once, a running
// one continues or fails with the reason, and none runs twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deploy, ended, follow, invoke, postDeployment, settled, type Invocation } from '../fixtures/apps.ts'
import { eventually, processesOf } from '../fixtures/host.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'
import { countedApp, countStarts, invokeThroughKills } from './apps.ts'
import { amount, sample } from '../tiers.ts'

const isKilled = ({ process }: TestServer) => process.signalCode === 'SIGKILL'

/** Where the server is killed, the outcome of the invocation, and how often it began. */
const points: [at: string, status: string, reason: RegExp | undefined, starts: number][] = [
  ['invocation-queued', 'succeeded', undefined, 1],
  ['invocation-assigned', 'succeeded', undefined, 1],
  ['invocation-claimed', 'failed', /^worker_lost/, 0],
  ['invocation-started', 'succeeded', undefined, 1],
  ['invocation-finished', 'succeeded', undefined, 1],
]

test('a kill at any point of an invocation', async (t) => {
  const counter = await countStarts(t)
  const dataDir = tempDir(t)
  const start = (at?: string) =>
    startServer(t, {
      hasRealInstances: true,
      dataDir,
      env: { BERTH_EGRESS_ALLOW: counter.allow, ...(at && { BERTH_CRASH_AT: at }) },
    })
  let server = await start('deployment-building')
  const posted = await postDeployment(server, { files: countedApp(counter.url) }).catch(() => undefined)
  await eventually('a kill while it is built', () => isKilled(server))
  server = await start()
  const [row] = await query<{ id: string }>(server, 'SELECT id FROM deployments')
  assert.ok(posted === undefined || posted.body.id === row!.id)
  assert.equal((await settled(server, row!.id)).status, 'running', 'it is built anew')
  for (const [at, status, reason, starts] of sample(points, 'crashPoints')) {
    await server.stop('SIGTERM')
    server = await start(at)
    const body = { app_name: 'counted', action_name: 'work', async: true, payload: '{"ms":300}' }
    await invoke(server, body).catch(() => undefined)
    await eventually(`a kill at ${at}`, () => isKilled(server))
    server = await start()
    const [last] = await query<{ id: string }>(
      server,
      'SELECT id FROM invocations ORDER BY created_at DESC LIMIT 1',
    )
    const invocation: Invocation = await ended(server, last!.id)
    assert.equal(invocation.status, status, `${at}: ${invocation.status_reason}`)
    if (reason) assert.match(invocation.status_reason ?? '', reason, at)
    assert.equal(counter.starts.get(last!.id) ?? 0, starts, at)
  }
  await t.test('an instance that was not set up yet is not adopted', async () => {
    await server.stop('SIGINT')
    server = await start('app-instance-started')
    const body = { app_name: 'counted', action_name: 'work', async: true }
    await invoke(server, body).catch(() => undefined)
    await eventually('a kill while an instance is set up', () => isKilled(server))
    server = await start()
    const [last] = await query<{ id: string }>(
      server,
      'SELECT id FROM invocations ORDER BY created_at DESC LIMIT 1',
    )
    const invocation = await ended(server, last!.id)
    assert.equal(invocation.status, 'succeeded', invocation.status_reason)
    assert.equal(counter.starts.get(last!.id), 1)
  })
  await t.test('an invocation survives an upgrade of its server', async () => {
    const body = { app_name: 'counted', action_name: 'work', async: true, payload: '{"ms":4000}' }
    const { id } = (await invoke(server, body)).body
    await eventually('it runs', () => (counter.starts.get(id) ?? 0) > 0)
    assert.equal(await server.stop('SIGTERM'), 0)
    server = await start()
    const invocation = await ended(server, id)
    assert.equal(invocation.status, 'succeeded', invocation.status_reason)
    assert.equal(counter.starts.get(id), 1)
  })
  await t.test('an instance that is killed fails its invocation, and the next one runs', async () => {
    const body = { app_name: 'counted', action_name: 'work', async: true, payload: '{"ms":30000}' }
    const { id } = (await invoke(server, body)).body
    await eventually('it runs', () => (counter.starts.get(id) ?? 0) > 0)
    const [instance] = await query<{ instance_id: string }>(server, 'SELECT instance_id FROM app_instances')
    const agent = processesOf(instance!.instance_id).find(({ command }) =>
      command.startsWith('/run/berth-agent/node /run/berth-agent/agent.mjs '),
    )
    process.kill(agent!.pid, 'SIGKILL')
    const invocation = await ended(server, id)
    assert.match(invocation.status_reason ?? '', /^worker_lost/)
    const next = await invoke(server, { app_name: 'counted', action_name: 'work' })
    assert.equal(next.body.status, 'succeeded', next.body.status_reason)
  })
})

test('under random kills, each invocation ends once and begins at most once', async (t) => {
  const invocations = amount('invocationsThroughKills')
  const { kills, succeeded } = await invokeThroughKills(t, { invocations, perKill: invocations * 0.4 })
  assert.ok(kills > 1)
  assert.ok(succeeded > invocations / 4, `only ${succeeded} succeeded`)
})

test('any server accepts invocations of an app that runs on another', async (t) => {
  const database = await newDatabase(t)
  const counter = await countStarts(t)
  const env = {
    DATABASE_URL: database.url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BERTH_API_KEY: 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345',
    BERTH_EGRESS_ALLOW: counter.allow,
  }
  const home = await startServer(t, { hasRealInstances: true, env })
  const other = await startServer(t, { hasRealInstances: true, env })
  const { id } = await deploy(home, { files: countedApp(counter.url) })
  const work = { app_name: 'counted', action_name: 'work' }
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => invoke(index % 2 ? home : other, work)),
  )
  for (const { body } of answers) {
    assert.equal(body.status, 'succeeded', body.status_reason)
    assert.equal(counter.starts.get(body.id), 1)
  }
  const { body } = await invoke(other, { ...work, payload: '{"ms":30000}', async: true })
  const seen = await follow(other, `/invocations/${body.id}/events`, {
    until: ({ invocation }) => invocation?.status === 'running',
  })
  assert.ok(seen.length >= 2)
  const cancelled = await send(other, 'PATCH', `/invocations/${body.id}`, { status: 'failed' })
  assert.equal(cancelled.status, 200)
  assert.equal((await send(other, 'DELETE', `/deployments/${id}`)).status, 204)
  await eventually('the home has let go of it', async () => {
    const rows = await query(home, 'SELECT instance_id FROM app_instances')
    const blobs = await query(home, 'SELECT id FROM blobs')
    return rows.length === 0 && blobs.length === 0
  })
})
