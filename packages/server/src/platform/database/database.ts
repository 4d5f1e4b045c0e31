import { Pool, types, type PoolConfig } from 'pg'
import type { Logger } from 'pino'
import { kyselyOver } from './executor.ts'
import type { Db } from './schema.ts'
import { readTime } from './time.ts'

/** A statement may not hold a connection longer than this, whatever its caller does. */
const STATEMENT_TIMEOUT_MS = 15_000
/** How long a request waits for a free connection before it is told to come back. */
const CONNECT_TIMEOUT_MS = 5_000

export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'user' | 'database'>

export interface Database {
  readonly db: Db
  readonly pool: Pool
  readonly connection: Connection
  close(): Promise<void>
}

export function openDatabase(connection: Connection, { size, log }: { size: number; log: Logger }): Database {
  const pool = new Pool({
    ...connection,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // The server ends a slow statement; the client gives up a little later, for a peer that hangs.
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: 10_000,
    keepAlive: true,
    application_name: 'berth',
    // Times are read as UTC (time.ts); any other zone is understood, and slower.
    options: '-c TimeZone=UTC',
    types: { getTypeParser },
    // Statements may be sent before the one before is answered (see transaction.ts). It also means
    // that a query which times out ends its connection, and nobody inherits the late answer.
    pipeline: true,
  })
  // A connection that breaks is replaced by the pool, and its query fails; but without a listener on
  // the pool for idle ones, and on each connection for busy ones, it would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))
  return { db: kyselyOver(pool), pool, connection, close: () => pool.end() }
}

const TIMESTAMPTZ: number = types.builtins.TIMESTAMPTZ
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === TIMESTAMPTZ && format !== 'binary' ? readTime : types.getTypeParser(oid, format)
