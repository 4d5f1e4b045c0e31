// Migrations run at start. Each runs in one transaction with its row in schema_migrations, so a
// crash leaves it completely done or undone. An advisory lock lets one replica work while the others
// wait. A schema from a newer program is refused.
import { Client, type ClientConfig } from 'pg'
import { crashPoint } from '../errors/crash-point.ts'
import { migrations as allMigrations, type Migration } from './migrations/index.ts'

// Any constant works, as long as every version of the program uses the same one.
const MIGRATION_LOCK = 7_236_814_005

export async function migrate(
  connection: ClientConfig,
  migrations: readonly Migration[] = allMigrations,
): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
    const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_migrations')
    const applied = new Set(rows.map((row) => row.version))
    const newest = Math.max(0, ...applied)
    const known = migrations.at(-1)?.version ?? 0
    if (newest > known) {
      throw new Error(
        `Cannot use this database: its schema is version ${newest}, this program knows up to ${known}; start the newer version`,
      )
    }
    for (const migration of migrations) {
      if (!applied.has(migration.version)) await apply(client, migration)
    }
  } finally {
    await client.end()
  }
}

async function apply(client: Client, { version, name, sql }: Migration): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query(sql)
    await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [version, name])
    crashPoint(`migration-${version}`)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`Cannot apply migration ${version} "${name}"`, { cause: error })
  }
}
