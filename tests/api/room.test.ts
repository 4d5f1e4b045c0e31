// Several servers over one PostgreSQL, of which some are full: a create that finds no room on its own server is given to
// one with room. With fake instances; tests/faults has real browsers and kills.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { newCertificate } from '../fixtures/certificates.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { NEVER_STARTS } from '../fixtures/fake/fake-driver.ts'
import {
  areSettled,
  create,
  holding,
  liveOn,
  newFleet,
  serverIdOf,
  sessionRows,
  startFull,
} from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import { createPool, filled } from '../fixtures/pools.ts'
import { tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, metric, query, send } from '../fixtures/sessions.ts'

const statuses = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other)

async function heardRoom(server: TestServer, room: number): Promise<void> {
  await eventually(`the others know that there is room for ${room}`, async () => {
    const [row] = await query<{ room: number }>(server, 'SELECT room FROM servers WHERE id = $1', [
      serverIdOf(server),
    ])
    return row?.room === room
  })
}

test('a create on a full server runs on one with room, and works through both', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), start(holding(2))])
  const answer = await create(one, { name: 'given', tags: { kind: 'given' }, record: {} })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.deepEqual(await liveOn(one, other), [1, 1])
  assert.ok(
    answer.body.cdp_ws_url.startsWith(one.url.replace('http', 'ws')),
    'its URLs are those of the caller',
  )
  for (const server of [one, other]) {
    const seen = await send(server, 'GET', '/browsers/given')
    assert.equal(seen.body.session_id, answer.body.session_id)
    const replays = await send<object[]>(server, 'GET', '/browsers/given/replays')
    assert.equal(replays.body.length, 1)
  }
  assert.equal(await metric(one, 'berth_sessions_given_total'), 1)
  const [record] = await query<{ status: number }>(
    one,
    "SELECT status FROM audit_logs WHERE route = '/browsers' ORDER BY timestamp DESC LIMIT 1",
  )
  assert.equal(record!.status, 200, 'the audit log has one record, of the server that was asked')

  assert.equal((await send(one, 'DELETE', '/browsers/given')).status, 204)
  await areSettled(one, other)
  assert.deepEqual(await liveOn(one, other), [1, 0])
})

test('a place is free again as soon as its session has ended, here and for the others', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([start(holding(1)), start(holding(1))])
  const session = await createSession(one)
  await createSession(one)
  const refused = await create(one)
  assert.equal(refused.status, 529)
  await heardRoom(other, 0)
  await send(one, 'DELETE', `/browsers/${session.session_id}`)
  // At once: it waits until nothing is left of the one before.
  assert.equal((await create(one)).status, 200)
  for (const { id, server_id } of await sessionRows(other)) {
    if (server_id === serverIdOf(other)) await send(one, 'DELETE', `/browsers/${id}`)
  }
  await heardRoom(other, 1)
  assert.equal((await create(one)).status, 200)
  assert.deepEqual(await liveOn(one, other), [1, 1])
})

test('of two creates that race for the last place, one gets it', async (t) => {
  const start = await newFleet(t)
  const [one, second, last] = await Promise.all([startFull(start), startFull(start), start(holding(1))])
  const answers = await Promise.all([create(one), create(second), create(one), create(second)])
  assert.deepEqual(statuses(answers), [200, 529, 529, 529])
  await areSettled(one, second, last)
  assert.deepEqual(await liveOn(one, second, last), [1, 1, 1])
})

test('creates go where most room is left, and no full server is asked', async (t) => {
  const start = await newFleet(t)
  const [one, large, small] = await Promise.all([startFull(start), start(holding(4)), start(holding(2))])
  for (let count = 0; count < 2; count++) await create(one)
  assert.deepEqual(await liveOn(one, large, small), [1, 2, 0])
  for (let count = 0; count < 4; count++) await create(one)
  assert.deepEqual(await liveOn(one, large, small), [1, 4, 2])
  assert.doesNotMatch(one.output(), /another server could not start a session/)
})

test('when all are full, the answer says so', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), startFull(start)])
  // As if it had not said yet that it is full.
  await query(one, 'UPDATE servers SET room = 5 WHERE id = $1', [serverIdOf(other)])
  const { status, headers, body } = await create(one)
  assert.equal(status, 529)
  assert.equal(headers.get('retry-after'), '5')
  assert.equal(body.code, 'capacity_exhausted')
  const full = 'the host has its 1 sessions (BERTH_HOST_MAX_SESSIONS); end one or raise the limit'
  assert.equal(
    body.message,
    `Cannot create a session: ${full}; another server was asked and could not take it either: ${full}`,
  )
  await heardRoom(other, 0)
  const known = await create(one)
  assert.equal(known.body.message, `Cannot create a session: ${full}`, 'no server with room is known')
  await areSettled(one, other)
})

test('servers that are gone, silent, or of an earlier version cost little time, and the next one is asked', async (t) => {
  const start = await newFleet(t)
  const [one, gone, other] = await Promise.all([startFull(start), start(holding(4)), start(holding(2))])
  await gone.stop('SIGKILL')
  const earlier = await startEarlierVersion(t)
  const mute = await startMute(t)
  // Asked in this order.
  for (const [id, address, room] of [
    ['srv_mute', mute, 900],
    ['srv_earlier', earlier, 800],
  ]) {
    await query(
      one,
      "INSERT INTO servers (id, address, room, region, seen_at) VALUES ($1, $2, $3, 'us-east', now() + interval '1 hour')",
      [id, address, room],
    )
  }
  const began = performance.now()
  const answer = await create(one)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const tookMs = performance.now() - began
  assert.ok(tookMs > 1_500, `the silent one was asked: ${tookMs} ms`)
  assert.ok(tookMs < 10_000, `${tookMs} ms`)
  await areSettled(one, other)
  assert.deepEqual(await liveOn(one, other), [1, 1])
})

test('a server of another region is not asked', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), start(holding(5, { BERTH_REGION: 'eu-west' }))])
  assert.equal((await create(one)).status, 529)
  assert.deepEqual(await liveOn(one, other), [1, 0])
})

test('servers that share a certificate ask each other over HTTPS, whatever names are in it', async (t) => {
  const { cert, key } = newCertificate('berth.example')
  const dir = tempDir(t)
  const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const start = await newFleet(t, { env: { BERTH_TLS_CERT: certFile, BERTH_TLS_KEY: keyFile } })
  const [one, other] = await Promise.all([start(holding(1)), start(holding(1))])
  assert.match(other.url, /^https:/)
  assert.deepEqual([await createOverTls(one), await createOverTls(one)], [200, 200])
  assert.deepEqual(await liveOn(one, other), [1, 1])
})

/** The client does not check the certificate. Returns the status. */
async function createOverTls(server: TestServer): Promise<number> {
  const sent = httpsRequest(`${server.url}/browsers`, {
    method: 'POST',
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify({ headless: true, timeout_seconds: 300 }))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode!
}

test('a server that stops is not asked any more', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), start(holding(5))])
  assert.equal(await other.stop('SIGTERM'), 0)
  const { status, body } = await create(one)
  assert.equal(status, 529)
  assert.doesNotMatch(body.message!, /another server was asked/)
})

test('when the client leaves meanwhile, nothing remains anywhere', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), start(holding(1))])
  const leaving = new AbortController()
  const body = JSON.stringify({ headless: true, timezone: NEVER_STARTS })
  const headers = { 'content-type': 'application/json' }
  const asked = one.fetch('/browsers', { method: 'POST', headers, body, signal: leaving.signal })
  const left = assert.rejects(asked, { name: 'AbortError' })
  await eventually('the other server starts it', async () => (await liveOn(one, other))[1] === 1)
  leaving.abort()
  await left
  await areSettled(one, other)
  assert.deepEqual(await liveOn(one, other), [1, 0])
  assert.equal((await create(one)).status, 200, 'the place is free')
})

test('a repeated create gives the same session, from whichever server', async (t) => {
  const start = await newFleet(t)
  const [one, second, other] = await Promise.all([startFull(start), startFull(start), start(holding(5))])
  const key = { 'idempotency-key': 'once' }
  const answers = await Promise.all([create(one, {}, key), create(second, {}, key), create(one, {}, key)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal(new Set(answers.map(({ body }) => body.session_id)).size, 1)
  const again = await create(other, {}, key)
  assert.equal(again.body.session_id, answers[0].body.session_id)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  await areSettled(one, second, other)
  assert.deepEqual(await liveOn(one, second, other), [1, 1, 1])
})

test('the caps of the organisation and of the project hold, and a name is unique', async (t) => {
  const start = await newFleet(t, { env: { BERTH_MAX_CONCURRENT_SESSIONS: '4' } })
  const [one, other] = await Promise.all([startFull(start), start(holding(50))])
  const project = await send<{ id: string }>(one, 'POST', '/org/projects', { name: 'small' })
  const limit = { max_concurrent_sessions: 1 }
  await send(one, 'PATCH', `/org/projects/${project.body.id}/limits`, limit)
  const ofProject = { 'x-kernel-project-id': project.body.id }
  assert.equal((await create(one, { name: 'same' }, ofProject)).status, 200)
  const beyond = await create(one, {}, ofProject)
  assert.deepEqual([beyond.status, beyond.body.code], [429, 'too_many_sessions'])
  assert.match(beyond.body.message!, /the project has reached its limit of 1/)
  assert.equal(beyond.headers.get('retry-after'), '1')

  assert.equal((await create(one, { name: 'same' })).status, 200, 'in another project')
  const taken = await create(one, { name: 'same' })
  assert.deepEqual([taken.status, taken.body.code], [409, 'already_exists'])

  const answers = await Promise.all(Array.from({ length: 6 }, () => create(one)))
  assert.deepEqual(statuses(answers), [200, 429, 429, 429, 429, 429])
  await areSettled(one, other)
  assert.deepEqual(await liveOn(one, other), [1, 3])
})

test('a pool is filled by the servers with room', async (t) => {
  const start = await newFleet(t)
  const [one, other] = await Promise.all([startFull(start), start(holding(3))])
  const pool = await createPool(one, { size: 3 })
  await filled(one, pool, 3)
  assert.deepEqual(await liveOn(one, other), [1, 3])
})

/** Knows nothing of the request. Returns its address. */
async function startEarlierVersion(t: TestContext): Promise<string> {
  return listen(t, 'http', (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'))
  })
}

/** Takes connections, and never says anything: no handshake of TLS is ever done. */
async function startMute(t: TestContext): Promise<string> {
  return listen(t, 'https', () => {})
}

async function listen(
  t: TestContext,
  scheme: 'http' | 'https',
  onSocket: (socket: Socket) => void,
): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpAfter(t, async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
}
