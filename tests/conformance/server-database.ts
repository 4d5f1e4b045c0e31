// Direct access to the server's database, past its API: to age a key, and to check that nothing changed.
import { Client } from 'pg'
import { EmbeddedPostgres } from '@berth/server/platform/database/embedded/postgres'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import type { TestServer } from '../fixtures/server.ts'

const rowsOf = (table: string) => `SELECT '${table}' AS name, t::text AS row FROM "${table}" t`

export class ServerDatabase {
  readonly #client: Client
  #tables?: string[]

  private constructor(client: Client) {
    this.#client = client
  }

  static async open(
    owner: Owner,
    { dataDir, databaseUrl }: Pick<TestServer, 'dataDir' | 'databaseUrl'>,
  ): Promise<ServerDatabase> {
    const client = new Client(databaseUrl ?? EmbeddedPostgres.connectionIn(dataDir))
    // A test may kill the server with its database; that is not a failure of this connection.
    client.on('error', () => {})
    await client.connect()
    cleanUpAfter(owner, () => client.end())
    return new ServerDatabase(client)
  }

  async run(statement: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const { rows } = await this.#client.query<Record<string, unknown>>(statement, values)
    return rows
  }

  async count(table: string): Promise<number> {
    const [row] = await this.run(`SELECT count(*)::int AS count FROM ${table}`)
    return row!['count'] as number
  }

  /** Every row of every table as text, but for the tables left out. One statement, because tests ask for it often. */
  async dump(leftOut: readonly string[] = []): Promise<Record<string, string[]>> {
    this.#tables ??= await this.#readTables()
    const tables = this.#tables.filter((name) => !leftOut.includes(name))
    const rows = await this.run(`${tables.map(rowsOf).join(' UNION ALL ')} ORDER BY 1, 2`)
    const dumped: Record<string, string[]> = Object.fromEntries(tables.map((name) => [name, []]))
    for (const { name, row } of rows as { name: string; row: string }[]) dumped[name]!.push(row)
    return dumped
  }

  /** They stay the same: a server changes the schema only while it starts. */
  async #readTables(): Promise<string[]> {
    const tables = await this.run(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
    )
    return (tables as { name: string }[]).map(({ name }) => name)
  }

  /**
   * The dump without what the server changes on its own: the audit log, its signs of life, how long sessions ran, and
   * that an idle session went on standby, how deep, and how long it took to wake.
   */
  async state(): Promise<Record<string, string[]>> {
    const state = await this.dump(['audit_logs', 'servers', 'browsers', 'webhook_watch'])
    const browsers = await this.run(
      `SELECT (to_jsonb(b) - 'uptime_ms' - 'standby_depth' - 'resident_bytes' - 'last_wake_ms' || jsonb_build_object('state', replace(state, 'standby', 'ready')))::text AS row
       FROM browsers b ORDER BY 1`,
    )
    return { ...state, browsers: browsers.map(({ row }) => row as string) }
  }
}
