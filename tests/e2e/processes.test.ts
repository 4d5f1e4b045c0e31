// Programs in a real instance: environment, permissions, and how they keep a session active.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { client84 } from '../client/versions.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, endsAs, readSession, send } from '../fixtures/sessions.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const { browsers } = client84(server)
const session = await browsers.create({ headless: true, timeout_seconds: 300 })
const id = session.session_id
const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!

const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString()
const sh = (script: string) => ({ command: 'sh', args: ['-c', script] })

async function run(script: string, options: object = {}) {
  const result = await browsers.process.exec(id, { ...sh(script), ...options })
  return { code: result.exit_code, stdout: text(result.stdout_b64), stderr: text(result.stderr_b64) }
}

async function spawn(body: object, sessionId = id): Promise<string> {
  const answer = await send<{ process_id: string }>(
    server,
    'POST',
    `/browsers/${sessionId}/process/spawn`,
    body,
  )
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.process_id
}

interface OutputEvent {
  stream?: string
  data_b64?: string
  event?: string
  exit_code?: number
  dropped_bytes?: number
}

const events = async (processId: string): Promise<AsyncIterable<OutputEvent>> =>
  (await browsers.process.stdoutStream(processId, { id })) as AsyncIterable<OutputEvent>

/**
 * Started first, because it takes longest: a session with the shortest timeout, and a program in it. The other tests
 * run at the same time: on a busy machine they take longer than the session lives.
 */
const inUse = (async () => {
  const short = await createSession(server, { timeout_seconds: 10 })
  const ticking = 'i=0; while [ $i -lt 14 ]; do i=$((i+1)); echo $i >> /tmp/ticks; sleep 1; done'
  const path = `/browsers/${short.session_id}/process`
  const processId = await spawn(sh(ticking), short.session_id)
  // Well beyond its timeout and its standby.
  await delay(12_500)
  const { deleted_at: deletedAt } = await readSession(server, short.session_id)
  const ticks = await send<{ stdout_b64: string }>(server, 'POST', `${path}/exec`, {
    command: 'cat',
    args: ['/tmp/ticks'],
  })
  // The last call happened between these two moments. On a busy machine its answer comes late.
  let askedAt = 0
  await eventually('the program has ended', async () => {
    askedAt = performance.now()
    const status = await send<{ state: string }>(server, 'GET', `${path}/${processId}/status`)
    return status.body.state === 'exited'
  })
  const answeredAt = performance.now()
  await endsAs(server, short, { reason: 'timed_out', withinMs: 14_000 })
  const endedAt = performance.now()
  const idle = { mostMs: endedAt - askedAt, leastMs: endedAt - answeredAt }
  return { deletedAt, ticks: text(ticks.body.stdout_b64), idle }
})()
// The last test awaits it and reports a failure. Until then, a failure must not be an unhandled rejection.
inUse.catch(() => {})

test('a program runs as the only user of the instance, in its home, with the egress proxy in its environment', async () => {
  const { stdout } = await run('id -un; id -u; pwd; echo $http_proxy $HTTPS_PROXY; echo ${DISPLAY:-none}')
  assert.equal(stdout, 'kernel\n1000\n/home/kernel\nhttp://127.0.0.1:3128 http://127.0.0.1:3128\nnone\n')
  for (const as_user of ['kernel', '1000', '1000:1000']) {
    assert.equal((await run('id -u', { as_user })).stdout, '1000\n')
  }
})

test('root exists only in its own namespace', async () => {
  const { stdout, code } = await run('id -u; touch /usr/x 2>&1; cat /proc/self/uid_map', { as_root: true })
  assert.equal(code, 1 - 1)
  assert.match(stdout, /^0\n.*Read-only file system\n\s+0\s+1000\s+1\n$/s)
  const exit = await run('exit 9', { as_root: true })
  assert.equal(exit.code, 9)
  for (const body of [
    { command: 'true', as_root: true, as_user: 'kernel' },
    { command: 'true', as_user: 'root' },
    { command: 'nothing', as_root: true },
  ]) {
    const refused = await send(server, 'POST', `/browsers/${id}/process/exec`, body)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
  }
})

test('a program that takes too long is 422, which no client retries', async () => {
  let requests = 0
  const counted = client84(server, { fetch: (input, init) => (requests++, fetch(input, init)) })
  await assert.rejects(
    counted.browsers.process.exec(id, { ...sh('sleep 60'), timeout_sec: 1 }),
    (error: Error & { status?: number; error?: { code: string } }) =>
      error.status === 422 && error.error?.code === 'process_timed_out',
  )
  assert.equal(requests, 1)
})

test('a client of exec that disconnects ends the program', async () => {
  const leaving = new AbortController()
  const asked = server.fetch(`/browsers/${id}/process/exec`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sh('echo $$ > /tmp/left; sleep 100')),
    signal: leaving.signal,
  })
  await eventually('it runs', async () => (await run('cat /tmp/left')).stdout !== '')
  leaving.abort()
  await assert.rejects(asked)
  await eventually('it has ended', async () => (await run('kill -0 $(cat /tmp/left)')).code !== 0)
})

test('a large output arrives completely at several readers, and a slow reader does not stop the program', async () => {
  const size = 24 * 1024 * 1024
  const script = `head -c ${size} /dev/urandom | tee /tmp/large; echo written > /tmp/written; sha256sum < /tmp/large >&2; rm /tmp/large`
  const processId = await spawn(sh(script))
  const slow = await server.fetch(`/browsers/${id}/process/${processId}/stdout/stream`)
  await eventually('the program is done', async () => (await run('cat /tmp/written')).stdout === 'written\n')
  const readers = await Promise.all([1, 2].map(async () => digestOf(await events(processId))))
  for (const { bytes, digest, stderr, last } of readers) {
    assert.equal(bytes, size)
    assert.equal(stderr, `${digest}  -\n`)
    assert.deepEqual(last, { event: 'exit', exit_code: 0 })
  }
  await slow.body!.cancel()
})

async function digestOf(stream: AsyncIterable<OutputEvent>) {
  const hash = createHash('sha256')
  const seen = { bytes: 0, stderr: '', last: undefined as OutputEvent | undefined, cut: 0 }
  for await (const event of stream) {
    seen.last = event
    if (event.event === 'cut') seen.cut += event.dropped_bytes!
    const data = Buffer.from(event.data_b64 ?? '', 'base64')
    if (event.stream === 'stderr') seen.stderr += data.toString()
    else {
      hash.update(data)
      seen.bytes += data.length
    }
  }
  return { ...seen, digest: hash.digest('hex') }
}

test('beyond 80 MB the oldest output is dropped, and readers are told', async () => {
  const size = 90 * 1024 * 1024
  const processId = await spawn(sh(`head -c ${size} /dev/zero; echo end >&2`))
  await eventually('it has ended', async () => {
    const { state } = await browsers.process.status(processId, { id })
    return state === 'exited'
  })
  const { bytes, cut, stderr, last } = await digestOf(await events(processId))
  assert.equal(bytes + cut, size)
  assert.ok(bytes > 72 * 1024 * 1024 && bytes <= 80 * 1024 * 1024, `${bytes} bytes kept`)
  assert.equal(stderr, 'end\n')
  assert.deepEqual(last, { event: 'exit', exit_code: 0 })
})

test('output without room is dropped, and readers are told', async () => {
  await run('dd if=/dev/zero of=/tmp/full bs=1M 2>/dev/null; sync')
  const processId = await spawn(sh('head -c 9000000 /dev/zero'))
  await eventually(
    'it has ended',
    async () => (await browsers.process.status(processId, { id })).state === 'exited',
  )
  await run('rm /tmp/full')
  const { bytes, cut, last } = await digestOf(await events(processId))
  assert.equal(bytes + cut, 9_000_000)
  assert.ok(cut > 0)
  assert.equal(last!.event, 'exit')
})

test('stdin can be closed, and a failed write is reported', async () => {
  const processId = await spawn({ command: 'cat' })
  const write = (body: object) =>
    send<object>(server, 'POST', `/browsers/${id}/process/${processId}/stdin`, body)
  for (const data_b64 of ['?', 'YQ', 'YQ=', 'Y Q=', 'YR==', '-_-_']) {
    assert.equal((await write({ data_b64 })).status, 400, data_b64)
  }
  assert.deepEqual((await write({ data_b64: 'YQ==' })).body, { written_bytes: 1 })
  assert.deepEqual((await write({ data_b64: '', close: true })).body, { written_bytes: 0 })
  const { bytes, last } = await digestOf(await events(processId))
  assert.equal(bytes, 1)
  assert.deepEqual(last, { event: 'exit', exit_code: 0 })
  const late = await write({ data_b64: 'YQ==' })
  assert.equal(late.status, 409)
  assert.equal(late.headers.get('x-should-retry'), 'false')
})

interface Attached {
  readonly socket: WebSocket
  readonly text: () => string
  readonly messages: object[]
  readonly closed: Promise<number>
}

async function attach(processId: string, { jwt = token } = {}): Promise<Attached> {
  const socket = new WebSocket(
    `${session.base_url!.replace('http', 'ws')}/process/${processId}/attach?jwt=${jwt}`,
  )
  let seen = ''
  const messages: object[] = []
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) seen += data.toString()
    else messages.push(JSON.parse(data.toString()) as object)
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  return { socket, text: () => seen, messages, closed }
}

async function refusalOf(processId: string, jwt = token): Promise<number> {
  const socket = new WebSocket(
    `${session.base_url!.replace('http', 'ws')}/process/${processId}/attach?jwt=${jwt}`,
  )
  socket.on('error', () => {})
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }]
  socket.terminate()
  return response.statusCode
}

test('a terminal works on the websocket and on the output stream, for several clients at once', async () => {
  const processId = await spawn({
    command: 'bash',
    args: ['--norc', '-i'],
    env: { PS1: '> ', TERM: 'dumb' },
    allocate_tty: true,
    rows: 30,
    cols: 90,
  })
  const one = await attach(processId)
  await eventually('the prompt', () => one.text().includes('> '))
  one.socket.send(Buffer.from('stty size\r'))
  await eventually('its size', () => one.text().includes('30 90\r\n'))
  one.socket.send(JSON.stringify({ type: 'resize', rows: 10, cols: 20 }))
  one.socket.send(Buffer.from('sh -c "stty size; exec sleep 100"\r'))
  await eventually('its new size', () => one.text().includes('10 20\r\n'))
  one.socket.send(Buffer.from([3]))
  await eventually('the prompt again', () => /10 20\r\n[^]*> $/.test(one.text()))
  one.socket.send(Buffer.from('echo code $?\r'))
  await eventually('Ctrl-C', () => one.text().includes('code 130\r\n'))
  const other = await attach(processId)
  await eventually('what was before', () => other.text() === one.text())
  other.socket.send(Buffer.from('exit 6\r'))
  for (const each of [one, other]) {
    assert.equal(await each.closed, 1000)
    assert.deepEqual(each.messages, [{ type: 'exit', exit_code: 6 }])
  }
  assert.equal(one.text(), other.text())
  let streamed = ''
  for await (const { data_b64 } of await events(processId)) streamed += text(data_b64)
  assert.equal(streamed, one.text())
})

test('only an authorised client can attach, and only to a terminal', async () => {
  const plain = await spawn({ command: 'sleep', args: ['100'] })
  assert.equal(await refusalOf(plain), 400)
  assert.equal(await refusalOf('00000000-0000-4000-8000-000000000000'), 404)
  assert.equal(await refusalOf(plain, 'rubbish'), 401)
  assert.equal(await refusalOf(plain, new URL(session.webdriver_ws_url).searchParams.get('jwt')!), 401)
  const request = await fetch(`${session.base_url}/process/${plain}/attach?jwt=${token}`)
  assert.equal(request.status, 426)
  await browsers.process.kill(plain, { id, signal: 'KILL' })
})

test('a program that ignores TERM, or leaves its group, ends with the session', async () => {
  const other = await createSession(server)
  const script = `trap '' TERM; setsid sleep 4711 & (sleep 4712 &) ; while :; do sleep 1; done`
  const processId = await spawn(sh(script), other.session_id)
  await send(server, 'POST', `/browsers/${other.session_id}/process/${processId}/kill`, { signal: 'TERM' })
  const status = await send<{ state: string }>(
    server,
    'GET',
    `/browsers/${other.session_id}/process/${processId}/status`,
  )
  assert.equal(status.body.state, 'running')
  // The end of the file asserts for every session that nothing is left.
  assert.equal((await send(server, 'DELETE', `/browsers/${other.session_id}`)).status, 204)
})

test('a session is active while a program runs in it, and no longer', { timeout: 60_000 }, async () => {
  const { deletedAt, ticks, idle } = await inUse
  assert.equal(deletedAt, undefined)
  const count = ticks.trim().split('\n').length
  assert.ok(count >= 11, `it was asleep: ${count} ticks in 12.5 s`)
  assert.ok(
    idle.mostMs > 9_500 && idle.leastMs < 13_000,
    `ended after ${JSON.stringify(idle)} without a call`,
  )
})
