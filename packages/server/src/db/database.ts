import { Kysely, PostgresDialect } from 'kysely'
import { Client, Pool, type PoolConfig } from 'pg'
import type { Logger } from 'pino'
import type { Tables } from './schema.ts'

/** A statement may not hold a connection longer than this, whatever its caller does. */
const STATEMENT_TIMEOUT_MS = 15_000
/** How long a request waits for a free connection before it is told to come back. */
const CONNECT_TIMEOUT_MS = 5_000

export type Connection = Pick<PoolConfig, 'connectionString' | 'host' | 'user' | 'database'>

export interface Database {
  readonly db: Kysely<Tables>
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
    // Statements may be sent before the one before is answered (see transaction.ts). It also means
    // that a query which times out ends its connection, and nobody inherits the late answer.
    pipeline: true,
    Client: PreparingClient,
  })
  // A connection that breaks is replaced by the pool, and its query fails; but without a listener on
  // the pool for idle ones, and on each connection for busy ones, it would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'database connection lost'))
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { db, pool, connection, close: () => db.destroy() }
}

const MOST_STATEMENTS = 300
const statementNames = new Map<string, string>()

/**
 * Gives each statement a name, so that PostgreSQL parses and plans it once for every connection. Not
 * those that take all columns: their result would change under a migration of a newer server.
 */
class PreparingClient extends Client {
  // SAFETY: same arguments, same result; the overloads of the original cannot be repeated here.
  override query = ((text: unknown, values?: unknown, ...rest: unknown[]) => {
    const name = typeof text === 'string' && Array.isArray(values) ? nameOf(text) : undefined
    const args = name === undefined ? [text, values, ...rest] : [{ name, text, values }, ...rest]
    return (super.query as (...args: unknown[]) => unknown)(...args)
  }) as Client['query']
}

function nameOf(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  if (statementNames.size >= MOST_STATEMENTS || !/\$\d/.test(text) || /\*/.test(text)) return undefined
  const name = `berth-${statementNames.size}`
  statementNames.set(text, name)
  return name
}
