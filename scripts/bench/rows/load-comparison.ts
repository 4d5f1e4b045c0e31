import type { ApiSetup } from '../subjects/api-setup.ts'
import type { Comparison, Measuring } from '../measure/compare.ts'
import type { Goal, Metric } from '../measure/metric.ts'
import { loadBlock, type LoadTarget } from './load-block.ts'

export interface LoadComparison {
  readonly row: number
  readonly name: string
  readonly ours: LoadTarget
  readonly baseline: LoadTarget
  readonly perSecond?: Goal
  readonly cpu?: Goal
  readonly note?: string
}

/** The metrics of every comparison under load: requests per second, CPU time, latency. */
export function loadComparison(
  setup: ApiSetup,
  { row, name, ours, baseline, perSecond, cpu, note }: LoadComparison,
  { effort, signal }: Measuring,
): Comparison {
  const options = { seconds: effort.throughputSeconds, signal }
  const line = (suffix: string, reading: string, unit: string, goal?: Goal): Metric => ({
    row,
    name: `${name}: ${suffix}`,
    reading,
    unit,
    digits: unit === 'ms' ? 2 : 0,
    judged: 'ratio',
    ...(goal && { goal }),
  })
  return {
    blocks: { ours: loadBlock(setup, ours, options), baseline: loadBlock(setup, baseline, options) },
    pairs: effort.throughputPairs,
    metrics: [
      { ...line('requests', 'perSecond', '/s', perSecond), ...(note && { note }) },
      line('CPU of the server', 'cpuUs', 'µs/req', cpu),
      line('CPU with PostgreSQL', 'cpuWithPostgresUs', 'µs/req', cpu),
      line('latency p50', 'p50Ms', 'ms'),
      line('latency p95', 'p95Ms', 'ms'),
    ],
  }
}
