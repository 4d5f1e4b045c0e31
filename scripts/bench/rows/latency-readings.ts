import type { Readings } from '../measure/metric.ts'
import { quantile } from '../measure/statistics.ts'

/** The readings of a block of single requests: p50 and p95 latency, and CPU time per request. */
export function latencyReadings(elapsedMs: readonly number[], cpuMs: number): Readings {
  return {
    p50Ms: quantile(elapsedMs, 0.5),
    p95Ms: quantile(elapsedMs, 0.95),
    cpuUs: (cpuMs * 1000) / elapsedMs.length,
  }
}
