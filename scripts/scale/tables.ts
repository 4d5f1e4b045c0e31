// What `npm run scale` prints.
import type { Rung } from './model/ladder.ts'
import { remedies } from './model/ladder.ts'
import type { Cost, Readings } from './model/inputs.ts'
import { resources, type Latency, type Result } from './model/report.ts'

export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const number = (value: number) =>
  value === 0 ? '0' : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(2)
export const percent = (share: number) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`
const milliseconds = (seconds: number) => `${(1000 * seconds).toFixed(0)} ms`
export const latency = ({ p50, p95, p99 }: Latency) => [p50, p95, p99].map(milliseconds).join(' / ')

const MB = 1024 * 1024

const row = (name: string, cost: Cost) => [
  name,
  number(cost.statements),
  number(cost.transactions),
  number(cost.walBytes),
  number(cost.databaseMs),
  number(cost.serverMs),
]

export function costsTable(readings: Readings): string {
  return table([
    ['', 'statements', 'transactions', 'WAL bytes', 'PostgreSQL ms', 'server ms'],
    row('create, warm', readings.create),
    row('connect and leave', readings.connect),
    row('delete', readings.delete),
    row('make one in its place', readings.refill),
    row('idle server, a second', readings.idleServer),
    row('idle session, a second', readings.idleSession),
    row('warm instance, a second', readings.idleWarm),
    row('an event a second, a second', readings.events),
    row('take-over', readings.takeOver),
  ])
}

export function runTable(results: readonly Result[]): string {
  const line = (name: string, of: (result: Result) => string) => [name, ...results.map(of)]
  return table([
    line('arrivals', ({ arrivals }) => `${number(arrivals)} /s`),
    line('live sessions', ({ live }) => String(live)),
    line('warm', ({ warmShare }) => percent(warmShare)),
    line('create p50 / p95 / p99', (result) => latency(result.latency)),
    line('refused', ({ refused }) => String(refused)),
    ...resources.map((name) => line(name, ({ uses }) => percent(uses[name].utilisation))),
    line('wait for the lock, mean', ({ uses }) => milliseconds(uses['lock of the organisation'].meanWait)),
    line('statements', (result) => `${number(result.statementsPerSecond)} /s`),
    line('transactions', (result) => `${number(result.transactionsPerSecond)} /s`),
    line('WAL', (result) => `${(result.walBytesPerSecond / MB).toFixed(2)} MB/s`),
    line("calls to the cluster's API", (result) => `${number(result.callsPerSecond)} /s`),
    line('memory of a server', (result) => `${(result.serverBytes / MB).toFixed(0)} MB`),
    line('Secrets left over', ({ secretsLeft }) => number(secretsLeft)),
  ])
}

export function ladderTable(rungs: readonly Rung[]): string {
  return table([
    ['what gives way', 'held', 'broke at', 'its use', 'warm', 'create p95', 'then'],
    ...rungs.map(({ limit, held, brokeAt, result }) => [
      limit,
      `${number(held)} /s`,
      `${number(brokeAt)} /s`,
      limit === 'warm instances' ? '' : percent(result.uses[limit].utilisation),
      percent(result.warmShare),
      milliseconds(result.latency.p95),
      remedies[limit]?.says ?? '',
    ]),
  ])
}
