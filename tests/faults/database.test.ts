// How the API behaves while its database fails, and that it recovers without help.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FaultProxy } from '../fixtures/fault-proxy.ts'
import { eventually } from '../fixtures/host.ts'
import { databaseUrl, startPostgres } from '../fixtures/postgres.ts'
import { startServer, type TestServer } from '../fixtures/server.ts'

async function behindProxy(t: Parameters<typeof startServer>[0]) {
  const postgres = await startPostgres(t)
  const proxy = await FaultProxy.start(t, postgres.socketDir)
  const server = await startServer(t, { env: { DATABASE_URL: databaseUrl(proxy.socketDir) } })
  return { proxy, server }
}

function create(server: TestServer, name: string): Promise<Response> {
  return server.fetch('/org/projects', {
    method: 'POST',
    body: JSON.stringify({ name }),
    headers: { 'content-type': 'application/json' },
  })
}

async function recovers(server: TestServer): Promise<void> {
  await eventually('ready again', async () => (await server.fetch('/ready', { key: null })).status === 200)
}

test('without a database, writes get 503 with Retry-After, and health still answers', async (t) => {
  const { proxy, server } = await behindProxy(t)
  assert.equal((await create(server, 'before')).status, 201)
  await proxy.refuse()
  const refused = await create(server, 'during')
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(((await refused.json()) as { code: string }).code, 'unavailable')
  assert.equal((await server.fetch('/ready', { key: null })).status, 503)
  assert.equal((await server.fetch('/health', { key: null })).status, 200)
  await proxy.accept()
  await recovers(server)
  assert.equal((await create(server, 'during')).status, 201, 'the refused write had no effect')
  assert.equal((await create(server, 'before')).status, 409, 'the earlier one is still there')
})

test('connections cut under load fail some requests and repeat none', async (t) => {
  const { proxy, server } = await behindProxy(t)
  const names = Array.from({ length: 60 }, (_, index) => `cut ${index}`)
  const results = names.map(async (name, index) => {
    if (index % 10 === 9) proxy.cut()
    return { name, status: (await create(server, name)).status }
  })
  const outcomes = await Promise.all(results)
  assert.ok(outcomes.every(({ status }) => status === 201 || status === 503))
  await recovers(server)
  const listed = (await (await server.fetch('/org/projects?limit=100&query=cut')).json()) as {
    name: string
  }[]
  const stored = new Set(listed.map((project) => project.name))
  assert.equal(stored.size, listed.length)
  for (const { name, status } of outcomes) {
    if (status === 201) assert.ok(stored.has(name), `${name} was acknowledged`)
  }
})

test('a database that hangs does not hang the API', async (t) => {
  const { proxy, server } = await behindProxy(t)
  assert.equal((await create(server, 'before')).status, 201)
  proxy.hold()
  const startedAt = performance.now()
  const { status } = await create(server, 'held')
  assert.equal(status, 503)
  assert.ok(performance.now() - startedAt < 30_000)
  proxy.cut()
  await recovers(server)
})

test('an embedded database that is killed is restarted', async (t) => {
  const server = await startServer(t, { hasOwnPostgres: true })
  assert.equal((await create(server, 'before')).status, 201)
  const killed = postmasterPid(server.dataDir)
  process.kill(killed!, 'SIGKILL')
  // The backends of a killed postmaster still answer for a moment, so readiness only counts after a new one has
  // started.
  await eventually('a new postmaster', () => ![undefined, killed].includes(postmasterPid(server.dataDir)))
  await recovers(server)
  assert.equal((await create(server, 'before')).status, 409)
  assert.equal((await create(server, 'after')).status, 201)
})

function postmasterPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}
