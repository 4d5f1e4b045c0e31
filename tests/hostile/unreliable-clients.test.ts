// Slow, idle and vanished clients do not affect others and leave nothing half done.
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer } from '../fixtures/server.ts'
import { Random } from '../fixtures/random.ts'
import { RawConnection } from './raw-connection.ts'
import { assertNoFaultLogged } from './server-log.ts'

const SLOW_CLIENTS = 300
const VANISHING_CLIENTS = 200
const SEED = 20260101

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const { host } = new URL(server.url)

const head = `POST /org/projects HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n`

async function openMany(t: TestContext, count: number, firstBytes: string): Promise<RawConnection[]> {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(server.url)))
  t.after(() => connections.forEach((connection) => connection.destroy()))
  for (const connection of connections) connection.write(firstBytes)
  return connections
}

/** Reads and writes keep their usual pace while `drip` runs after each of them. */
async function assertServesDuring(drip: () => void): Promise<void> {
  const times: number[] = []
  for (let count = 0; count < 40; count++) {
    const startedAt = performance.now()
    const answer =
      count % 4 === 0
        ? await caller.sendJson(server.key, 'PATCH', '/org/limits', {})
        : await caller.sendJson(server.key, 'GET', '/org/projects')
    assert.equal(answer.status, 200, answer.text)
    times.push(performance.now() - startedAt)
    drip()
  }
  const median = times.toSorted((a, b) => a - b)[times.length / 2]!
  assert.ok(median < 200, `a normal request took ${median} ms`)
}

test('hundreds of clients that never finish their headers do not block others', async (t) => {
  const connections = await openMany(t, SLOW_CLIENTS, 'GET /org/limits HTTP/1.1\r\n')
  await assertServesDuring(() => connections.forEach((connection) => connection.write('X: y\r\n')))
})

test('hundreds of clients that never finish their body do not block others', async (t) => {
  const before = await database.state()
  const connections = await openMany(t, SLOW_CLIENTS, `${head}Content-Length: 1000\r\n\r\n`)
  await assertServesDuring(() => connections.forEach((connection) => connection.write(' ')))
  assert.deepEqual(await database.state(), before)
})

test('hundreds of clients that never finish a chunk do not block others', async (t) => {
  const connections = await openMany(t, SLOW_CLIENTS, `${head}Transfer-Encoding: chunked\r\n\r\n`)
  await assertServesDuring(() => connections.forEach((connection) => connection.write('1\r\n \r\n')))
})

test('hundreds of idle connections do not block others', async (t) => {
  const connections = await openMany(t, SLOW_CLIENTS, `GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await Promise.all(connections.map((connection) => connection.answer()))
  await assertServesDuring(() => {})
})

test('clients that never read their answer do not block others', async (t) => {
  const asked = `GET /openapi.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(50)
  const connections = await openMany(t, 50, asked)
  for (const { socket } of connections) socket.pause()
  await assertServesDuring(() => {})
})

test('a client that disconnects while it creates a project leaves a complete project or none', async () => {
  const random = new Random(SEED)
  const vanish = async (index: number) => {
    const name = `vanishing ${index}`
    const body = JSON.stringify({ name })
    const bytes = `${head}Idempotency-Key: ${name.replace(' ', '-')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const sent = random.chance(0.5) ? bytes.length : random.integer(0, bytes.length)
    const waitMs = random.integer(0, 80)
    const connection = await RawConnection.open(server.url)
    connection.write(bytes.slice(0, sent))
    // Not timing luck: wherever the server is at that moment, the result must be complete.
    if (index % 5 === 0 && sent === bytes.length) await connection.answer()
    else await delay(waitMs)
    connection.socket.resetAndDestroy()
  }
  const indexes = Array.from({ length: VANISHING_CLIENTS }, (_, index) => index)
  for (let start = 0; start < indexes.length; start += 20) {
    await Promise.all(indexes.slice(start, start + 20).map(vanish))
  }
  await untilNothingRuns()

  const made = await column(`SELECT name AS value FROM projects WHERE name LIKE 'vanishing %' ORDER BY 1`)
  const answered = await column(
    `SELECT replace(key, '-', ' ') AS value FROM idempotency_keys WHERE key LIKE 'vanishing-%' ORDER BY 1`,
  )
  const recorded = await column(
    `SELECT request_id AS value FROM audit_logs WHERE method = 'POST' AND route = '/org/projects' AND status = 201`,
  )
  assert.deepEqual(made, answered)
  assert.equal(recorded.length, made.length)
  assert.ok(made.length > 0 && made.length < VANISHING_CLIENTS, `${made.length} were made`)

  for (const index of indexes.slice(0, 20)) {
    const name = `vanishing ${index}`
    const again = await caller.sendAs(server.key, {
      method: 'POST',
      path: '/org/projects',
      headers: [
        ['Content-Type', 'application/json'],
        ['Idempotency-Key', name.replace(' ', '-')],
      ],
      body: JSON.stringify({ name }),
    })
    assert.equal(again.status, 201, again.text)
    assert.equal(again.headers['idempotent-replayed'], made.includes(name) ? 'true' : undefined)
  }
})

test('requests whose clients disconnected while they ran change nothing, and are still audited', async () => {
  const project = await newProject(caller, server.key, 'outlives its caller')
  const body = JSON.stringify({ name: 'nobody was told' })
  const typed = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const requests = [
    { line: 'GET /org/projects/vanished', rest: '\r\n' },
    { line: 'DELETE /org/projects/vanished', rest: '\r\n' },
    { line: `PATCH /org/projects/${project.id}?vanished`, rest: `${typed}\r\n${body}` },
  ]
  // The requests wait for this lock, so that all clients are gone before any is answered. The key is used just
  // before; otherwise its own lookup would wait there, too.
  await caller.sendJson(server.key, 'GET', '/org/limits')
  await database.run('BEGIN')
  await database.run('LOCK TABLE projects IN ACCESS EXCLUSIVE MODE')
  for (const [index, { line, rest }] of requests.entries()) {
    const connection = await RawConnection.open(server.url)
    connection.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\n${rest}`)
    await untilWaiting(index + 1)
    connection.socket.resetAndDestroy()
  }
  // Sent after the resets, so its answer proves that the server has seen them.
  await caller.sendJson(server.key, 'GET', '/health')
  await database.run('ROLLBACK')
  await untilNothingRuns()

  const read = await caller.sendJson(server.key, 'GET', `/org/projects/${project.id}`)
  assert.deepEqual(read.json, project)
  const records = await recordsOf('vanished', `projects/${project.id}`)
  assert.deepEqual(records.map(({ method, client_ip }) => `${method} ${client_ip}`).toSorted(), [
    'DELETE 127.0.0.1',
    'GET 127.0.0.1',
    'GET 127.0.0.1',
    'PATCH 127.0.0.1',
  ])
})

test('requests of vanished clients do not keep later requests out of the audit log', async () => {
  await caller.sendJson(server.key, 'GET', '/org/projects/after-they-vanished')
  assert.equal((await recordsOf('after-they-vanished')).length, 1)
  assert.doesNotMatch(server.output(), /cannot write audit records/)
})

async function recordsOf(...searches: string[]): Promise<{ method: string; client_ip: string }[]> {
  const now = Date.now()
  const range = `start=${new Date(now - 600_000).toISOString()}&end=${new Date(now + 600_000).toISOString()}`
  const answers = await Promise.all(
    searches.map((text) => caller.sendJson(server.key, 'GET', `/audit-logs?${range}&search=${text}`)),
  )
  return answers.flatMap(({ json }) => json as { method: string; client_ip: string }[])
}

async function untilWaiting(count: number): Promise<void> {
  const deadline = performance.now() + 5_000
  const waiting = `SELECT count(*)::int AS value FROM pg_locks WHERE NOT granted`
  while (((await column(waiting))[0] as number) < count) {
    assert.ok(performance.now() < deadline, 'the request did not reach the database')
    await delay(5)
  }
}

async function column(statement: string): Promise<unknown[]> {
  return (await database.run(statement)).map(({ value }) => value)
}

/** Requests of vanished clients may still run; they end in a commit or a rollback. */
async function untilNothingRuns(): Promise<void> {
  const deadline = performance.now() + 10_000
  const others = `SELECT count(*)::int AS value FROM pg_stat_activity
    WHERE application_name = 'berth' AND state <> 'idle'`
  while (((await column(others))[0] as number) > 0) {
    assert.ok(performance.now() < deadline, 'a transaction of a disconnected client is still open')
    await delay(10)
  }
  // One more request, behind all of them in the queue for a connection.
  assert.equal((await caller.sendJson(server.key, 'GET', '/org/projects')).status, 200)
}

test('no request caused a server error', () => assertNoFaultLogged(server))
