// Rules of sessions that need no browser: caps, refusals, ends.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import { startServer, type TestServer } from '../fixtures/server.ts'

const fileOwner = { after }
const env = { BERTH_MAX_CONCURRENT_SESSIONS: '8' }
const shared = await startServer(fileOwner, { env })

interface Body extends Pick<Browser, 'name' | 'start_url' | 'state' | 'tags' | 'viewport'> {
  readonly session_id: string
  readonly code: string
  readonly message: string
  readonly end_reason: string
  readonly id: string
}

async function send(server: TestServer, method: string, path: string, body?: unknown, headers = {}) {
  const response = await server.fetch(path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: (text ? JSON.parse(text) : null) as Body,
  }
}

async function endAll(server: TestServer): Promise<void> {
  const response = await server.fetch('/browsers?limit=100')
  for (const { session_id } of (await response.json()) as Body[]) {
    await send(server, 'DELETE', `/browsers/${session_id}`)
  }
}

test('the cap of a project is exact under parallel creates', async () => {
  const project = (await send(shared, 'POST', '/org/projects', { name: 'capped' })).body
  await send(shared, 'PATCH', `/org/projects/${project.id}/limits`, { max_concurrent_sessions: 3 })
  const header = { 'x-kernel-project-id': project.id }
  const create = () => send(shared, 'POST', '/browsers', { headless: true }, header)
  const answers = await Promise.all(Array.from({ length: 50 }, create))
  const statuses = answers.map((answer) => answer.status)
  assert.equal(statuses.filter((status) => status === 200).length, 3)
  assert.equal(statuses.filter((status) => status === 429).length, 47)
  const refused = answers.find((answer) => answer.status === 429)!
  assert.equal(refused.body.code, 'too_many_sessions')
  assert.match(refused.body.message, /its limit of 3 concurrent sessions/)
  assert.ok(refused.headers.get('retry-after'))

  const one = answers.find((answer) => answer.status === 200)!
  await send(shared, 'DELETE', `/browsers/${one.body.session_id}`)
  const again = await Promise.all([create(), create(), create()])
  assert.deepEqual(
    again.map((answer) => answer.status).toSorted((a, b) => a - b),
    [200, 429, 429],
  )
  await endAll(shared)
})

test('the cap of the organisation counts all projects', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send(shared, 'POST', '/browsers', { headless: true })),
  )
  assert.equal(answers.filter((answer) => answer.status === 200).length, 8)
  assert.match(answers.find((answer) => answer.status === 429)!.body.message, /the organisation/)
  await endAll(shared)
})

test('unavailable options are refused by name, and empty ones are ignored', async () => {
  for (const [field, value] of Object.entries({
    gpu: true,
    profile: { name: 'absent' },
    extensions: [{ name: 'absent' }],
    proxy_id: 'absent',
    invocation_id: 'absent',
  })) {
    const { status, body } = await send(shared, 'POST', '/browsers', { [field]: value })
    assert.equal(status, 400, field)
    assert.ok(body.message.includes(field.replace(/_id$|s$/, '')), body.message)
  }
  for (const empty of [
    { telemetry: null },
    { telemetry: {} },
    { stealth: false },
    { stealth: true },
    { extensions: [] },
    { chrome_policy: {} },
    { persistence: { id: 'x' } },
  ]) {
    const { status } = await send(shared, 'POST', '/browsers', { headless: true, ...empty })
    assert.equal(status, 200, JSON.stringify(empty))
  }
  await endAll(shared)
})

test('sizes, times, names and addresses beyond their bounds are refused', async () => {
  for (const body of [
    { viewport: { width: 319, height: 600 } },
    { viewport: { width: 7681, height: 600 } },
    { viewport: { width: 800, height: 4321 } },
    { viewport: { width: 800.5, height: 600 } },
    { viewport: { width: '1920', height: 1080 } },
    { viewport: { width: 800 } },
    { timeout_seconds: 9 },
    { timeout_seconds: 259_201 },
    { name: '' },
    { name: 'a b' },
    { name: '../x' },
    { tags: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`t${index}`, 'v'])) },
    { tags: { team: 1 } },
    { viewport: { width: 800, height: 600, refresh_rate: 0 } },
    { start_url: 7 },
    { gpu: true, headless: true },
  ]) {
    const { status, body: answer } = await send(shared, 'POST', '/browsers', body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.ok(answer.message.includes(Object.keys(body)[0]!), answer.message)
  }
})

test('no start_url refuses a create or a change, and each is shown as far as it can be stored', async () => {
  const texts = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'chrome://settings',
    'data:text/html,x',
    'not a url',
    '--no-sandbox',
    'https://a\r\nb',
    `https://example.com/${'x'.repeat(70_000)}`,
    'a\0b\u{d800}',
  ]
  for (const start_url of texts) {
    const { status, body } = await send(shared, 'POST', '/browsers', { headless: true, start_url })
    assert.equal(status, 200, start_url.slice(0, 100))
    const shown = start_url.slice(0, 65_536).replace('\0', '\u{fffd}').toWellFormed()
    assert.equal(body.start_url, shown)
    const path = `/browsers/${body.session_id}`
    const changed = await send(shared, 'PATCH', path, { start_url: 'https://example.com/' })
    assert.equal(changed.body.start_url, 'https://example.com/')
    assert.equal((await send(shared, 'PATCH', path, { start_url })).body.start_url, shown)
    const removed = await send(shared, 'PATCH', path, { start_url: '' })
    assert.equal(removed.body.start_url, undefined)
    assert.equal((await send(shared, 'DELETE', path)).status, 204)
  }
})

test('the state of a session is in its answers', async () => {
  const created = await send(shared, 'POST', '/browsers', { headless: true })
  assert.equal(created.body.state, 'ready')
  const path = `/browsers/${created.body.session_id}`
  await send(shared, 'DELETE', path)
  assert.equal((await send(shared, 'GET', `${path}?include_deleted=true`)).body.state, 'ended')
})

test('null keeps name and tags, and a refresh rate above the highest counts as the highest', async () => {
  const viewport = { width: 800, height: 600, refresh_rate: 1000 }
  const made = await send(shared, 'POST', '/browsers', {
    headless: true,
    name: 'kept-by-null',
    tags: { team: 'a' },
    viewport,
  })
  assert.deepEqual(made.body.viewport, { ...viewport, refresh_rate: 240 })
  const change = (body: object) => send(shared, 'PATCH', '/browsers/kept-by-null', body)
  const kept = await change({ name: null, tags: null })
  assert.deepEqual([kept.status, kept.body.name, kept.body.tags], [200, 'kept-by-null', { team: 'a' }])
  assert.equal((await change({ timeout_seconds: null })).status, 400)
  const removed = await change({ name: '', tags: {} })
  assert.deepEqual([removed.status, removed.body.name, removed.body.tags], [200, undefined, undefined])
  const path = `/browsers/${made.body.session_id}`
  assert.equal((await send(shared, 'DELETE', path)).status, 204)
})

test('fields that the server does not know are ignored and named', async () => {
  const body = { headless: true, colour: 'teal', viewport: { width: 800, height: 600, depth: 24 } }
  const { status, headers } = await send(shared, 'POST', '/browsers', body)
  assert.equal(status, 200)
  assert.equal(headers.get('x-berth-ignored'), 'viewport.depth, colour')
  await endAll(shared)
})

test('a repeated create with the same key is one session', async () => {
  const header = { 'idempotency-key': 'create-once' }
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => send(shared, 'POST', '/browsers', { headless: true }, header)),
  )
  assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]))
  assert.equal(new Set(answers.map((answer) => answer.body.session_id)).size, 1)
  assert.equal(((await (await shared.fetch('/browsers')).json()) as Body[]).length, 1)
  const other = await send(shared, 'POST', '/browsers', { headless: false }, header)
  assert.equal(other.status, 409)
  await endAll(shared)
})

test('a session of another project is not found, and a project with a session cannot be deleted', async () => {
  const project = (await send(shared, 'POST', '/org/projects', { name: 'holder' })).body
  const header = { 'x-kernel-project-id': project.id }
  const { body } = await send(shared, 'POST', '/browsers', { headless: true, name: 'mine' }, header)
  const other = (await send(shared, 'POST', '/org/projects', { name: 'other' })).body
  for (const name of [body.session_id, 'mine']) {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answer = await send(shared, method, `/browsers/${name}`, undefined, {
        'x-kernel-project-id': other.id,
      })
      assert.equal(answer.status, 404, `${method} ${name}`)
    }
  }
  const kept = await send(shared, 'DELETE', `/org/projects/${project.id}`)
  assert.deepEqual([kept.status, kept.body.code], [409, 'project_not_empty'])
  await endAll(shared)
})

test('a session ends within two seconds of its timeout, with that reason', async () => {
  const { body } = await send(shared, 'POST', '/browsers', { headless: true, timeout_seconds: 10 })
  await pause(9_500)
  assert.equal((await send(shared, 'GET', `/browsers/${body.session_id}`)).status, 200)
  await pause(2_500)
  assert.equal((await send(shared, 'GET', `/browsers/${body.session_id}`)).status, 404)
  const ended = await send(shared, 'GET', `/browsers/${body.session_id}?include_deleted=true`)
  assert.equal(ended.body.end_reason, 'timed_out')
})

test('a killed server leaves no session without an end', async (t) => {
  const first = await startServer(t, { env })
  const { body } = await send(first, 'POST', '/browsers', { headless: true })
  await first.stop('SIGKILL')
  const second = await startServer(t, { env, dataDir: first.dataDir })
  const ended = await send(second, 'GET', `/browsers/${body.session_id}?include_deleted=true`)
  assert.equal(ended.body.end_reason, 'lost')
})

for (const point of ['browser-reserved', 'browser-started', 'browser-deleted']) {
  test(`a kill at ${point} is repaired by the next start`, async (t) => {
    const first = await startServer(t, { env: { ...env, BERTH_CRASH_AT: point } })
    const created = await send(first, 'POST', '/browsers', { headless: true }).catch(() => undefined)
    if (created) {
      await send(first, 'DELETE', `/browsers/${created.body.session_id}`).catch(() => undefined)
    }
    await first.stop('SIGKILL')
    const second = await startServer(t, { env, dataDir: first.dataDir })
    const live = (await (await second.fetch('/browsers')).json()) as Body[]
    assert.deepEqual(live, [])
    for (let count = 0; count < 8; count++) {
      assert.equal(
        (await send(second, 'POST', '/browsers', { headless: true })).status,
        200,
        'no place is lost',
      )
    }
  })
}
