// Servers are killed while they fill a pool, lease a browser or release one. No browser is in two leases, and the
// pool soon has its full size again.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { BrowserPool } from '@berth/contracts/browser-pools'
import { withCdp } from '../fixtures/cdp.ts'
import { eventually, instanceDirs, instancesWithGroups } from '../fixtures/host.ts'
import {
  acquire,
  countWaiters,
  createPool,
  filled,
  pooledRows,
  readPool,
  release,
  tryAcquire,
  type LeasedSession,
} from '../fixtures/pools.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { query, send } from '../fixtures/sessions.ts'
import { sample } from '../tiers.ts'

/** The value in the design. */
const RESTORED_WITHIN_MS = 30_000
const SIZE = 2

function start(t: TestContext, dataDir: string, at?: string): Promise<TestServer> {
  return startServer(t, { hasRealInstances: true, dataDir, ...(at && { env: { BERTH_CRASH_AT: at } }) })
}

async function killed({ process }: TestServer, at: string): Promise<void> {
  await eventually(`a kill at ${at}`, () => process.signalCode === 'SIGKILL')
}

/** Rows, instances and counters agree on the browsers and their number. */
async function isWhole(server: TestServer, pool: BrowserPool, what: string): Promise<void> {
  let seen: unknown
  await eventually(
    `the pool is complete after ${what}`,
    async () => {
      const { available_count, acquired_count } = await readPool(server, pool)
      const rows = (await pooledRows(server, pool)).filter((row) => row.end_reason === null)
      const instances = rows.map(({ instance_id }) => instance_id).toSorted()
      const there = instanceDirs(server.dataDir).toSorted()
      const groups = instancesWithGroups(server.dataDir).toSorted()
      seen = { available_count, acquired_count, instances, there, groups }
      return (
        available_count + acquired_count === SIZE &&
        rows.length === SIZE &&
        there.join() === instances.join() &&
        groups.join() === instances.join()
      )
    },
    RESTORED_WITHIN_MS,
  ).catch(() => assert.fail(`${what}: ${JSON.stringify(seen)}`))
}

test('after a kill at any point of a fill, lease or release, the pool is complete, and a retry has one effect', async (t) => {
  const dataDir = tempDir(t)
  let server = await start(t, dataDir)
  const pool = await createPool(server, { size: SIZE })
  const change = (body: object) => send(server, 'PATCH', `/browser_pools/${pool.id}`, body)
  await isWhole(server, pool, 'its making')

  for (const at of ['browser-reserved', 'pooled-started']) {
    await change({ fill_rate_per_minute: 0, discard_all_idle: true })
    await server.stop('SIGTERM')
    server = await start(t, dataDir, at)
    await change({ fill_rate_per_minute: 10_000 }).catch(() => undefined)
    await killed(server, at)
    // The repair passes the same point.
    server = await start(t, dataDir)
    await isWhole(server, pool, at)
  }
  await server.stop('SIGTERM')

  for (const at of sample(['before-commit', 'after-commit', 'lease-committed'], 'crashPoints')) {
    server = await start(t, dataDir, at)
    await isWhole(server, pool, `what came before ${at}`)
    const key = { 'idempotency-key': at }
    await assert.rejects(tryAcquire(server, pool, {}, key))
    await killed(server, at)
    server = await start(t, dataDir)
    await isWhole(server, pool, at)
    const again = await tryAcquire(server, pool, {}, key)
    assert.equal(again.status, 200, at)
    assert.equal(again.headers.get('idempotent-replayed'), at === 'before-commit' ? null : 'true', at)
    assert.equal((await readPool(server, pool)).acquired_count, 1, at)
    const session = again.body as LeasedSession
    // Answered by the previous server, which had another port.
    const url = new URL(session.cdp_ws_url)
    url.host = new URL(server.url).host
    assert.equal(await withCdp(url.href, (cdp) => cdp.evaluate('1 + 1')), 2, at)
    await release(server, session)
    await server.stop('SIGTERM')
  }

  const releases: [at: string, body: object][] = [
    ['lease-revoked', {}],
    ['before-commit', {}],
    ['after-commit', { reuse: false }],
    ['lease-reset', { reset: true }],
  ]
  for (const [at, body] of sample(releases, 'crashPoints')) {
    server = await start(t, dataDir)
    const session = await acquire(server, pool)
    await server.stop('SIGTERM')
    server = await start(t, dataDir, at)
    await assert.rejects(release(server, session, body))
    await killed(server, at)
    server = await start(t, dataDir)
    await release(server, session, body)
    await isWhole(server, pool, `a release with ${at}`)
    await filled(server, pool, SIZE)
    await server.stop('SIGTERM')
  }

  server = await start(t, dataDir)
  await isWhole(server, pool, 'all of it')
  const leases = await Promise.all(Array.from({ length: SIZE }, () => acquire(server, pool)))
  assert.equal(new Set(leases.map(({ session_id }) => session_id)).size, SIZE)
  for (const { cdp_ws_url } of leases) {
    assert.equal(await withCdp(cdp_ws_url, (cdp) => cdp.evaluate('1 + 1')), 2)
  }
})

test('browsers of a dead server are not leased, and another server replaces them', async (t) => {
  const { url } = await newDatabase(t)
  const env = {
    DATABASE_URL: url,
    BERTH_MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
    BERTH_API_KEY: 'sk_poolsfaults0_abcdefghijklmnopqrstuvwxyz012345',
  }
  const gone = await startServer(t, { env })
  const pool = await createPool(gone, { size: 2 })
  await filled(gone, pool, 2)
  const serverId = (await pooledRows(gone, pool))[0]!.server_id
  const lent = await acquire(gone, pool)
  await acquire(gone, pool)
  // A client waits there; its place must not outlive it for long.
  const waiting = assert.rejects(tryAcquire(gone, pool, { acquire_timeout_seconds: 60 }))
  await eventually('it waits', async () => (await countWaiters(gone)) === 1)
  const other = await startServer(t, { env })
  await gone.stop('SIGKILL')
  await waiting
  await release(other, lent)

  // As if the server had been silent that long.
  const silentFor = (seconds: number) =>
    query(other, `UPDATE servers SET seen_at = now() - make_interval(secs => $1) WHERE id = $2`, [
      seconds,
      serverId,
    ])
  await silentFor(26)
  assert.equal((await tryAcquire(other, pool, { acquire_timeout_seconds: 0 })).status, 204, 'it may be gone')
  const next = tryAcquire(other, pool, { acquire_timeout_seconds: 60 })
  await silentFor(3600)
  const session = await next
  assert.equal(session.status, 200)
  await filled(other, pool, 1)
  const live = (await pooledRows(other, pool)).filter((row) => row.end_reason === null)
  assert.equal(live.length, 2)
  assert.ok(live.every((row) => row.server_id !== serverId))
  const lost = (await pooledRows(other, pool)).filter((row) => row.end_reason !== null)
  assert.ok(lost.length >= 2 && lost.every((row) => row.end_reason === 'lost'))
})
