// The request with which one server asks another one to start a session: only servers can make it, each token is for one
// request, and neither a key nor a session helps.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { after, test } from 'node:test'
import { newId } from '@berth/kit/ids'
import { liveOn, serverIdOf, sessionRows } from '../fixtures/fleets.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, metric, query } from '../fixtures/sessions.ts'
import { readTokenSecret, signToken, tokenOf } from './session-openings.ts'

const PATH = '/internal/sessions'
const owner = { after }
const server = await startServer(owner, { env: { BERTH_HOST_MAX_SESSIONS: '3' } })
const secret = await readTokenSecret(server)
const session = await createSession(server, { headless: false })
const [project] = await query<{ id: string }>(server, 'SELECT id FROM projects LIMIT 1')
const serverId = serverIdOf(server)
const now = () => Math.floor(Date.now() / 1000)
const digestOf = (body: string) => createHash('sha256').update(body).digest('base64')

interface Start {
  readonly id: string
  readonly body: string
  readonly token: string
  readonly digest: string
}

/** As another server makes it, but for the given changes. */
function newStart({
  id = newId(),
  body = JSON.stringify({
    id,
    projectId: project!.id,
    telemetryAge: 'opt-in',
    browser: { headless: true, timeout_seconds: 300 },
  }),
  digest = digestOf(body),
  claims = {},
  key = secret,
}: { id?: string; body?: string; digest?: string; claims?: object; key?: Buffer } = {}): Start {
  const header = { alg: 'HS256', typ: 'JWT', kid: 'session-tokens' }
  const good = {
    sid: id,
    aud: `start:${serverId}:${digest}`,
    iat: now(),
    exp: now() + 30,
    jti: randomUUID(),
  }
  return { id, body, digest, token: signToken(header, { ...good, ...claims }, key) }
}

interface Answered {
  readonly status: number
  /** All that came until the answer ended, or said what happened. */
  readonly text: string
  readonly leave: () => void
}

function post(start: Partial<Start> & { body: string }, headers: object = {}): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${server.url}${PATH}`, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        ...(start.digest !== undefined && { 'content-digest': `sha-256=:${start.digest}:` }),
        ...(start.token !== undefined && { authorization: `Bearer ${start.token}` }),
        ...headers,
      },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      const answer = () => resolve({ status: response.statusCode!, text, leave: () => void sent.destroy() })
      response.on('data', (piece: Buffer) => {
        text += piece.toString()
        if (/"(started|failed)"/.test(text)) answer()
      })
      response.once('end', answer)
      response.on('error', () => {})
    })
    sent.end(start.body)
  })
}

async function nothingStarted(): Promise<void> {
  await eventually('the first session is the only one', async () => {
    const rows = await sessionRows(server)
    const others = rows.filter(({ id }) => id !== session.session_id)
    return (
      others.every(({ state }) => state === 'ended') && (await metric(server, 'berth_live_sessions')) === 1
    )
  })
}

test('a good request starts a session that lives only while somebody holds the connection', async () => {
  const start = newStart()
  const { status, text, leave } = await post(start)
  assert.equal(status, 200, text)
  assert.match(text, /^\n+\{"started":true\}\n$/)
  const seen = await server.fetch(`/browsers/${start.id}`)
  assert.equal(seen.status, 404, 'nobody can use it yet')
  const [row] = (await sessionRows(server)).filter(({ id }) => id === start.id)
  assert.equal(row!.state, 'starting')
  leave()
  await nothingStarted()
  const [ended] = (await sessionRows(server)).filter(({ id }) => id === start.id)
  assert.equal(ended!.end_reason, 'start_failed')
})

test('a token is used once, also while and after its session lives', async () => {
  const start = newStart()
  const first = await post(start)
  assert.match(first.text, /"started"/)
  const again = await post(start)
  assert.equal(again.status, 409, again.text)
  first.leave()
  await nothingStarted()
  assert.equal((await post(start)).status, 409)
  await nothingStarted()
})

test('a token for another server, body, audience or time, or of another secret, is refused', async () => {
  const good = newStart()
  const other = newStart()
  const changed = good.body.replace('300', '301')
  const hostile: Record<string, Partial<Start> & { body: string }> = {
    'no token': { body: good.body, digest: good.digest },
    'no digest': { body: good.body, token: good.token },
    'an API key': { ...good, token: server.key },
    'a token of a session URL': { ...good, token: tokenOf(session.cdp_ws_url) },
    'a live view token': { ...good, token: tokenOf(session.browser_live_view_url!) },
    'another secret': newStart({ key: Buffer.alloc(32, 1) }),
    'an unsigned token': { ...good, token: `${good.token.split('.').slice(0, 2).join('.')}.` },
    expired: newStart({ claims: { iat: now() - 500, exp: now() - 100 } }),
    'another server': newStart({ claims: { aud: `start:srv_${'a'.repeat(24)}:${good.digest}` } }),
    'no server': newStart({ claims: { aud: `start::${good.digest}` } }),
    'a tunnel': newStart({ claims: { aud: 'link' } }),
    'another body': { ...good, body: changed },
    'another body with its digest': { ...good, body: changed, digest: digestOf(changed) },
    'the token of another request': { ...good, token: other.token },
    'a body that is longer': { ...good, body: `${good.body} ` },
    'no body': { ...good, body: '' },
  }
  for (const [name, start] of Object.entries(hostile)) {
    const { status, text } = await post(start)
    assert.equal(status, 401, `${name}: ${text}`)
    assert.doesNotMatch(text, /started/, name)
  }
  const session2 = newStart({ claims: { sid: newId() } })
  const { status, text } = await post(session2)
  assert.equal(status, 400, text)
  const twice = await post(newStart(), { authorization: [`Bearer ${good.token}`, `Bearer ${good.token}`] })
  assert.equal(twice.status, 401)
  await nothingStarted()
})

test('the settings of the server bound what others ask of it', async () => {
  const elsewhere = JSON.stringify({
    ...(JSON.parse(newStart().body) as object),
    browser: { region: 'eu-west' },
  })
  const id = (JSON.parse(elsewhere) as { id: string }).id
  const region = await post(newStart({ id, body: elsewhere }))
  assert.match(region.text, /"failed":\{"code":"bad_request".*region/)
  const held = [await post(newStart()), await post(newStart())]
  for (const { text } of held) assert.match(text, /"started"/)
  const full = await post(newStart())
  assert.match(full.text, /"failed":\{"code":"capacity_exhausted".*BERTH_HOST_MAX_SESSIONS/)
  assert.deepEqual(await liveOn(server), [3])
  for (const { leave } of held) leave()
  await nothingStarted()
})

test('a row that exists is not taken by a request that names it', async () => {
  const { text } = await post(newStart({ id: session.session_id }))
  assert.match(text, /"failed"/)
  const seen = await server.fetch(`/browsers/${session.session_id}`)
  assert.equal(seen.status, 200, 'the session with this id goes on')
  assert.equal(await metric(server, 'berth_live_sessions'), 1)
})

test('large bodies and other methods are refused before they cost anything', async () => {
  const large = 'x'.repeat(20 * 1024 * 1024)
  const answer = await post({ body: large, digest: digestOf(large), token: server.key }).catch(
    (error: NodeJS.ErrnoException) => error.code,
  )
  // The connection may be cut while the client still sends.
  if (typeof answer === 'object') assert.equal(answer.status, 401)
  else assert.match(answer ?? '', /ECONNRESET|EPIPE/)
  for (const method of ['GET', 'PUT', 'DELETE']) {
    assert.equal((await server.fetch(PATH, { method })).status, 405, method)
  }
})
