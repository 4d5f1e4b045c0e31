// What web pages of other origins may do. A browser decides by the headers that this file reads; see
// tests/e2e/cross-origin-login.test.ts for a real one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pathsOf } from '@berth/contracts/operation'
import { operations } from '@berth/contracts/operations'
import { begin, connect, reaches } from '../fixtures/auth-connections.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const owner = { after }
const server = await startServer(owner)
const listing = await startServer(owner, {
  env: { BERTH_ALLOWED_ORIGINS: 'https://admin.example, http://localhost:5173' },
})
const FOREIGN = 'https://shop.example'
const LISTED = 'https://admin.example'
const HEADERS = 'authorization,content-type,accept,last-event-id,x-stainless-lang,x-stainless-retry-count'

const fill = (path: string) => path.replaceAll(/\{\w+\}/g, 'a'.repeat(24))

async function preflight(
  to: TestServer,
  path: string,
  { origin = FOREIGN, method = 'GET', headers = HEADERS } = {},
): Promise<Response> {
  return to.fetch(path, {
    method: 'OPTIONS',
    key: null,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    },
  })
}

const rows = operations.flatMap((operation) => pathsOf(operation).map((path) => ({ operation, path })))

test('only the operations of a login flow answer preflights of any origin', async () => {
  const open: string[] = []
  for (const { operation, path } of rows) {
    const { method } = operation
    for (const origin of [FOREIGN, 'null']) {
      const answer = await preflight(server, fill(path), { method, origin })
      if (answer.status === 204) {
        if (origin === FOREIGN) open.push(`${method} ${path}`)
        assert.equal(answer.headers.get('access-control-allow-origin'), '*')
        assert.equal(answer.headers.get('access-control-allow-methods'), method)
        assert.equal(answer.headers.get('access-control-allow-headers'), HEADERS.replaceAll(',', ', '))
      } else {
        assert.equal(answer.status, 405, `${method} ${path}`)
        assert.equal(answer.headers.get('access-control-allow-origin'), null)
        assert.equal(answer.headers.get('access-control-allow-methods'), null)
      }
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
    }
  }
  assert.deepEqual(open.toSorted(), [
    'GET /auth/connections/{id}',
    'GET /auth/connections/{id}/events',
    'POST /auth/connections/{id}/exchange',
    'POST /auth/connections/{id}/submit',
  ])
})

test('a preflight allows no header that the login does not need', async () => {
  const answer = await preflight(server, '/auth/connections/a', {
    headers: 'Authorization, X-Kernel-Project-Id, Cookie, x-other, bad header',
  })
  assert.equal(answer.headers.get('access-control-allow-headers'), 'authorization')
})

test('OPTIONS without the headers of a preflight is not allowed', async () => {
  const answer = await server.fetch('/auth/connections/a', { method: 'OPTIONS' })
  assert.equal(answer.status, 405)
  assert.deepEqual(answer.headers.get('allow')?.split(', ').toSorted(), ['DELETE', 'GET', 'PATCH'])
})

const isReadable = ({ headers }: { headers: Headers }) => {
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('access-control-expose-headers'), '*')
  assert.equal(headers.get('access-control-allow-credentials'), null)
}

test('a whole login works from another origin with its code and token, and so do its errors', async () => {
  const { id } = await connect(server, 'cross')
  const { handoff_code: code } = await begin(server, id)
  const from = (key: string | null) => ({ fetch: foreign(key) })
  const foreign = (key: string | null) => (path: string, init: object) =>
    server.fetch(path, {
      ...init,
      key,
      headers: { ...(init as { headers?: object }).headers, origin: FOREIGN },
    })
  const at = `/auth/connections/${id}`
  const open = from(null)
  const exchanged = await send<{ jwt: string }>(open, 'POST', `${at}/exchange`, { code })
  assert.equal(exchanged.status, 200, JSON.stringify(exchanged.body))
  isReadable(exchanged)
  const page = from(exchanged.body.jwt)
  await reaches(server, id, 'AWAITING_INPUT')
  const shown = await send<{ fields: { id: string }[]; interaction_id: string }>(page, 'GET', at)
  assert.equal(shown.status, 200)
  isReadable(shown)
  const events = await server.fetch(`${at}/events`, {
    key: exchanged.body.jwt,
    headers: { origin: FOREIGN, accept: 'text/event-stream', 'last-event-id': '1' },
  })
  assert.equal(events.status, 200)
  isReadable(events)
  let text = ''
  // Published components go by the name of an event.
  for await (const chunk of events.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('data: ')) break
  }
  assert.match(text, /\nevent: managed_auth_state\ndata: \{"event":"managed_auth_state",/)

  const failures: [string, number, Promise<{ status: number; headers: Headers }>][] = [
    ['a body that is wrong', 400, send(page, 'POST', `${at}/submit`, { field_values: { absent: 'x' } })],
    ['a type that is wrong', 415, foreign(exchanged.body.jwt)(`${at}/submit`, { method: 'POST', body: 'x' })],
    [
      'a question of before',
      409,
      send(page, 'POST', `${at}/submit`, { field_values: { email: 'x' }, interaction_id: 'x' }),
    ],
    ['a used code', 410, send(open, 'POST', `${at}/exchange`, { code })],
    ['an unknown code', 404, send(open, 'POST', `${at}/exchange`, { code: 'unknown' })],
    ['no token', 401, send(open, 'GET', at)],
    ['a wrong token', 401, send(from('nonsense'), 'GET', `${at}/events`)],
    ['another connection', 401, send(page, 'GET', '/auth/connections/another')],
  ]
  for (const [what, status, sent] of failures) {
    const answer = await sent
    assert.equal(answer.status, status, what)
    isReadable(answer)
  }
  const { interaction_id } = shown.body
  const values = { email: 'me@cross.example', password: 'right' }
  const submitted = await send(page, 'POST', `${at}/submit`, { field_values: values, interaction_id })
  assert.equal(submitted.status, 202)
  isReadable(submitted)
  await reaches(server, id, 'SUCCESS')
})

test('an API key in a page of another origin is refused, and reads nothing elsewhere', async () => {
  const { id } = await connect(server, 'keyed')
  const origin = { origin: FOREIGN }
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/submit'],
  ] as const) {
    const body = method === 'POST' ? { field_values: { email: 'x' } } : undefined
    const answer = await send(server, method, `/auth/connections/${id}${path}`, body, origin)
    assert.equal(answer.status, 403, path)
    assert.match(answer.body.message!, /Cannot use an API key from a page of https:\/\/shop\.example/)
  }
  // A browser shows none of these to the page.
  for (const path of ['/browsers', '/auth/connections', '/org/api_keys', '/health', '/openapi.json']) {
    const answer = await server.fetch(path, { headers: origin })
    assert.equal(answer.headers.get('access-control-allow-origin'), null, path)
  }
  // Its own pages, and programs, which send no Origin.
  assert.equal(
    (await send(server, 'GET', `/auth/connections/${id}`, undefined, { origin: server.url })).status,
    200,
  )
  assert.equal((await send(server, 'GET', `/auth/connections/${id}`)).status, 200)
})

test('pages of a listed origin may call every operation with a key', async () => {
  for (const { operation, path } of rows) {
    const { method } = operation
    const answer = await preflight(listing, fill(path), {
      method,
      origin: LISTED,
      headers: 'x-any, authorization',
    })
    assert.equal(answer.status, 204, `${method} ${path}`)
    assert.equal(answer.headers.get('access-control-allow-origin'), LISTED)
    assert.equal(answer.headers.get('access-control-allow-headers'), 'x-any, authorization')
    assert.equal(answer.headers.get('access-control-allow-credentials'), null)
  }
  const { id } = await connect(listing, 'listed')
  for (const path of ['/browsers', `/auth/connections/${id}`, '/browsers/absent']) {
    const answer = await listing.fetch(path, { headers: { origin: LISTED } })
    assert.equal(answer.status, path.endsWith('absent') ? 404 : 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), LISTED)
    assert.equal(answer.headers.get('vary'), 'Origin')
  }
  for (const origin of [FOREIGN, 'https://admin.example.evil.example', 'http://admin.example']) {
    const answer = await preflight(listing, '/browsers', { origin })
    assert.equal(answer.status, 405, origin)
    assert.equal(answer.headers.get('access-control-allow-origin'), null)
  }
})
