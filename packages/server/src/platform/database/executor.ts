// Kysely builds and checks the statements; pg runs them directly. Kysely's own connection handling
// adds 50% to a statement's time and allows one statement at a time on a connection, but a
// transaction sends several together (transaction.ts).
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

/** The pool, which picks a connection for each statement, or a single connection. */
export interface Runner {
  query(query: Query, values: undefined, done: (error: Error | null, result: PgResult) => void): unknown
}

/** A Kysely that runs its statements through `runner`. */
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
    throw new Error('Cannot open a connection through Kysely; use inTransaction')
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
      // The statement continues and holds its connection until it ends or statement_timeout stops it.
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      this.#runner.query(toPgQuery(query), undefined, (error, result) => {
        if (error) reject(error)
        else resolve(toResult<Row>(result))
      })
    })
  }
}

/** Builds the Query itself, because pg clones the options it is given. */
function toPgQuery({ sql, parameters }: CompiledQuery): Query {
  const query = new Query(sql, parameters as unknown[])
  return parameters.length === 0 ? query : Object.assign(query, { name: nameOf(sql) })
}

function toResult<Row>({ command, rowCount, rows }: PgResult): QueryResult<Row> {
  // SAFETY: Kysely derived Row from the same statement.
  if (command === 'SELECT') return { rows: rows as Row[] }
  return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
}

const MAX_STATEMENTS = 300
const statementNames = new Map<string, string>()

/**
 * A named statement is parsed and planned once per connection. A statement that selects `*` gets no
 * name: its result would change when a newer server migrates the table.
 */
function nameOf(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined) return known
  if (statementNames.size >= MAX_STATEMENTS || /\*/.test(text.replaceAll('count(*)', ''))) return undefined
  const name = `berth-${statementNames.size}`
  statementNames.set(text, name)
  return name
}
