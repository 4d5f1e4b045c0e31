// Reads what servers and PostgreSQL have used, so that two readings give the cost of what was done in between.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import { cpuMsOf, treeOf } from '../../bench/measure/processes.ts'
import type { TestServer } from '../../../tests/fixtures/server.ts'
import type { Cost } from '../model/inputs.ts'
import type { Rig } from './rig.ts'

/** PostgreSQL's processes report their transactions at the latest after ten seconds of silence. */
const FLUSH_MS = 11_000

export interface Reading extends Cost {
  readonly atMs: number
  readonly transactionsAtMs: number
}

const sums = `
  SELECT
    (SELECT coalesce(sum(calls), 0)::float8 FROM pg_stat_statements AS each
      JOIN pg_database ON pg_database.oid = each.dbid
      WHERE datname = current_database()
        AND query NOT IN ('BEGIN', 'COMMIT', 'ROLLBACK') AND query NOT LIKE '%pg_stat_statements%') AS statements,
    (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database()) AS transactions,
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS "walBytes"`

export class Meter {
  readonly #rig: Rig
  readonly #servers: readonly TestServer[]

  constructor(rig: Rig, ...servers: readonly TestServer[]) {
    this.#rig = rig
    this.#servers = servers
  }

  /** `isExact`: waits until all transactions are counted. */
  async read({ isExact = false } = {}): Promise<Reading> {
    // Processor time is read at once: the wait would add to it.
    const serverMs = cpuMsOf(this.#servers.map(({ pid }) => pid))
    const databaseMs = cpuMsOf(treeOf(this.#rig.postmaster))
    const atMs = performance.now()
    const before = await this.#sums()
    if (!isExact) return { ...before, serverMs, databaseMs, atMs, transactionsAtMs: atMs }
    await pause(FLUSH_MS)
    const { transactions } = await this.#sums()
    return { ...before, transactions, serverMs, databaseMs, atMs, transactionsAtMs: performance.now() }
  }

  async #sums(): Promise<Pick<Cost, 'statements' | 'transactions' | 'walBytes'>> {
    const { rows } = await this.#rig.sql.query<Pick<Cost, 'statements' | 'transactions' | 'walBytes'>>(sums)
    return rows[0]!
  }
}

/** For each of `count`, without what goes on in the same time anyway. */
export function costBetween(
  before: Reading,
  after: Reading,
  { count, idle = NOTHING }: { count: number; idle?: Cost },
): Cost {
  const each = (name: keyof Cost) => {
    const at = name === 'transactions' ? 'transactionsAtMs' : 'atMs'
    const seconds = (after[at] - before[at]) / 1000
    return Math.max(0, after[name] - before[name] - seconds * idle[name]) / count
  }
  return {
    statements: each('statements'),
    transactions: each('transactions'),
    walBytes: each('walBytes'),
    databaseMs: each('databaseMs'),
    serverMs: each('serverMs'),
  }
}

const NOTHING: Cost = { statements: 0, transactions: 0, walBytes: 0, databaseMs: 0, serverMs: 0 }

export function costPerSecond(before: Reading, after: Reading): Cost {
  const whole = costBetween(before, after, { count: (after.atMs - before.atMs) / 1000 })
  const transactions =
    (1000 * (after.transactions - before.transactions)) / (after.transactionsAtMs - before.transactionsAtMs)
  return { ...whole, transactions }
}

export function combine(one: Cost, other: Cost, how: (one: number, other: number) => number): Cost {
  return {
    statements: how(one.statements, other.statements),
    transactions: how(one.transactions, other.transactions),
    walBytes: how(one.walBytes, other.walBytes),
    databaseMs: how(one.databaseMs, other.databaseMs),
    serverMs: how(one.serverMs, other.serverMs),
  }
}

export interface Statement {
  readonly query: string
  readonly calls: number
  readonly meanMs: number
}

/** What was asked since the last reset, by total time. */
export async function statements(sql: Client, limit = 12): Promise<Statement[]> {
  const { rows } = await sql.query<Statement>(
    `SELECT query, calls::float8 AS calls, mean_exec_time AS "meanMs" FROM pg_stat_statements AS each
      JOIN pg_database ON pg_database.oid = each.dbid
      WHERE datname = current_database() AND query NOT LIKE '%pg_stat_%'
      ORDER BY total_exec_time DESC LIMIT ${limit}`,
  )
  return rows
}

export async function resetStatements(sql: Client): Promise<void> {
  await sql.query('SELECT pg_stat_statements_reset()')
}
