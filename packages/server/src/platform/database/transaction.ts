// A transaction with as few round trips and system calls as possible: BEGIN is sent together with the
// first statement, and the last statements together with COMMIT. Connections pipeline, so statements
// sent without waiting are answered in order.
import type { Pool } from 'pg'
import { kyselyOver } from './executor.ts'
import type { Db } from './schema.ts'

export interface Transaction {
  readonly db: Db
  /** Runs a statement whose result is only needed at the commit. If it fails, the commit fails. */
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
    // After a failed statement, PostgreSQL turns COMMIT into a rollback without an error.
    if ((await committed).command !== 'COMMIT') throw new Error('The transaction was rolled back')
    return result
  } catch (error) {
    // Pending statements run before the ROLLBACK, so it undoes them too.
    await client.query('ROLLBACK').catch(() => (isBroken = true))
    throw error
  } finally {
    client.release(isBroken)
  }
}

/**
 * A transaction whose statements do not wait for each other's answers: all of it is sent at once, so a lock that it takes is
 * held for no round trip. Its commit does not wait for the disk either. The changes are seen by everybody, and last if the
 * server is killed; only if PostgreSQL itself crashes within about half a second can they be lost, whole, unless a later
 * transaction was committed with `inTransaction`. So it is for what a later transaction confirms.
 */
export async function inOneTrip<T>(pool: Pool, send: (db: Db) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  const { stream } = client.connection
  let isBroken = true
  try {
    stream.cork()
    const begun = quietly(client.query('BEGIN; SET LOCAL synchronous_commit TO off'))
    const sent = quietly(send(kyselyOver(client)))
    const committed = quietly(client.query('COMMIT'))
    stream.uncork()
    const outcomes = await Promise.allSettled([sent, begun, committed])
    // After a failed statement, COMMIT has rolled the transaction back, and the connection is as good as before.
    isBroken = outcomes[2].status === 'rejected'
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    if ((await committed).command !== 'COMMIT') throw new Error('The transaction was rolled back')
    return await sent
  } finally {
    client.release(isBroken)
  }
}

/** Prevents an unhandled rejection until the promise is awaited later. */
function quietly<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
