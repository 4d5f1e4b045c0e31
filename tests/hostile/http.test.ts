// Malicious bytes on a socket never cause a server error and never disturb other clients.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertError, assertErrorShape } from '../conformance/error-answer.ts'
import { newProject } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { ServerDatabase } from '../conformance/server-database.ts'
import { startServer } from '../fixtures/server.ts'
import { malformedRequests } from './malformed-requests.ts'
import { RawConnection } from './raw-connection.ts'
import { assertNoFaultLogged } from './server-log.ts'

const owner = { after }
const server = await startServer(owner)
const database = await ServerDatabase.open(owner, server)
const caller = new HttpCaller(owner, server.url)
const project = await newProject(caller, server.key, 'Target')
const { host } = new URL(server.url)
const projectPath = `/org/projects/${project.id}`

async function assertServes(): Promise<void> {
  const startedAt = performance.now()
  const answer = await caller.sendJson(server.key, 'GET', projectPath)
  assert.equal(answer.status, 200, answer.text)
  const elapsedMs = performance.now() - startedAt
  assert.ok(elapsedMs < 2000, `a normal request took ${elapsedMs} ms`)
}

for (const { what, bytes, expected, isLast } of malformedRequests({
  host,
  key: server.key,
  projectId: project.id,
})) {
  test(`a request with ${what} is refused, and the server keeps working`, async (t) => {
    const before = await database.state()
    const connection = await RawConnection.open(server.url)
    t.after(() => connection.destroy())
    connection.write(Buffer.from(bytes, 'latin1'))
    const answer = await connection.answer()
    assert.ok(answer, 'closed without an answer')
    assertError(answer, expected, what)
    assert.doesNotMatch(answer.text, /smuggled/)
    if (isLast) await connection.closed()
    await assertServes()
    assert.deepEqual(await database.state(), before)
  })
}

test('a client that keeps sending after a refusal can read it, and is then disconnected', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  const { socket } = connection
  const resets: Error[] = []
  socket.on('error', (error) => resets.push(error))
  socket.allowHalfOpen = true
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const send = () => new Promise<void>((resolve) => socket.write(piece, () => resolve()))
  connection.write('GET /?')
  // More than the buffers of both ends hold, so that the server must have read some of it.
  for (let sent = 0; sent < 12; sent++) await send()
  assert.deepEqual(resets, [])
  assertError((await connection.answer())!, 'headers_too_large')
  for (let sent = 0; sent < 64 && resets.length === 0; sent++) await send()
  await connection.closed()
  assert.equal(resets.length, 1)
  await assertServes()
})

test('a tunnel is refused by closing the connection', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  connection.write(`CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  const answer = await connection.answer()
  assert.ok(answer === undefined || answer.status >= 400, `tunnel: ${answer?.status}`)
  await connection.closed()
  await assertServes()
})

test('a second Authorization is noticed even after thousands of other headers', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  const many = Array(2100).fill('a:b\r\n').join('')
  const authorization = `Authorization: Bearer ${server.key}\r\n`
  connection.write(`GET /org/limits HTTP/1.1\r\nHost: ${host}\r\n${authorization}${many}${authorization}\r\n`)
  assertError((await connection.answer())!, ['unauthorized', 'bad_request', 'headers_too_large'])
})

test('a second Host is noticed even after thousands of other headers', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  const many = Array(2100).fill('a:b\r\n').join('')
  connection.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\n${many}Host: evil.example\r\n\r\n`)
  assertError((await connection.answer())!, ['bad_request', 'misdirected_request', 'headers_too_large'])
})

test('no upgrade is accepted', async (t) => {
  for (const protocol of ['websocket', 'h2c', 'TLS/1.3', 'nonsense']) {
    const connection = await RawConnection.open(server.url)
    t.after(() => connection.destroy())
    connection.write(
      `GET ${projectPath} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\n` +
        `Connection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n`,
    )
    const answer = await connection.answer()
    assert.ok(answer && answer.status !== 101 && answer.status < 500, `${protocol}: ${answer?.status}`)
  }
  await assertServes()
})

test('pipelined requests are answered in order', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  const paths = ['/health', '/nowhere', '/ready', '/org/projects', '/health']
  connection.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`).join(''))
  for (const status of [200, 404, 200, 401, 200]) {
    assert.equal((await connection.answer())?.status, status)
  }
})

test('a malformed request after good ones closes the connection, and no answers mix', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  const good = `GET /openapi.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  connection.write(`${good}${good}GARBAGE\r\n\r\n${good}`)
  const answers = []
  for (let answer = await connection.answer(); answer; answer = await connection.answer())
    answers.push(answer)
  for (const answer of answers.slice(0, -1)) assert.ok(answer.status === 200 && answer.json, answer.text)
  assertError(answers.at(-1)!, 'bad_request')
  await connection.closed()
})

test('an unknown Expect header is refused with a normal error, or ignored', async () => {
  const headers = [['Expect', 'nonsense']] as const
  const answer = await caller.sendAs(server.key, { method: 'GET', path: '/org/limits', headers })
  if (answer.status !== 200) assertErrorShape(answer)
})

test('a forwarded host header is not trusted', async () => {
  for (const name of ['X-Forwarded-Host', 'Forwarded', 'X-Host']) {
    const headers = [[name, name === 'Forwarded' ? 'host=evil.example' : 'evil.example']] as const
    const answer = await caller.sendAs(server.key, {
      method: 'GET',
      path: `${projectPath}?by=${name}`,
      headers,
    })
    assert.equal(answer.status, 200, answer.text)
  }
  const domains = await recordedDomains()
  assert.deepEqual(domains, [host])
})

async function recordedDomains(): Promise<string[]> {
  const now = Date.now()
  const range = `start=${new Date(now - 600_000).toISOString()}&end=${new Date(now + 600_000).toISOString()}`
  const answer = await caller.sendJson(server.key, 'GET', `/audit-logs?${range}&search=${project.id}`)
  return [...new Set((answer.json as { domain: string }[]).map(({ domain }) => domain))]
}

test('an unread body is not parsed as the next request', async (t) => {
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  const inner = `DELETE ${projectPath} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.key}\r\n\r\n`
  const outer = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: text/plain\r\nContent-Length: ${inner.length}\r\n\r\n`
  connection.write(outer('/org/projects') + inner + outer('/nowhere') + inner)
  assertError((await connection.answer())!, 'unauthorized')
  const second = await connection.answer()
  if (second) assertError(second, ['not_found', 'unsupported_media_type'])
  await assertServes()
})

test('a preflight from another origin is not allowed', async () => {
  for (const origin of ['https://evil.example', 'null', server.url]) {
    for (const path of ['/org/projects', projectPath, '/health', '/nowhere']) {
      const answer = await caller.send({
        method: 'OPTIONS',
        path,
        headers: [
          ['Origin', origin],
          ['Access-Control-Request-Method', 'POST'],
          ['Access-Control-Request-Headers', 'authorization'],
        ],
      })
      const granted = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))
      assert.deepEqual(granted, [], `${origin} at ${path}`)
      assertError(answer, ['method_not_allowed', 'not_found'])
    }
  }
})

test('another origin may not read the answer of a plain request', async () => {
  const headers = [['Origin', 'https://evil.example']] as const
  const answer = await caller.sendAs(server.key, { method: 'GET', path: '/org/limits', headers })
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
})

test('header, query and body cannot override the method', async () => {
  const names = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method']
  for (const name of names) {
    const headers = [[name, 'DELETE']] as const
    const posted = await caller.sendAs(server.key, { method: 'POST', path: projectPath, headers })
    assertError(posted, 'method_not_allowed', name)
    const got = await caller.sendAs(server.key, {
      method: 'GET',
      path: `${projectPath}?${name}=DELETE`,
      headers,
    })
    assert.equal(got.status, 200, name)
  }
  await assertServes()
})

test('rewrite headers cannot reach another path', async () => {
  const headers = [
    ['X-Original-URL', '/metrics'],
    ['X-Rewrite-URL', '/metrics'],
  ] as const
  const answer = await caller.sendAs(server.key, { method: 'GET', path: '/health', headers })
  assert.equal((answer.json as { status: string }).status, 'ok')
})

test('a client that sends Expect: 100-continue is told to continue', async (t) => {
  const body = JSON.stringify({ name: 'asked first' })
  const head = (key: string) =>
    `POST /org/projects HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
  const connection = await RawConnection.open(server.url)
  t.after(() => connection.destroy())
  connection.write(head(server.key))
  assert.equal((await connection.answer())?.status, 100)
  connection.write(body)
  assert.equal((await connection.answer())?.status, 201)
})

test('no request caused a server error', () => assertNoFaultLogged(server))
