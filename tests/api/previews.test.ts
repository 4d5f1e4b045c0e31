// Who may follow small pictures of which sessions, and what is refused. Instances are fake, and have no picture.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { MAX_PREVIEWS } from '@berth/contracts/previews'
import { newKey, newProject, newTenant } from '../conformance/fixture-keys.ts'
import { HttpCaller } from '../conformance/http-exchange.ts'
import { PreviewReader } from '../fixtures/previews.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

const owner = { after }
const server = await startServer(owner, { env: { BERTH_RATE_LIMIT_PER_MINUTE: '300' } })
const caller = new HttpCaller(owner, server.url)

test('another project sees nothing of a session, not even that it exists', async (t) => {
  const [ours, theirs] = [
    await newTenant(caller, server.key, 'ours'),
    await newTenant(caller, server.key, 'theirs'),
  ]
  const of = (key: string) => ({
    fetch: (path: string, init: object = {}) => server.fetch(path, { ...init, key }),
  })
  const session = await createSession(of(ours.key.key), { name: 'secret-plan' })
  const ids = `${session.session_id},secret-plan,absent`
  const reader = await PreviewReader.open(t, server, { ids }, theirs.key.key)
  await reader.over()
  assert.deepEqual(
    reader.events.toSorted((one, other) => one.id.localeCompare(other.id)),
    ids
      .split(',')
      .map((id) => ({ id, state: 'ended' }))
      .toSorted((one, other) => one.id.localeCompare(other.id)),
  )
  const own = await PreviewReader.open(t, server, { ids: session.session_id }, ours.key.key)
  await own.until('state', ({ state }) => state !== 'ended')
})

test('it needs the scope to read sessions', async (t) => {
  const session = await createSession(server)
  const [reading, other] = await Promise.all([
    newKey(caller, server.key, { name: 'reads', scopes: ['browsers:read'] }),
    newKey(caller, server.key, { name: 'other', scopes: ['profiles:write', 'apps:read'] }),
  ])
  const path = `/previews?ids=${session.session_id}`
  assert.equal((await server.fetch(path, { key: other.key })).status, 403)
  assert.equal((await server.fetch(path, { key: null })).status, 401)
  const reader = await PreviewReader.open(t, server, { ids: session.session_id }, reading.key)
  await reader.until('state', ({ id }) => id === session.session_id)
})

test('a stream ends when its key is deleted', async (t) => {
  const session = await createSession(server)
  const key = await newKey(caller, server.key, { name: 'short', scopes: ['browsers:read'] })
  const reader = await PreviewReader.open(t, server, { ids: session.session_id }, key.key)
  await reader.until('state', ({ id }) => id === session.session_id)
  assert.equal((await send(server, 'DELETE', `/org/api_keys/${key.id}`)).status, 204)
  await reader.over()
})

test('wrong questions are refused with the name of the field', async () => {
  const many = Array.from({ length: MAX_PREVIEWS + 1 }, (_none, at) => `s${at}`).join()
  for (const [query, field] of [
    ['', 'ids'],
    ['ids=', 'ids'],
    ['ids=,,', 'ids'],
    [`ids=${many}`, 'ids'],
    ['ids=a&width=63', 'width'],
    ['ids=a&width=641', 'width'],
    ['ids=a&width=wide', 'width'],
  ]) {
    const { status, body } = await send(server, 'GET', `/previews?${query}`)
    assert.equal(status, 400, query)
    assert.match(JSON.stringify(body), new RegExp(field!), query)
  }
})

test('a stream is one request, and a project may have so many', async (t) => {
  const project = await newProject(caller, server.key, 'many streams')
  const { key } = await newKey(caller, server.key, { name: 'many', project_id: project.id })
  const session = await createSession({
    fetch: (path: string, init: object = {}) => server.fetch(path, { ...init, key }),
  })
  const ids = session.session_id
  await Promise.all(Array.from({ length: 50 }, () => PreviewReader.open(t, server, { ids }, key)))
  const { status, headers } = await server.fetch(`/previews?ids=${ids}`, { key })
  assert.equal(status, 429)
  assert.ok(headers.get('retry-after'))
})
