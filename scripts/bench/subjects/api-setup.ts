// The setup of rows 27 to 30: our server, the bare server and the bare driver, on the same embedded PostgreSQL with
// the same ten thousand projects, each on its own core.
import { Client } from 'pg'
import { EmbeddedPostgres } from '@berth/server/platform/database/embedded/postgres'
import { startServer } from '../../../tests/fixtures/server.ts'
import type { Cleanup } from '../cleanup.ts'
import { pin, type Cores } from '../measure/cores.ts'
import { cpuMsOf, treeOf } from '../measure/processes.ts'
import { startBareServer, type BareServer } from './bare.ts'
import { Driver } from './driver.ts'
import { HttpClient } from './http-client.ts'
import { postmasterOf } from './postmaster.ts'
import { seedProjects } from './projects.ts'

export interface ApiSetup {
  readonly oursUrl: string
  readonly bareUrl: string
  /** Sent to both servers, so that both parse the same request. */
  readonly headers: Readonly<Record<string, string>>
  readonly http: HttpClient
  readonly driver: Driver
  /** For checking what both sides did; not measured. */
  readonly database: Client
  readonly projectIds: readonly string[]
  /** CPU time so far of our process without PostgreSQL, of the bare server, of the driver and of PostgreSQL. */
  cpuMs(): Record<'ours' | 'bare' | 'driver' | 'postgres', number>
}

export async function startApiSetup(
  cleanup: Cleanup,
  { cores, env }: { cores: Cores; env: Record<string, string> },
): Promise<ApiSetup> {
  // The log level is the default, because writing the log is part of the work.
  const ours = await startServer(cleanup, {
    hasRealInstances: true,
    hasOwnPostgres: true,
    env: { NODE_ENV: 'production', ...env },
  })
  discardOutput(ours.process)
  const host = EmbeddedPostgres.connectionIn(ours.dataDir).host!
  const database = new Client({ host, user: 'berth', database: 'postgres' })
  // The connection ends with the server, which is not a failure of the run.
  database.on('error', () => {})
  await database.connect()
  cleanup.after(() => database.end().catch(() => {}))
  const projectIds = await seedProjects(database)
  const bare = await startBareServer(cleanup, host)
  const driver = await Driver.start(cleanup, host)
  const http = new HttpClient()
  cleanup.after(() => http.close())

  const oursPid = ours.process.pid!
  const postmaster = postmasterOf(ours.dataDir)
  pin(treeOf(oursPid, { except: [postmaster] }), cores.server)
  pin([bare.pid, driver.pid], cores.server)
  pin(treeOf(postmaster), cores.client)
  return {
    oursUrl: ours.url,
    bareUrl: bare.url,
    headers: { authorization: `Bearer ${ours.key}` },
    http,
    driver,
    database,
    projectIds,
    cpuMs: () => cpuOf({ oursPid, bare, driver, postmaster }),
  }
}

function cpuOf(of: { oursPid: number; bare: BareServer; driver: Driver; postmaster: number }) {
  return {
    ours: cpuMsOf(treeOf(of.oursPid, { except: [of.postmaster] })),
    bare: cpuMsOf(treeOf(of.bare.pid)),
    driver: cpuMsOf(treeOf(of.driver.pid)),
    postgres: cpuMsOf(treeOf(of.postmaster)),
  }
}

/** The fixture keeps all output. A test prints little, but here every request prints a log line. */
function discardOutput({ stdout, stderr }: Awaited<ReturnType<typeof startServer>>['process']): void {
  for (const stream of [stdout, stderr]) stream?.removeAllListeners('data').resume()
}
