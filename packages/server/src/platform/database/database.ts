import { Pool, types, type PoolConfig } from 'pg'
import type { Logger } from 'pino'
import { ClientSockets } from './client-sockets.ts'
import { kyselyOver } from './executor.ts'
import type { Db } from './schema.ts'
import { readTime } from './time.ts'

/** The longest a statement may hold a connection, whatever its caller does. */
const STATEMENT_TIMEOUT_MS = 15_000
/** How long a request waits for a free connection before it is refused. */
const CONNECT_TIMEOUT_MS = 5_000

export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'user' | 'database'>

export interface Database {
  readonly db: Db
  readonly pool: Pool
  readonly connection: Connection
  close(): Promise<void>
}

export function openDatabase(connection: Connection, { size, log }: { size: number; log: Logger }): Database {
  const sockets = new ClientSockets()
  const pool = new Pool({
    ...connection,
    stream: sockets.stream,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // PostgreSQL ends a slow statement; the client gives up a little later in case PostgreSQL hangs.
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 2_000,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: 10_000,
    keepAlive: true,
    application_name: 'berth',
    // Times are parsed as UTC (time.ts); other zones work but are slower.
    options: '-c TimeZone=UTC',
    types: { getTypeParser },
    // A statement may be sent before the previous one is answered (see transaction.ts). A query that
    // times out therefore ends its connection, so nobody else reads its late answer.
    pipeline: true,
  })
  // The pool replaces a broken connection, and its query fails. Without an error listener on the pool
  // (for idle connections) and on each connection (for busy ones), the process would end.
  pool.on('error', (error) => log.warn({ err: error }, 'database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))
  return { db: kyselyOver(pool), pool, connection, close: () => sockets.endOrCut(() => pool.end()) }
}

const TIMESTAMPTZ: number = types.builtins.TIMESTAMPTZ
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === TIMESTAMPTZ && format !== 'binary' ? readTime : types.getTypeParser(oid, format)
