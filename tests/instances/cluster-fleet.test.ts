// Two servers with BERTH_DRIVER=kubernetes on a stand-in for a cluster. What Kubernetes itself does is in tests/kubernetes.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { Client } from 'pg'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { startCluster } from '../fixtures/cluster/start.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { newDatabase } from '../fixtures/shared-postgres.ts'
import { createSession, readSession } from '../fixtures/sessions.ts'

/** More than a server takes at once. */
const SESSIONS = 25
const LEASE_SECONDS = 6
/** Longer than the sweep of a server pauses, see kubernetes-driver.ts. */
const SWEEP_MS = 31_000

test('servers live beside the Pods of others, and take over all sessions of one that is killed', async (t) => {
  const cluster = await startCluster(t)
  const database = await newDatabase(t)
  const start = () =>
    startServer(t, {
      hasRealInstances: true,
      env: {
        ...cluster.env,
        DATABASE_URL: database.url,
        BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        BERTH_API_KEY: 'sk_fleet0000000_abcdefghijklmnopqrstuvwxyz012345',
        BERTH_LEASE_SECONDS: String(LEASE_SECONDS),
      },
    })
  const lost = await start()
  const other = await start()
  const sessions = []
  for (let count = 0; count < SESSIONS; count++) sessions.push(await createSession(lost))
  await pause(SWEEP_MS)
  assert.equal((await other.fetch('/health')).status, 200)
  const client = new Client(database.url)
  await client.connect()
  cleanUpAfter(t, () => client.end())
  const owners = async () => {
    const { rows } = await client.query<{ owner: string }>(
      'SELECT DISTINCT server_id AS owner FROM browsers WHERE ended_at IS NULL',
    )
    return rows.map(({ owner }) => owner)
  }
  const [before] = await owners()
  process.kill(lost.pid, 'SIGKILL')
  await eventually(
    'the other server has all sessions',
    async () => {
      const after = await owners()
      return after.length === 1 && after[0] !== before
    },
    30_000,
  )
  // Somebody renews their leases.
  await pause(2 * LEASE_SECONDS * 1000)
  for (const { session_id } of sessions)
    assert.equal((await readSession(other, session_id)).end_reason, undefined)
  assert.equal((await cluster.report()).pods, SESSIONS)
})
