// The baseline for single SQL statements: one pg connection, on the same core as the server.
import { Client } from 'pg'

export interface DriverOrder {
  readonly sql: string
  /** One statement for each, in sequence. */
  readonly values: readonly (readonly unknown[])[]
}

export interface DriverAnswer {
  readonly elapsedMs: readonly number[]
  readonly rowCounts: readonly number[]
  readonly lastRows: readonly Record<string, unknown>[]
}

const client = new Client({ host: process.env['BARE_DATABASE_HOST'], user: 'berth', database: 'postgres' })
await client.connect()

async function run({ sql, values }: DriverOrder): Promise<DriverAnswer> {
  const elapsedMs: number[] = []
  const rowCounts: number[] = []
  let lastRows: Record<string, unknown>[] = []
  for (const row of values) {
    const startedAt = performance.now()
    const result = await client.query<Record<string, unknown>>(sql, [...row])
    elapsedMs.push(performance.now() - startedAt)
    rowCounts.push(result.rowCount ?? 0)
    lastRows = result.rows
  }
  return { elapsedMs, rowCounts, lastRows }
}

process.on('message', (order: DriverOrder) => {
  void run(order).then(
    (answer) => process.send!(answer),
    (error: unknown) => process.send!({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send!('ready')
