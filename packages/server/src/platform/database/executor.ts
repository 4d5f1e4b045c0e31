// Kysely builds and checks the statements, and pg runs them with nothing in between. Kysely's own way
// to a connection costs half as much again as the statement, and lets one statement at a time onto a
// connection, where those of a transaction are to travel together (transaction.ts).
import {
  DefaultQueryExecutor,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type AbortableQueryOptions,
  type CompiledQuery,
  type ConnectionProvider,
  type Dialect,
  type QueryResult,
} from 'kysely'
import { Query, type QueryResult as PgResult } from 'pg'
import type { Db, Tables } from './schema.ts'

/** The pool, which finds a connection for every statement, or one connection. */
export interface Runner {
  query(query: Query, values: undefined, done: (error: Error | null, result: PgResult) => void): unknown
}

/** A Kysely whose statements are run by `runner`. */
export function kyselyOver(runner: Runner): Db {
  return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor: new Executor(runner) })
}

const adapter = new PostgresAdapter()
const compiler = new PostgresQueryCompiler()
const driver = new DummyDriver()
const dialect: Dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => compiler,
}

const noConnections: ConnectionProvider = {
  provideConnection: () => {
    throw new Error('Cannot have a connection by Kysely; for a transaction there is inTransaction')
  },
}

class Executor extends DefaultQueryExecutor {
  readonly #runner: Runner

  constructor(runner: Runner) {
    super(compiler, adapter, noConnections)
    this.#runner = runner
  }

  override executeQuery<Row>(
    query: CompiledQuery,
    { signal }: AbortableQueryOptions = {},
  ): Promise<QueryResult<Row>> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      // The statement goes on, and its connection stays taken, for as long as statement_timeout allows.
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      this.#runner.query(toPgQuery(query), undefined, (error, result) => {
        if (error) reject(error)
        else resolve(toResult<Row>(result))
      })
    })
  }
}

/** A ready Query, because pg clones the options it would make one from. */
function toPgQuery({ sql, parameters }: CompiledQuery): Query {
  const query = new Query(sql, parameters as unknown[])
  return parameters.length === 0 ? query : Object.assign(query, { name: nameOf(sql) })
}

function toResult<Row>({ command, rowCount, rows }: PgResult): QueryResult<Row> {
  // SAFETY: Row is what Kysely worked out from the same statement.
  if (command === 'SELECT') return { rows: rows as Row[] }
  return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
}

const MAX_STATEMENTS = 300
const statementNames = new Map<string, string>()

/**
 * With a name, PostgreSQL parses and plans a statement once for every connection. Not those that take
 * all columns: their result would change under a migration of a newer server.
 */
function nameOf(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  if (statementNames.size >= MAX_STATEMENTS || /\*/.test(text)) return undefined
  const name = `berth-${statementNames.size}`
  statementNames.set(text, name)
  return name
}
