// npm run test:unit | npm test | npm run test:full: runs the tests of one tier; tests/tiers.ts lists them. Paths
// after `--` select some of them: `npm test -- tests/api tests/e2e/files.test.ts`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { parseArgs } from 'node:util'
import { currentTier, filesOf, isTier, TIERS, type Tier } from '../../tests/tiers.ts'
import { bundlePrograms } from '../../tests/fixtures/programs.ts'
import { startServer } from '../../tests/fixtures/server.ts'
import { SHARED_POSTGRES, startSharedPostgres } from '../../tests/fixtures/shared-postgres.ts'
import { sharing } from '../../tests/fixtures/shared-server.ts'
import { BATCH, plan, type Work } from './plan.ts'
import { Reporter } from './reporter.ts'

const root = join(import.meta.dirname, '../..')
const batchProgram = join(import.meta.dirname, 'batch.ts')
const durationsFile = join(root, '.cache/test-durations.json')

/** A test that takes longer hangs. It fails, and the run continues. */
const TEST_TIMEOUT_MS = { unit: 60_000, change: 600_000, full: 1_800_000 }
/** The extra time in which a file may clean up. */
const GRACE_MS = 60_000
/** Files that run at once: one more than there are cores, because a file often waits, for example for a server to start. */
const LANES = availableParallelism() + 1

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    'skip-static': { type: 'boolean', default: false },
  },
})
const [tier = '', ...chosen] = positionals
if (values.help || !isTier(tier)) {
  console.log(`npm run test:unit | npm test | npm run test:full, then: -- [options] [files or folders]

  --list          print the files of the tier and stop
  --skip-static   run only the tests; otherwise npm test and test:full first check types, lint, format and generated files

  BERTH_TEST_SEED=n   repeat the random choices of a run that printed this seed

Tiers: ${TIERS.join(', ')}; tests/tiers.ts lists the tests of each.`)
  process.exit(values.help ? 0 : 2)
}
process.exitCode = await main(tier)

async function main(asked: Tier): Promise<number> {
  const startedAt = performance.now()
  const files = choose(filesOf(asked, root))
  if (values.list) {
    console.log(files.join('\n'))
    return 0
  }
  if (files.length === 0) {
    const remedy =
      asked !== 'full' && choose(filesOf('full', root)).length > 0
        ? `npm run test:full -- ${chosen.join(' ')} runs it`
        : 'list them with --list'
    throw new Error(
      `Cannot run the tier "${asked}": none of its files matches ${chosen.join(', ')}; ${remedy}`,
    )
  }
  const isWhole = chosen.length === 0
  if (asked !== 'unit' && isWhole && !values['skip-static'] && !passesStaticChecks()) return 1

  process.env['BERTH_TEST_TIER'] = asked
  process.env['BERTH_TEST_SEED'] ??= String(Date.now() % 1_000_000)
  process.env['NODE_COMPILE_CACHE'] ??= join(root, '.cache/compile')
  console.log(`${files.length} test files, seed ${process.env['BERTH_TEST_SEED']}`)
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interrupted.abort(new Error(`Ended by ${signal}`)))
  }
  if (asked !== 'unit') {
    await bundlePrograms()
    process.env[SHARED_POSTGRES] = await startSharedPostgres()
  }
  const known = readDurations()
  const reporter = new Reporter(root)
  const waiting = plan(files, known)
  const lane = async () => {
    for (let work = waiting.shift(); work && !interrupted.signal.aborted; work = waiting.shift()) {
      await runWork(work, reporter, interrupted.signal)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  const { passed, failed, durations } = reporter.end()
  writeDurations({ ...known, ...Object.fromEntries(durations) })
  console.log(`\ntier ${asked}: ${Math.round((performance.now() - startedAt) / 1000)} s`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || interrupted.signal.aborted ? 1 : 0
}

/** Runs the files one after another. */
async function runWork({ files, shares }: Work, reporter: Reporter, interrupted: AbortSignal): Promise<void> {
  const cleanups: (() => void | Promise<void>)[] = []
  try {
    if (shares === 'process') {
      const env = { [BATCH]: files.map((file) => join(root, file)).join('\n') }
      await runProgram(batchProgram, { files, reporter, interrupted, env })
      return
    }
    const owner = { after: (cleanup: () => void | Promise<void>) => void cleanups.push(cleanup) }
    const server = shares === 'server' ? await startServer(owner) : undefined
    const failedBefore = reporter.failed
    for (const file of files) {
      if (interrupted.aborted) break
      const env = server ? sharing(server) : {}
      await runProgram(join(root, file), { files: [file], reporter, interrupted, env })
    }
    if (server && reporter.failed > failedBefore)
      console.log(`The shared server printed:\n${server.output()}`)
  } catch (error) {
    reporter.fail(`shared server of ${files.join(', ')}`, error)
  }
  // A failed cleanup fails the run, too.
  for (const cleanup of cleanups) {
    try {
      await cleanup()
    } catch (error) {
      reporter.fail(`cleanup after ${files.join(', ')}`, error)
    }
  }
}

interface Run {
  /** The test files in the program. */
  readonly files: readonly string[]
  readonly reporter: Reporter
  readonly interrupted: AbortSignal
  readonly env: Record<string, string>
}

/** Runs tests in their own process. A process that does not end is killed and fails. */
async function runProgram(program: string, { files, reporter, interrupted, env }: Run): Promise<void> {
  const timeout = TEST_TIMEOUT_MS[currentTier()]
  const hanging = new AbortController()
  const timer = setTimeout(() => hanging.abort(), timeout + GRACE_MS)
  const events = run({
    cwd: root,
    files: [program],
    timeout,
    env: { ...process.env, ...env },
    signal: AbortSignal.any([interrupted, hanging.signal]),
  })
  try {
    await reporter.follow(files, events, hanging.signal)
  } finally {
    clearTimeout(timer)
  }
}

function passesStaticChecks(): boolean {
  const args = [join(root, 'scripts/check.ts'), 'static']
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0
}

function choose(files: readonly string[]): string[] {
  if (chosen.length === 0) return [...files]
  const wanted = chosen.map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''))
  return files.filter((file) => wanted.some((path) => file === path || file.startsWith(`${path}/`)))
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(durationsFile, 'utf8')) as Record<string, number>
  } catch {
    return {}
  }
}

function writeDurations(durations: Record<string, number>): void {
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(durationsFile, JSON.stringify(durations, undefined, 1))
}
