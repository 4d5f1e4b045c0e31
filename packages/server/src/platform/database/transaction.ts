// A transaction in as few round trips and system calls as it can be: BEGIN leaves together with the
// first statement, and the last ones with COMMIT. The connections of the pool pipeline, so statements
// that are sent without waiting are answered in order.
import type { Pool } from 'pg'
import { kyselyOver } from './executor.ts'
import type { Db } from './schema.ts'

export interface Transaction {
  readonly db: Db
  /** A statement whose outcome need only be known at the commit, and which fails it. */
  readonly alongCommit: (statement: () => Promise<unknown>) => void
}

export async function inTransaction<T>(pool: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const { stream } = client.connection
  const db = kyselyOver(client)
  const last: (() => Promise<unknown>)[] = []
  let isBroken = false
  try {
    stream.cork()
    const begun = quietly(client.query('BEGIN'))
    const working = work({ db, alongCommit: (statement) => void last.push(statement) })
    stream.uncork()
    const result = await working
    stream.cork()
    const outcomes = last.map((statement) => quietly(statement()))
    const committed = quietly(client.query('COMMIT'))
    stream.uncork()
    for (const outcome of [begun, ...outcomes]) await outcome
    // After a failed statement PostgreSQL makes a COMMIT a rollback, and does not call that an error.
    if ((await committed).command !== 'COMMIT') throw new Error('The transaction was rolled back')
    return result
  } catch (error) {
    // Statements that are still under way come before it, so nothing of them is left behind.
    await client.query('ROLLBACK').catch(() => (isBroken = true))
    throw error
  } finally {
    client.release(isBroken)
  }
}

/** Awaited later: until then its failure is nobody's unhandled rejection. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
