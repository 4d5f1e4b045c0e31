// A transaction in as few round trips as it can be: BEGIN travels with the first statement, and the
// last ones with COMMIT. The connections of the pool pipeline, so statements that are sent without
// waiting are answered in order.
import { CompiledQuery } from 'kysely'
import type { Db } from './schema.ts'

const BEGIN = CompiledQuery.raw('BEGIN')
const COMMIT = CompiledQuery.raw('COMMIT')
const ROLLBACK = CompiledQuery.raw('ROLLBACK')

export interface Transaction {
  readonly db: Db
  /** A statement whose outcome need only be known at the commit, and which fails it. */
  readonly alongCommit: (statement: Promise<unknown>) => void
}

export async function inTransaction<T>(db: Db, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const begun = quietly(connection.executeQuery(BEGIN))
    const last: Promise<unknown>[] = []
    try {
      const result = await work({
        db: connection,
        alongCommit: (statement) => void last.push(quietly(statement)),
      })
      // After a failed statement PostgreSQL makes this COMMIT a rollback; the failure is what counts.
      const committed = quietly(connection.executeQuery(COMMIT))
      for (const outcome of [begun, ...last, committed]) await outcome
      return result
    } catch (error) {
      // A connection that cannot even do this is broken, and the pool will notice by itself.
      await connection.executeQuery(ROLLBACK).catch(() => {})
      throw error
    }
  })
}

/** Awaited later: until then its failure is nobody's unhandled rejection. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
