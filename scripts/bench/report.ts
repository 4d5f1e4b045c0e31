// Prints the results as a text table.
import type { Result } from './measure/judge.ts'
import type { Goal } from './measure/metric.ts'

const headings = [
  'Row',
  'Metric',
  'Ours p50 (p95)',
  'Baseline p50 (p95)',
  'Judged [95 %]',
  'Pairs',
  'Must',
  'Stretch',
  'Verdict',
]

/** A text table; each column is as wide as its longest cell. */
export function tableOf(results: readonly Result[], { isJudged }: { isJudged: boolean }): string {
  const rows = results.map((result) => cellsOf(result, isJudged))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((cells) => cells[column]!.length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  const notes = results.flatMap(({ metric }) =>
    metric.note ? [`  row ${metric.row}, ${metric.name}: ${metric.note}`] : [],
  )
  return [
    line(headings),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map(line),
    ...(notes.length > 0 ? ['', 'Notes', ...notes] : []),
  ].join('\n')
}

function cellsOf(result: Result, isJudged: boolean): string[] {
  const { metric, ours, baseline, interval, verdict, cleanCount, pairCount } = result
  const show = (value: number) => group(value.toFixed(metric.digits))
  const spread = ({ p50, p95 }: { p50: number; p95: number }) => `${show(p50)} (${show(p95)}) ${metric.unit}`
  const isShare = metric.judged === 'ratio' || metric.judged === 'speedup'
  const judged = isShare ? (value: number) => value.toFixed(2) : show
  const { goal } = metric
  return [
    String(metric.row),
    metric.name,
    spread(ours),
    metric.isOursOnly ? '-' : spread(baseline),
    `${judged(interval.median)} [${judged(interval.low)}, ${judged(interval.high)}]`,
    cleanCount === pairCount ? String(pairCount) : `${cleanCount} of ${pairCount}`,
    goal ? wanted(goal, goal.must) : '',
    goal?.stretch !== undefined ? wanted(goal, goal.stretch) : '',
    isJudged ? verdict : 'not judged',
  ]
}

function wanted({ direction }: Goal, value: number): string {
  return `${direction === 'at most' ? '<=' : '>='} ${Number(value.toFixed(3))}`
}

function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/, ',')
}
