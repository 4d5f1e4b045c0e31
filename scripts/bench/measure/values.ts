// Judges readings that have no baseline: a goal in milliseconds is a goal for this machine.
import type { Compared } from './compare.ts'
import { judge } from './judge.ts'
import type { Metric, Readings } from './metric.ts'

export type ValueMetric = Omit<Metric, 'judged' | 'isOursOnly'>

export function judgeValues(metrics: readonly ValueMetric[], readings: readonly Readings[]): Compared {
  const samples = readings.map((ours) => ({ ours, baseline: {} }))
  const sampled = { clean: samples, all: samples, wanted: samples.length }
  return {
    results: metrics.map((metric) => judge({ ...metric, judged: 'value', isOursOnly: true }, sampled)),
    samples,
  }
}
