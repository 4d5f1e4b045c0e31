import { mkdirSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Connection } from './database.ts'
import { lockDataDir } from './embedded/data-dir-lock.ts'
import { EmbeddedPostgres } from './embedded/postgres.ts'

export interface Storage extends AsyncDisposable {
  readonly connection: Connection
}

/** The data directory, ours alone from here on, and a PostgreSQL: the operator's or our own. */
export async function startStorage(config: Config, log: Logger): Promise<Storage> {
  await using cleanup = new AsyncDisposableStack()
  mkdirSync(config.BERTH_DATA_DIR, { recursive: true, mode: 0o711 })
  cleanup.use(await lockDataDir(config.BERTH_DATA_DIR))
  let connection: Connection
  if (config.DATABASE_URL) {
    connection = { connectionString: config.DATABASE_URL }
  } else {
    const postgres = await EmbeddedPostgres.start({ dataDir: config.BERTH_DATA_DIR, log })
    cleanup.defer(() => postgres.stop())
    connection = postgres.connection
  }
  const owned = cleanup.move()
  return { connection, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
