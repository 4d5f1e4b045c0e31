// Prints what a suite has shown.
import type { Comparison } from './compare.ts'
import type { Sorted, SuiteName } from './known-differences.ts'
import type { Results } from './result.ts'

export interface SuiteReport {
  readonly suite: SuiteName
  readonly comparison: Comparison
  readonly sorted: Sorted
  readonly bare: Results
  readonly berth: Results
  /** How many passed through Berth and were not run bare. */
  readonly notRunBare: number
}

export function printReports(reports: readonly SuiteReport[]): void {
  console.table(
    Object.fromEntries(
      reports.map(({ suite, comparison, sorted, notRunBare }) => [
        suite,
        {
          'passed Berth, not run bare': notRunBare,
          'passed both': comparison.passedBoth.length,
          'failed both': comparison.failedBoth.length,
          'only bare': comparison.onlyBare.length,
          'of these known': sorted.explained.length,
          'only Berth': comparison.onlyBerth.length,
          skipped: comparison.skipped.length,
        },
      ]),
    ),
  )
  for (const { suite, comparison, sorted, bare, berth } of reports) {
    list(`${suite}: pass bare and fail through Berth`, sorted.unexplained, (name) => berth.get(name)?.error)
    list(
      `${suite}: the same, with a known reason`,
      sorted.explained.map(({ name }) => name),
      (name) => sorted.explained.find((one) => one.name === name)!.reason,
    )
    list(`${suite}: fail bare and pass through Berth`, comparison.onlyBerth, (name) => bare.get(name)?.error)
    list(
      `${suite}: entries of known-differences.ts whose tests pass`,
      sorted.outdated.map(({ test }) => String(test)),
    )
  }
}

function list(
  title: string,
  names: readonly string[],
  about: (name: string) => string | undefined = () => undefined,
): void {
  if (names.length === 0) return
  console.log(`\n${title}`)
  for (const name of names) {
    const text = about(name)
    console.log(text === undefined ? `  ${name}` : `  ${name}\n      ${text}`)
  }
}

/** Everything, for a machine. */
export function asJson(reports: readonly SuiteReport[]): string {
  const plain = reports.map(({ suite, comparison, sorted, bare, berth, notRunBare }) => ({
    suite,
    notRunBare,
    ...comparison,
    explained: sorted.explained,
    bare: Object.fromEntries(bare),
    berth: Object.fromEntries(berth),
  }))
  return `${JSON.stringify(plain, undefined, 2)}\n`
}
