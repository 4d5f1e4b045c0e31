// Several servers over one PostgreSQL.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPostgres } from '../fixtures/postgres.ts'
import { startServer } from '../fixtures/server.ts'
import { client84 } from '../client/versions.ts'

const masterKey = Buffer.alloc(32, 7).toString('base64')
const firstKey = 'sk_replica00000_abcdefghijklmnopqrstuvwxyz012345'

test('replicas start together, exchange announcements, and one continues when the other is killed', async (t) => {
  const postgres = await startPostgres(t)
  const env = { DATABASE_URL: postgres.url, BERTH_MASTER_KEY: masterKey, BERTH_API_KEY: firstKey }
  const [one, two, three] = await Promise.all([
    startServer(t, { env }),
    startServer(t, { env }),
    startServer(t, { env }),
  ])
  const keys = client84(one).apiKeys
  assert.equal((await Array.fromAsync(keys.list())).length, 1, 'one first key')

  const made = await keys.create({ name: 'shared' })
  for (const server of [one, two, three]) {
    assert.equal((await server.fetch('/org/projects', { key: made.key })).status, 200)
  }
  await keys.delete(made.id)
  for (const server of [two, three]) {
    // They have cached the key; the announcement reaches them within moments, before the cache expires.
    await waitFor(async () => (await server.fetch('/org/projects', { key: made.key })).status === 401, 2_000)
  }

  const project = await client84(two).projects.create({ name: 'from two' })
  await two.stop('SIGKILL')
  assert.deepEqual(await client84(three).projects.retrieve('from two'), project)
  await client84(three).projects.create({ name: 'goes on' })
})

test('the same Idempotency-Key has one effect across replicas', async (t) => {
  const postgres = await startPostgres(t)
  const env = { DATABASE_URL: postgres.url, BERTH_MASTER_KEY: masterKey, BERTH_API_KEY: firstKey }
  const servers = [await startServer(t, { env }), await startServer(t, { env })]
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      servers[index % 2]!.fetch('/org/projects', {
        method: 'POST',
        body: JSON.stringify({ name: 'once' }),
        headers: { 'content-type': 'application/json', 'idempotency-key': 'the-key' },
      }),
    ),
  )
  const bodies = await Promise.all(responses.map((response) => response.text()))
  assert.deepEqual(new Set(responses.map((response) => response.status)), new Set([201]))
  assert.equal(new Set(bodies).size, 1)
  assert.equal(responses.filter((response) => response.headers.has('idempotent-replayed')).length, 19)
})

test('a server with another master key is refused', async (t) => {
  const postgres = await startPostgres(t)
  await startServer(t, { env: { DATABASE_URL: postgres.url, BERTH_MASTER_KEY: masterKey } })
  await assert.rejects(
    startServer(t, { env: { DATABASE_URL: postgres.url } }),
    /its secrets are under master key \w+, which is neither in the data directory nor in BERTH_MASTER_KEY/,
  )
})

test('a second server on the same data directory is refused and says why', async (t) => {
  const server = await startServer(t)
  await assert.rejects(
    startServer(t, { dataDir: server.dataDir }),
    /another Berth server is using it; stop that one or set BERTH_DATA_DIR/,
  )
})

async function waitFor(condition: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, 'the condition did not become true in time')
  }
}
