// Real servers with BERTH_DRIVER=kubernetes over a real PostgreSQL that keeps its books, on a stand-in for the cluster.
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { pino } from 'pino'
import { EmbeddedPostgres } from '@berth/server/platform/database/embedded/postgres'
import { postmasterOf } from '../../bench/subjects/postmaster.ts'
import { cleanUpAfter, type Owner } from '../../../tests/fixtures/cleanup.ts'
import { startCluster, type TestCluster } from '../../../tests/fixtures/cluster/start.ts'
import type { StandInOptions } from '../../../tests/fixtures/cluster/cluster.ts'
import { putCluster } from '../../../tests/fixtures/clusters.ts'
import { databaseUrl } from '../../../tests/fixtures/database-url.ts'
import { startServer, tempDir, type TestServer } from '../../../tests/fixtures/server.ts'

/** As an operator's, and not as the one of the tests, which is careless to be quick. */
const CAREFUL = "\nfsync = on\nfull_page_writes = on\nshared_preload_libraries = 'pg_stat_statements'\n"
const DATABASE = 'berth'
const KEY = 'sk_scale0000000_abcdefghijklmnopqrstuvwxyz012345'
const LOOK_MS = 100
const PATIENCE_MS = 300_000

export interface Rig {
  readonly cluster: TestCluster
  readonly postmaster: number
  /** In the database of the servers. */
  readonly sql: Client
  startServer(settings?: Record<string, string>): Promise<TestServer>
}

export async function startRig(owner: Owner, options: Partial<StandInOptions> = {}): Promise<Rig> {
  const dataDir = tempDir(owner)
  await putCluster(dataDir)
  appendFileSync(join(dataDir, 'postgres/cluster/postgresql.conf'), CAREFUL)
  const postgres = await EmbeddedPostgres.start({ dataDir, log: pino({ level: 'silent' }) })
  cleanUpAfter(owner, () => postgres.stop())
  const socketDir = postgres.connection.host!
  const first = new Client(databaseUrl(socketDir))
  await first.connect()
  await first.query(`CREATE DATABASE ${DATABASE}`)
  await first.end()
  const url = databaseUrl(socketDir, DATABASE)
  const sql = new Client(url)
  await sql.connect()
  cleanUpAfter(owner, () => sql.end())
  await sql.query('CREATE EXTENSION pg_stat_statements')
  const cluster = await startCluster(owner, options)
  return {
    cluster,
    postmaster: postmasterOf(dataDir),
    sql,
    startServer: (settings = {}) =>
      startServer(owner, {
        hasRealInstances: true,
        env: {
          ...cluster.env,
          DATABASE_URL: url,
          BERTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
          BERTH_API_KEY: KEY,
          BERTH_LOG_LEVEL: 'warn',
          BERTH_MAX_CONCURRENT_SESSIONS: '1000000',
          ...settings,
        },
      }),
  }
}

export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `not within ${PATIENCE_MS / 1000} s: ${what}`)
    await pause(LOOK_MS)
  }
}

export async function warmCount(server: TestServer): Promise<number> {
  const text = await (await server.fetch('/metrics')).text()
  return Number(/^berth_warm_instances\{kind="headless"\} (\d+)$/m.exec(text)?.[1])
}

/** Nobody uses it, and it does not time out. */
export const STILL = { headless: true, timeout_seconds: 36_000 }
