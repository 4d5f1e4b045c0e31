// Signing in to the dashboard: a cookie stands for the key, for our own pages only, and ends with it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { SignIn } from '@berth/contracts/sign-in'
import { client84 } from '../client/versions.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'

const server = await startServer({ after })
const admin = client84(server)
const project = await admin.projects.create({ name: 'Crawlers' })

/** As our own page sends it. */
const own = { 'sec-fetch-site': 'same-origin' }

async function signIn(key: string, at: TestServer = server): Promise<string> {
  const answer = await at.fetch('/auth/sign_in', { method: 'POST', key })
  assert.equal(answer.status, 204, await answer.text())
  return answer.headers.get('set-cookie')!.split(';', 1)[0]!
}

const ask = (cookie: string, path = '/auth/sign_in', headers: Record<string, string> = own) =>
  server.fetch(path, { key: null, headers: { cookie, ...headers } })

const statusOf = async (cookie: string) => (await ask(cookie)).status

test('a key is exchanged for a cookie that scripts cannot read, and that says who signed in', async () => {
  const key = await admin.apiKeys.create({ name: 'of the team', project_id: project.id, days_to_expire: 3 })
  const answer = await server.fetch('/auth/sign_in', { method: 'POST', key: key.key })
  assert.match(
    answer.headers.get('set-cookie')!,
    /^berth_sign_in=[a-z0-9]{24}_[a-z0-9]{40}; Path=\/; HttpOnly; SameSite=Strict$/,
  )
  const cookie = answer.headers.get('set-cookie')!.split(';', 1)[0]!
  const seen = (await (await ask(cookie)).json()) as SignIn
  assert.deepEqual(seen.key, {
    id: key.id,
    name: 'of the team',
    masked_key: key.masked_key,
    scopes: null,
    expires_at: key.expires_at,
  })
  assert.deepEqual(seen.project, { id: project.id, name: 'Crawlers' })
  const days = (Date.parse(seen.expires_at) - Date.now()) / 86_400_000
  assert.ok(days > 6.9 && days < 7.1, seen.expires_at)
})

test('behind HTTPS the cookie is sent over HTTPS only', async (t) => {
  const secure = await startServer(t, { env: { BERTH_PUBLIC_URL: 'https://berth.example' } })
  let address = ''
  await eventually('the server says where it listens', () => {
    address = /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(secure.output())?.[1] ?? ''
    return address !== ''
  })
  const answer = await fetch(`${address}/auth/sign_in`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secure.key}` },
  })
  assert.match(
    answer.headers.get('set-cookie')!,
    /^__Host-berth_sign_in=\S+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  )
})

test('the cookie can do what the key can, and no more', async () => {
  const made = await admin.apiKeys.create({ name: 'reads', project_id: project.id })
  const reader = await server.fetch('/org/api_keys', {
    method: 'POST',
    key: made.key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'reader', scopes: ['browsers:read'] }),
  })
  const { key } = (await reader.json()) as { key: string }
  const cookie = await signIn(key)
  assert.equal((await ask(cookie, '/browsers')).status, 200)
  assert.equal((await ask(cookie, '/profiles')).status, 403)
  const create = await server.fetch('/browsers', {
    method: 'POST',
    key: null,
    headers: { cookie, origin: server.url },
  })
  assert.equal(create.status, 403)
  assert.match(await create.text(), /lacks the scope/)
})

test('only pages of this server use it: not a page on another port, not one of another site', async () => {
  const cookie = await signIn(server.key)
  const foreign = 'http://localhost:1'
  const reads: [Record<string, string>, number][] = [
    [own, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 401],
    [{ 'sec-fetch-site': 'cross-site' }, 401],
    [{ referer: `${server.url}/sessions` }, 200],
    [{ referer: `${foreign}/` }, 401],
    [{ origin: server.url }, 200],
    [{ origin: foreign, 'sec-fetch-site': 'same-origin' }, 401],
    [{ origin: 'null' }, 401],
    [{}, 401],
  ]
  for (const [headers, status] of reads) {
    assert.equal((await ask(cookie, '/browsers', headers)).status, status, JSON.stringify(headers))
  }
  const writes: [Record<string, string>, number][] = [
    [{ origin: server.url }, 201],
    [{ origin: foreign }, 401],
    [own, 401],
    [{ referer: `${server.url}/` }, 401],
    [{}, 401],
  ]
  for (const [headers, status] of writes) {
    const answer = await server.fetch('/projects', {
      method: 'POST',
      key: null,
      headers: { cookie, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name: `By cookie ${crypto.randomUUID()}` }),
    })
    assert.equal(answer.status, status, JSON.stringify(headers))
  }
})

test('it is no key, and a key is no cookie', async () => {
  const cookie = await signIn(server.key)
  const token = cookie.split('=')[1]!
  assert.equal((await server.fetch('/browsers', { key: token })).status, 401)
  assert.equal(await statusOf(`berth_sign_in=${server.key}`), 401)
  assert.equal(await statusOf(`${cookie}x`), 401)
  assert.equal(await statusOf(`${cookie}; ${cookie}`), 401, 'somebody else has set one, too')
  const again = await server.fetch('/auth/sign_in', {
    method: 'POST',
    key: null,
    headers: { cookie, origin: server.url },
  })
  assert.equal(again.status, 400)
  assert.equal((await server.fetch('/auth/sign_in')).status, 404)
})

test('signing out ends this sign-in, and no other one of the key', async () => {
  const [first, second] = [await signIn(server.key), await signIn(server.key)]
  const out = await server.fetch('/auth/sign_in', {
    method: 'DELETE',
    key: null,
    headers: { cookie: first, origin: server.url },
  })
  assert.equal(out.status, 204)
  assert.match(out.headers.get('set-cookie')!, /^berth_sign_in=; .*Max-Age=0$/)
  assert.equal(await statusOf(first), 401)
  assert.equal(await statusOf(second), 200)
})

test('it ends with its key, and with the key that made that one', async () => {
  const maker = await admin.apiKeys.create({ name: 'maker' })
  const made = await client84({ url: server.url, key: maker.key }).apiKeys.create({ name: 'made' })
  const cookies = [await signIn(maker.key), await signIn(made.key)]
  assert.deepEqual(await Promise.all(cookies.map(statusOf)), [200, 200])
  await admin.apiKeys.delete(maker.id)
  assert.deepEqual(await Promise.all(cookies.map(statusOf)), [401, 401])
})

test('a stream that was opened with it ends when the person signs out', async () => {
  const session = await admin.browsers.create({ headless: true, telemetry: { enabled: true } })
  const cookie = await signIn(server.key)
  const stream = await ask(cookie, `/browsers/${session.session_id}/telemetry/stream`)
  assert.equal(stream.status, 200)
  const ended = Array.fromAsync(stream.body!).catch(() => {})
  await server.fetch('/auth/sign_in', {
    method: 'DELETE',
    key: null,
    headers: { cookie, origin: server.url },
  })
  await ended
})

test('a key has at most 100 sign-ins; the oldest end first', async () => {
  const key = await admin.apiKeys.create({ name: 'many' })
  const cookies: string[] = []
  for (let count = 0; count < 101; count++) cookies.push(await signIn(key.key))
  assert.equal(await statusOf(cookies[0]!), 401)
  assert.equal(await statusOf(cookies[1]!), 200)
  assert.equal(await statusOf(cookies.at(-1)!), 200)
})

test('the audit log names sign-ins, and what was done with them, and shows no token', async () => {
  const cookie = await signIn(server.key)
  await ask(cookie, '/profiles')
  const [start, end] = [-60_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString())
  const found = await server.fetch(`/audit-logs?start=${start}&end=${end}&limit=100`)
  const text = await found.text()
  const entries = JSON.parse(text) as { auth_strategy: string; method: string; path: string }[]
  const isSeen = (strategy: string, request: string) =>
    entries.some(
      ({ auth_strategy, method, path }) => auth_strategy === strategy && `${method} ${path}` === request,
    )
  assert.ok(isSeen('api_key', 'POST /auth/sign_in'), text)
  assert.ok(isSeen('sign_in', 'GET /profiles'), text)
  const secret = cookie.split('_').at(-1)!
  assert.ok(!text.includes(secret) && !server.output().includes(secret))
})
