// A session with a faulty agent: its responses are checked, its time is limited, and the error names the part that is
// unavailable. The agent itself is tested beside its source, and together with this in tests/e2e/login-page-actions.test.ts.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { duplexPair, type Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { BrowserUnavailable } from '@berth/login/run/page-actions'
import { LiveSession } from '../../sessions/browsers/live-session.ts'
import type { Instance } from '../../instances/driver/driver.ts'
import type { Collector } from '../../sessions/telemetry/collector.ts'
import { AgentClient } from '../../instances/agent/client.ts'
import { AgentPageActions } from './agent-page-actions.ts'

const LOOK = { quiet_ms: 0, most_ms: 0 }
const signal = new AbortController().signal

type Answer = (request: IncomingMessage, response: ServerResponse) => void

function startSession(answer: Answer, timeoutSeconds = 60) {
  const server = createServer((request, response) => {
    request.resume()
    answer(request, response)
  })
  const connect = async (): Promise<Duplex> => {
    const [ours, theirs] = duplexPair()
    server.emit('connection', theirs)
    return Object.assign(ours, { ref() {}, unref() {}, setKeepAlive() {}, setTimeout() {} })
  }
  const ended = new Promise<never>(() => {})
  // SAFETY: what a session without standby uses of one.
  const instance = { id: 'stub', connect, isFrozen: false, ended } as Partial<Instance> as Instance
  const over = Promise.withResolvers<string>()
  const session = new LiveSession({
    id: 'session',
    projectId: 'project',
    instance,
    agent: new AgentClient(instance),
    // SAFETY: what a session without telemetry uses of one.
    telemetry: { publish: () => {} } as Partial<Collector> as Collector,
    timeoutSeconds,
    standby: null,
    uptimeMs: 0,
    hasProfile: false,
    log: pino({ level: 'silent' }),
    onStandby: () => {},
    onEnd: (_session, reason) => over.resolve(reason),
  })
  after(() => session.release())
  return { session, over: over.promise }
}

const send =
  (status: number, body: unknown): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(JSON.stringify(body))

async function lostBy(work: Promise<unknown>): Promise<BrowserUnavailable> {
  const error = await work.then(
    () => assert.fail('It was answered'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof BrowserUnavailable, String(error))
  return error
}

const snapshot = {
  document: 1,
  url: 'https://a.example/',
  status: 200,
  failure: null,
  headers: {},
  frames: [],
  elements: [],
  http_auth: null,
  dialogs: [],
  is_quiet: true,
  is_polling: false,
  is_popup: false,
  storage: { cookies: 0, local: 0, indexed: 0 },
}

test('snapshots and results of the agent are passed on unchanged', async () => {
  const { session } = startSession((request, response) => {
    const isAct = request.url === '/login/act'
    if (request.url === '/login/secrets') return void response.writeHead(204).end()
    send(200, isAct ? { result: 'gone', reason: 'It left' } : snapshot)(request, response)
  })
  using pageActions = new AgentPageActions(session)
  assert.deepEqual(await pageActions.look(LOOK, signal), snapshot)
  assert.deepEqual(await pageActions.act({ act: 'reload' }, signal), { result: 'gone', reason: 'It left' })
  await pageActions.hide(['secret'])
})

const wrongAnswers: Record<string, Answer> = {
  'a snapshot with a text that is too long': send(200, { ...snapshot, url: 'x'.repeat(5_000) }),
  'an incomplete snapshot': send(200, { ...snapshot, frames: [{}] }),
  'no JSON': (_request, response) => void response.end('<html>'),
  nothing: (_request, response) => void response.writeHead(204).end(),
  'an error': send(500, { message: 'broken' }),
  'an answer without an end': (_request, response) => {
    const more = () => {
      while (response.write('x'.repeat(65_536)));
      response.once('drain', more)
    }
    response.writeHead(200)
    more()
  },
  'a connection that is closed': (request) => void request.socket.destroy(),
}
for (const [name, answer] of Object.entries(wrongAnswers)) {
  test(`${name} is rejected, and the agent counts as unavailable`, async () => {
    const { session } = startSession(answer)
    using pageActions = new AgentPageActions(session)
    assert.equal((await lostBy(pageActions.look(LOOK, signal))).part, 'agent')
  })
}

test('a missing Chromium is reported as such', async () => {
  const { session } = startSession(send(410, { message: 'Chromium ended meanwhile' }))
  using pageActions = new AgentPageActions(session)
  const lost = await lostBy(pageActions.act({ act: 'reload' }, signal))
  assert.equal(lost.part, 'browser')
  assert.match(lost.message, /Chromium ended/)
})

test('a request ends when its session ends or its caller leaves', async () => {
  const { session } = startSession(() => {})
  using pageActions = new AgentPageActions(session)
  const leaving = new AbortController()
  const left = pageActions.look(LOOK, leaving.signal)
  leaving.abort(new Error('enough'))
  await assert.rejects(left, /^Error: enough$/)
  const ended = lostBy(pageActions.look({ ...LOOK, most_ms: 60_000 }, signal))
  await delay(20)
  session.end('deleted')
  const { part, cause } = await ended
  assert.equal(part, 'session')
  assert.equal((cause as { reason: string }).reason, 'deleted')
  assert.equal((await lostBy(pageActions.hide(['x']))).part, 'session')
})

test('a session stays awake during a login, and times out afterwards', async () => {
  const { session, over } = startSession(send(200, snapshot), 0.3)
  const pageActions = new AgentPageActions(session)
  assert.equal(await Promise.race([over, delay(900, 'held')]), 'held')
  pageActions[Symbol.dispose]()
  assert.equal(await over, 'timed_out')
})
