// Runs foreign test suites against a bare Chromium and through Berth, and compares: no test may pass bare and fail
// through Berth in three tries, except those that known-differences.ts explains. Nothing of the suites is kept here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cleanup } from '../bench/cleanup.ts'
import { whyNoSessions } from '../bench/subjects/session-servers.ts'
import { bareArm } from './bare-arm.ts'
import { berthArm } from './berth-arm.ts'
import { runBidi } from './bidi.ts'
import { berthFirst, compare, confirmBare, tryAgain, type BothResults } from './compare.ts'
import { explain, type SuiteName } from './known-differences.ts'
import { readOptions, usage, type Options } from './options.ts'
import { runPlaywright } from './playwright.ts'
import { asJson, printReports, type SuiteReport } from './report.ts'
import type { Selection, Suite } from './suite.ts'

const TRIES = 3

const args = process.argv.slice(2)
if (args.includes('--help')) console.log(usage)
else await main()

async function main(): Promise<void> {
  const cleanup = new Cleanup()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void cleanup.close().finally(() => process.exit(1)))
  }
  try {
    const options = readOptions(args)
    const why = whyNoSessions()
    if (why !== undefined) throw new Error(`Cannot compare: ${why}`)
    const reports = await compareSuites(cleanup, options)
    printReports(reports)
    if (options.results !== undefined) writeFileSync(options.results, asJson(reports))
    if (reports.some(({ sorted }) => sorted.unexplained.length > 0)) process.exitCode = 1
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  } finally {
    await cleanup.close()
  }
}

async function compareSuites(cleanup: Cleanup, options: Options): Promise<SuiteReport[]> {
  const reports: SuiteReport[] = []
  const bare = bareArm(cleanup, { cores: `0-${availableParallelism() - 1}` })
  const berth = await berthArm(cleanup)
  for (const name of options.suites) {
    const suite = suiteOf(cleanup, name, options)
    const selection = { grep: options.grep, files: options.files }
    const runBare = (selected: Selection) => {
      console.log(`\n${name}: in a bare Chromium`)
      return suite.run(bare, selected)
    }
    const runBerth = () => {
      console.log(`\n${name}: through Berth`)
      return suite.run(berth, selection)
    }
    const first: BothResults = options.isBerthFirst
      ? await berthFirst({ berth: runBerth, bare: (files) => runBare({ files }) })
      : { bare: await runBare(selection), berth: await runBerth(), notRunBare: 0 }
    const inBerth = await tryAgain(first.bare, first.berth, {
      tries: TRIES,
      run: async (selectors) => {
        console.log(`\n${name}: through Berth again, ${selectors.length} selected`)
        return suite.run(berth, { files: selectors })
      },
    })
    const inBare = await confirmBare(first.bare, inBerth, (files) => runBare({ files }))
    const comparison = compare(inBare, inBerth)
    const sorted = explain({ suite: name, onlyBare: comparison.onlyBare, passed: comparison.passedBoth })
    const { notRunBare } = first
    reports.push({ suite: name, comparison, sorted, bare: inBare, berth: inBerth, notRunBare })
  }
  return reports
}

function suiteOf(cleanup: Cleanup, name: SuiteName, { playwright, bidi, python, workers }: Options): Suite {
  const newDirectory = () => {
    const directory = mkdtempSync(join(tmpdir(), 'berth-suites-'))
    cleanup.after(() => rmSync(directory, { recursive: true, force: true }))
    return directory
  }
  if (name === 'bidi') {
    return {
      name,
      run: (arm, selection) =>
        runBidi(arm, { repository: bidi!, python, directory: newDirectory() }, selection),
    }
  }
  return {
    name,
    run: (arm, selection) =>
      runPlaywright(
        arm,
        { repository: playwright!, project: name, workers, directory: newDirectory() },
        selection,
      ),
  }
}
