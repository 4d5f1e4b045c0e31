// What a caller of `gpu: true` is told, on hosts with and without a GPU.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { sharedServer } from '../fixtures/shared-server.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { send, type Session } from '../fixtures/sessions.ts'

const owner = { after }
const create = (server: TestServer, body: object = {}) =>
  send<Session & { gpu: boolean; state: string; viewport: { refresh_rate: number } }>(
    server,
    'POST',
    '/browsers',
    {
      gpu: true,
      timeout_seconds: 60,
      ...body,
    },
  )
const statusOf = async (server: TestServer) => (await server.fetch('/status', { key: null })).text()

test('a host without a GPU says so, with what to do, and /status does not count it as an outage', async () => {
  const server = await sharedServer(owner)
  const { status, body } = await create(server)
  assert.equal(status, 400)
  assert.match(body.message!, /: gpu: is not available: this host has no GPU; or leave gpu out/)
  assert.doesNotMatch(await statusOf(server), /GPU/)
})

test('sessions get a GPU up to its limit, at 60 Hz and without standby', async (t) => {
  const env = { BERTH_GPU: '/dev/nvidia0', BERTH_GPU_MAX_SESSIONS: '1' }
  const server = await startServer(t, { env })
  assert.match(await statusOf(server), /"name":"GPU sessions","status":"operational","detail":"Fake GPU"/)
  const { body: entitlements } = await send<{ features: { gpu: object } }>(server, 'GET', '/org/entitlements')
  assert.deepEqual(entitlements.features.gpu, { enabled: true })
  const headless = await create(server, { headless: true })
  assert.deepEqual(
    [headless.status, headless.body.message],
    [400, 'Cannot accept the request: gpu: needs headless to be false'],
  )
  const sleepy = await create(server, { standby_after_seconds: 5 })
  assert.equal(sleepy.status, 400)
  assert.match(sleepy.body.message!, /: standby_after_seconds: is not available with gpu/)

  const first = await create(server)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.equal(first.body.gpu, true)
  assert.equal(first.body.viewport.refresh_rate, 60)
  const second = await create(server)
  assert.deepEqual([second.status, second.body.code], [529, 'capacity_exhausted'])
  assert.match(second.body.message!, /the GPU of this host has 1 session \(BERTH_GPU_MAX_SESSIONS\)/)
  assert.equal((await send(server, 'DELETE', `/browsers/${first.body.session_id}`)).status, 204)
  await eventually('the place is free', async () => (await create(server)).status === 200)
})

test('a GPU that vanished is told from one that never was', async (t) => {
  const server = await startServer(t, { env: { BERTH_GPU: '/dev/nvidia9' } })
  const { status, body } = await create(server)
  assert.equal(status, 400)
  assert.match(body.message!, /: gpu: is not available: the GPU \S+ has vanished since the server started/)
})
