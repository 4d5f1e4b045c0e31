// What an operator relies on: probes, metrics, and logs that hide secrets and never block.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'

const server = await startServer({ after }, { env: { BERTH_LOG_LEVEL: 'debug' } })

test('probes and documents are open and correct', async () => {
  for (const [path, type] of [
    ['/health', 'application/json; charset=utf-8'],
    ['/status', 'application/json; charset=utf-8'],
    ['/ready', 'application/json; charset=utf-8'],
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/spec.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
  ]) {
    const response = await server.fetch(path!, { key: null })
    assert.equal(response.status, 200, path)
    assert.equal(response.headers.get('content-type'), type)
    assert.match(response.headers.get('x-request-id') ?? '', /^req_/)
    await response.arrayBuffer()
  }
})

test('metrics count requests by route and show the pool, for an organisation key only', async () => {
  await server.fetch('/org/projects/nobody')
  const text = await (await server.fetch('/metrics')).text()
  assert.match(
    text,
    /berth_http_request_duration_seconds_count\{method="GET",route="\/org\/projects\/:id",status="404"\} 1/,
  )
  assert.match(text, /berth_database_connections\{state="idle"\} \d/)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  assert.match(text, /^berth_log_lines_dropped_total 0$/m)
  assert.equal((await server.fetch('/metrics', { key: null })).status, 401)
  const { apiKeys, projects } = client84(server)
  const { id } = await projects.create({ name: 'metrics' })
  const { key } = await apiKeys.create({ name: 'k', project_id: id })
  assert.equal((await server.fetch('/metrics', { key })).status, 403)
})

test('a log line names the request and never the key or a token', async () => {
  const response = await server.fetch('/org/projects/x?jwt=planted-token', {
    headers: { 'user-agent': `agent with ${server.key}` },
  })
  const id = response.headers.get('x-request-id')!
  await waitForOutput(id)
  const logs = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  const line = JSON.parse(logs.find((text) => text.includes(id))!) as Record<string, unknown>
  assert.equal(line['route'], '/org/projects/:id')
  assert.equal(line['status'], 404)
  assert.ok(logs.every((text) => !text.includes(server.key) && !text.includes('planted-token')))
})

test('when the default project is archived, the oldest active project becomes the default', async () => {
  const { projects } = client84(server)
  const holder = await projects.retrieve('Default')
  const second = await projects.create({ name: 'second' })
  await projects.create({ name: 'third' })
  await projects.update('metrics', { status: 'archived' })
  await projects.update(holder.id, { status: 'archived' })
  assert.equal(await defaultProject(), second.id)
  await projects.update(holder.id, { status: 'active' })
  assert.equal(await defaultProject(), second.id, 'a restored project does not become the default again')
  await projects.delete(second.id)
  assert.equal(await defaultProject(), holder.id)
})

test('a log reader that stops reading costs log lines, not requests', async () => {
  server.process.stdout!.pause()
  const longName = 'x'.repeat(200)
  for (let round = 0; round < 60; round++) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => server.fetch(`/org/projects/${longName}`)),
    )
    assert.ok(answers.every((answer) => answer.status === 404))
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  }
  server.process.stdout!.resume()
})

async function waitForOutput(text: string): Promise<void> {
  while (!server.output().includes(text)) await new Promise((resolve) => setTimeout(resolve, 10))
}

async function defaultProject(): Promise<string | undefined> {
  const client = new Client(server.databaseUrl)
  await client.connect()
  const { rows } = await client.query<{ id: string }>('SELECT id FROM projects WHERE is_default')
  await client.end()
  return rows[0]?.id
}
