import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startServer, type TestServer } from '../fixtures/server.ts'
import { client84 } from './versions.ts'

const range = () => ({
  start: new Date(Date.now() - 3_600_000).toISOString(),
  end: new Date(Date.now() + 3_600_000).toISOString(),
})

async function makeTraffic(server: TestServer): Promise<void> {
  const { projects } = client84(server)
  for (let index = 0; index < 8; index++) {
    const { id } = await projects.create({ name: `project ${index}` })
    await projects.retrieve(id)
  }
  await assert.rejects(projects.retrieve('nobody'), { status: 404 })
}

test('auditLogs.list pages every request, newest first, and filters', async (t) => {
  const server = await startServer(t)
  await makeTraffic(server)
  const { auditLogs } = client84(server)
  const entries = await Array.fromAsync(auditLogs.list({ ...range(), limit: 3, exclude_method: ['PUT'] }))
  const requests = entries.filter((entry) => !entry.path.startsWith('/audit-logs'))
  assert.equal(requests.length, 17)
  assert.ok(entries.every((entry, index) => index === 0 || entry.timestamp <= entries[index - 1]!.timestamp))
  const [newest] = requests
  assert.deepEqual(
    { ...newest, timestamp: '', duration_ms: 0, user_agent: '' },
    {
      timestamp: '',
      auth_strategy: 'api_key',
      user_id: 'operator',
      email: 'operator@example.com',
      status: 404,
      method: 'GET',
      path: '/org/projects/nobody',
      route: '/org/projects/:id',
      domain: new URL(server.url).host,
      duration_ms: 0,
      client_ip: '127.0.0.1',
      user_agent: '',
      scope: 'projects:read',
    },
  )
  assert.match(newest!.user_agent, /^Kernel\/JS 0\.84\.0$/)

  const count = async (filter: object) =>
    (await Array.fromAsync(auditLogs.list({ ...range(), ...filter }))).filter(
      (entry) => !entry.path.startsWith('/audit-logs'),
    ).length
  assert.equal(await count({ method: 'POST' }), 8)
  assert.equal(await count({ exclude_method: ['POST', 'DELETE'] }), 9)
  assert.equal(await count({ search: '404' }), 1)
  assert.equal(await count({ search: 'NOBODY' }), 1)
  assert.equal(await count({ search: 'no such text' }), 0)
  assert.equal(await count({ search: 'no such text', search_user_id: ['operator', 'other'] }), 17)
  assert.equal(await count({ auth_strategy: 'oauth' }), 0)
  assert.equal(await count({ service: 'api' }), 17)
  assert.equal(await count({ service: 'other' }), 0)
})

const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString()

test('auditLogs.list refuses a range that is reversed or longer than 30 days', async (t) => {
  const { auditLogs } = client84(await startServer(t))
  for (const [start, end] of [
    [day(2), day(1)],
    [day(1), day(32)],
    ['yesterday', day(2)],
  ]) {
    await assert.rejects(auditLogs.list({ start: start!, end: end! }), { status: 400 })
  }
})

test('auditLogs.download gets every record, whatever the size of its chunks', async (t) => {
  const server = await startServer(t)
  await makeTraffic(server)
  const { auditLogs } = client84(server)
  for (const limit of [1, 5, 50_000]) {
    const chunks: Uint8Array[] = []
    const query = { ...range(), limit, search: '/org/projects' }
    const result = await auditLogs.download(query, { write: (chunk) => void chunks.push(chunk) })
    assert.equal(result.rows, 17)
    assert.equal(result.chunks, Math.ceil(17 / limit))
    const lines = chunks.flatMap((chunk) => gunzipSync(chunk).toString().trim().split('\n'))
    const records = lines.map((line) => JSON.parse(line) as { event_id: string; path: string })
    assert.equal(new Set(records.map((record) => record.event_id)).size, 17)
  }
  const plain = await auditLogs.exportChunk({ ...range(), format: 'jsonl', method: 'POST' })
  assert.equal((await plain.text()).trim().split('\n').length, 8)
})

test('a project key sees only the records of its project', async (t) => {
  const server = await startServer(t)
  const organization = client84(server)
  const { id } = await organization.projects.create({ name: 'own' })
  const { key } = await organization.apiKeys.create({ name: 'k', project_id: id })
  const scoped = client84(server, { apiKey: key })
  await scoped.projects.retrieve(id)
  const entries = await Array.fromAsync(scoped.auditLogs.list(range()))
  assert.deepEqual(
    entries.map((entry) => entry.path),
    [`/org/projects/${id}`],
  )
})
