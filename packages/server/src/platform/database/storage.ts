import { mkdirSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import type { Connection } from './database.ts'
import { DataDirInUse, lockDataDir } from './embedded/data-dir-lock.ts'
import { EmbeddedPostgres } from './embedded/postgres.ts'
import { migrate } from './migrate.ts'

export interface Storage extends AsyncDisposable {
  readonly connection: Connection
}

/** Locks the data directory for this process, if need be as soon as a server that was killed has ended. */
export async function claimDataDir(
  { BERTH_DATA_DIR: path }: Config,
  { waitMs = 0 } = {},
): Promise<AsyncDisposable> {
  mkdirSync(path, { recursive: true, mode: 0o711 })
  return lockDataDir(path, { waitMs })
}

/** A PostgreSQL with our schema: the operator's, or an embedded one in the locked data directory. */
export async function startStorage(config: Config, log: Logger): Promise<Storage> {
  await using cleanup = new AsyncDisposableStack()
  let connection: Connection
  if (config.DATABASE_URL) {
    connection = { connectionString: config.DATABASE_URL }
  } else {
    const postgres = await EmbeddedPostgres.start({ dataDir: config.BERTH_DATA_DIR, log })
    cleanup.defer(() => postgres.stop())
    connection = postgres.connection
  }
  await migrate(connection).catch((error: unknown) => {
    if (!config.DATABASE_URL) throw error
    // Never print the URL, which may hold a password.
    throw new Error('Cannot use the database in DATABASE_URL', { cause: error })
  })
  const owned = cleanup.move()
  return { connection, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The running server's database, or one that is started until the caller is done. */
export async function joinStorage(config: Config, log: Logger): Promise<Storage> {
  await using cleanup = new AsyncDisposableStack()
  try {
    cleanup.use(await claimDataDir(config))
    const { connection } = cleanup.use(await startStorage(config, log))
    const owned = cleanup.move()
    return { connection, [Symbol.asyncDispose]: () => owned.disposeAsync() }
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error
    const connection = config.DATABASE_URL
      ? { connectionString: config.DATABASE_URL }
      : EmbeddedPostgres.connectionIn(config.BERTH_DATA_DIR)
    return { connection, [Symbol.asyncDispose]: async () => {} }
  }
}
