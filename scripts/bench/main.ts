// Measures our server against baselines in the same run and prints a table. README.md describes the method, and
// `npm run bench -- --help` lists the options.
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SessionServers } from './subjects/session-servers.ts'
import { startApiSetup } from './subjects/api-setup.ts'
import { Cleanup } from './cleanup.ts'
import { fullEffort, profileEffort, quickEffort, smokeEffort, type Effort } from './effort.ts'
import { NoiseCheck } from './measure/noise-check.ts'
import type { Compared, Measuring } from './measure/compare.ts'
import { chooseCores, pin, type Cores } from './measure/cores.ts'
import { summarise } from './profile-summary.ts'
import { tableOf } from './report.ts'
import { machine, resultsDir, writeResults } from './results-file.ts'
import { afterKillRow } from './rows/after-kill.ts'
import { agentLoopRow, busySessionsRow } from './rows/agent-work.ts'
import { atRestRow } from './rows/at-rest.ts'
import { burstRow } from './rows/burst.ts'
import { coldCreateRow } from './rows/cold-create.ts'
import { commandLineRow } from './rows/command-line.ts'
import { computerInputRow, computerOverheadRow } from './rows/computer-input.ts'
import { clusterCreateRow, clusterRoundTripRow } from './rows/cluster.ts'
import { connectionMemoryRow } from './rows/connection-memory.ts'
import { dashboardListRow } from './rows/dashboard-list.ts'
import { dashboardLoadRow } from './rows/dashboard-load.ts'
import { dashboardTimelineRow } from './rows/dashboard-timeline.ts'
import { dashboardWatchRow } from './rows/dashboard-watch.ts'
import { deepStandbyRow } from './rows/deep-standby.ts'
import { deleteSessionRow } from './rows/delete-session.ts'
import { execRow } from './rows/exec.ts'
import { getProjectRow } from './rows/get-project.ts'
import { liveGrowthRow, pastGrowthRow } from './rows/growth.ts'
import { invocationRow } from './rows/invocation.ts'
import { listProjectsRow } from './rows/list-projects.ts'
import { liveViewCostRow } from './rows/live-view-cost.ts'
import { liveViewLatencyRow } from './rows/live-view-latency.ts'
import { memoryRow } from './rows/memory.ts'
import { headfulScreenshotRow, headlessScreenshotRow } from './rows/computer-screenshot.ts'
import { npmStartRow } from './rows/npm-start.ts'
import { podMemoryRow } from './rows/pod-memory.ts'
import { poolAcquireRow } from './rows/pool-acquire.ts'
import { processOutputRow } from './rows/process-output.ts'
import { profileRestoreRow } from './rows/profile-restore.ts'
import { proxyThroughputRow } from './rows/proxy-throughput.ts'
import { recordedLoopRow, recordingCpuRow, watchedRecordingRow } from './rows/recording.ts'
import { refillRow } from './rows/refill.ts'
import { roundTripRow } from './rows/round-trip.ts'
import type { Row } from './rows/row.ts'
import { shapedCreateRow } from './rows/shaped-create.ts'
import { soakRow } from './rows/soak.ts'
import { standbyRow } from './rows/standby.ts'
import { telemetryRow } from './rows/telemetry.ts'
import { updateProjectRow } from './rows/update-project.ts'
import { validateBodyRow } from './rows/validate-body.ts'
import { wakeRow } from './rows/wake.ts'
import { writeFileRow } from './rows/write-file.ts'
import { warmCreateRow, warmHeadfulCreateRow } from './rows/warm-create.ts'

// In the order of measuring; rows that share a server follow each other.
const allRows: readonly Row[] = [
  getProjectRow,
  validateBodyRow,
  updateProjectRow,
  listProjectsRow,
  atRestRow,
  warmHeadfulCreateRow,
  burstRow,
  soakRow,
  warmCreateRow,
  refillRow,
  shapedCreateRow,
  poolAcquireRow,
  profileRestoreRow,
  coldCreateRow,
  deleteSessionRow,
  roundTripRow,
  proxyThroughputRow,
  telemetryRow,
  computerInputRow,
  computerOverheadRow,
  headfulScreenshotRow,
  headlessScreenshotRow,
  liveViewLatencyRow,
  liveViewCostRow,
  recordingCpuRow,
  recordedLoopRow,
  watchedRecordingRow,
  agentLoopRow,
  busySessionsRow,
  writeFileRow,
  processOutputRow,
  execRow,
  invocationRow,
  memoryRow,
  standbyRow,
  wakeRow,
  deepStandbyRow,
  connectionMemoryRow,
  dashboardWatchRow,
  dashboardLoadRow,
  dashboardListRow,
  dashboardTimelineRow,
  afterKillRow,
  npmStartRow,
  liveGrowthRow,
  pastGrowthRow,
  clusterCreateRow,
  clusterRoundTripRow,
  podMemoryRow,
  commandLineRow,
]

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
    profile: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) {
  console.log(help())
  process.exit(0)
}

const LONG_WAKE_PAIRS = 3

interface Run {
  readonly compared: Compared[]
  readonly broken: { row: number; error: unknown }[]
  readonly skipped: { row: number; reason: string }[]
  /** How long our server had been running when the first row began. */
  oursStartMs: number
}

async function main(cleanup: Cleanup, signal: AbortSignal): Promise<boolean> {
  const rows = chooseRows(options.rows)
  const effort = options.smoke ? smokeEffort : options.profile ? profileEffort : wholeEffort()
  // Two runs that start at the same moment must not overwrite each other's files.
  const startedAt = `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}`
  const before = machine()
  const cores = chooseCores({ isJudged: !options.smoke })
  if (cores.client === cores.server) console.log('This machine has only one core, so no number is reliable')
  pin([process.pid], cores.client)
  const noiseCheck = await NoiseCheck.start(cleanup, cores)
  const run: Run = { compared: [], broken: [], skipped: [], oursStartMs: 0 }
  const measuring: Measuring = { effort, noiseCheck, signal }

  const profileDir = options.profile ? join(resultsDir, `${startedAt}-profile`) : undefined
  const env: Record<string, string> = {}
  if (profileDir) {
    mkdirSync(profileDir, { recursive: true })
    // The server writes here as an account of its own.
    chmodSync(profileDir, 0o1777)
    env['NODE_OPTIONS'] = `--cpu-prof --cpu-prof-dir=${profileDir}`
  }
  await measureApiRows(rows, { cleanup, cores, measuring, run, env })
  const servers = new SessionServers(cleanup, { cores: cores.server, env, effort })
  for (const row of rows) {
    if (!('measureProcesses' in row)) continue
    const own = new Cleanup()
    cleanup.after(() => own.close())
    const isWhole = await collect(row, row.measureProcesses({ cleanup: own, cores, servers }, measuring), run)
    // A process that a row left running would distort the next row's numbers.
    if (!isWhole) await servers.close()
    await own.close()
  }
  run.oursStartMs = Math.max(run.oursStartMs, servers.startMs)
  await servers.close()
  signal.throwIfAborted()

  const results = run.compared
    .flatMap((compared) => compared.results)
    .toSorted((a, b) => a.metric.row - b.metric.row)
  const file = writeResults(startedAt, {
    startedAt,
    options,
    effort,
    cores,
    before,
    after: machine(),
    ...run,
  })
  console.log(`\n${tableOf(results, effort)}\n\nRaw samples: ${file}`)
  if (profileDir) {
    for (const name of readdirSync(profileDir)) {
      console.log(`\n${summarise(join(profileDir, name), { skipMs: run.oursStartMs })}`)
    }
  }
  for (const { row, reason } of run.skipped) console.log(`\nSkipped in row ${row}: ${reason}`)
  for (const { row, error } of run.broken) console.error(`\nRow ${row} is broken:`, error)
  return run.broken.length === 0
}

/** Minutes of standby take too long for every run. */
function wholeEffort(): Effort {
  const effort = options.quick ? quickEffort : fullEffort
  return { ...effort, longWakePairs: options.long ? LONG_WAKE_PAIRS : 0 }
}

interface ApiRowsOptions {
  readonly cleanup: Cleanup
  readonly cores: Cores
  readonly measuring: Measuring
  readonly run: Run
  readonly env: Record<string, string>
}

/** The first rows share these servers. They end before the rows that need the whole machine. */
async function measureApiRows(
  rows: readonly Row[],
  { cleanup, cores, measuring, run, env }: ApiRowsOptions,
): Promise<void> {
  const apiRows = rows.filter((row) => 'measure' in row)
  if (apiRows.length === 0) return
  const own = new Cleanup()
  cleanup.after(() => own.close())
  const startedAt = performance.now()
  const setup = await startApiSetup(own, { cores, env })
  run.oursStartMs = performance.now() - startedAt
  for (const row of apiRows) await collect(row, row.measure(setup, measuring), run)
  await own.close()
}

/** A broken row does not stop the others. */
async function collect(row: Row, measured: AsyncIterable<Compared>, run: Run): Promise<boolean> {
  console.log(`Row ${row.number}: ${row.title}`)
  const startedAt = performance.now()
  const skip = (reason: string) => {
    run.skipped.push({ row: row.number, reason })
    console.log(`  skipped: ${reason}`)
  }
  const whySkipped = 'measureProcesses' in row ? row.whySkipped?.() : undefined
  if (whySkipped) {
    skip(whySkipped)
    return true
  }
  try {
    for await (const compared of measured) {
      run.compared.push(compared)
      compared.skipped?.forEach(skip)
      for (const { metric, interval, verdict } of compared.results) {
        console.log(`  ${metric.name}  ${interval.median.toFixed(3)}  ${verdict}`)
      }
    }
    return true
  } catch (error) {
    run.broken.push({ row: row.number, error })
    return false
  } finally {
    console.log(`  took ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  }
}

function help(): string {
  const titles = allRows.map(({ number, title }) => `  ${String(number).padStart(2)}  ${title}`)
  return `npm run bench [-- options]: measures the server against baselines in the same run and prints a table.

  --rows 27,29  measure only these rows
  --quick       a third of the samples, without repeats: for a first look
  --smoke       every row once, to see that it works; the numbers mean nothing
  --long        row 16 also after three minutes on standby
  --profile     also print where the server spent its CPU time (not for row 33)
  --help        print this text

Without options it measures every row, which takes about 90 minutes; do not use the machine for anything else.
Rows with sessions need root, bubblewrap and Chromium; a row that cannot be measured is skipped, and the reason is printed.
The exit code is 1 when a row is broken. Raw samples are written to bench-results/.

Rows, in the order in which they are measured:
${titles.join('\n')}`
}

function chooseRows(list: string | undefined): readonly Row[] {
  if (list === undefined) return allRows
  return list.split(',').flatMap((text) => {
    // Several rows may have the same number, as parts of one goal.
    const rows = allRows.filter(({ number }) => number === Number(text))
    if (rows.length === 0)
      throw new Error(
        `Cannot measure row "${text}": the rows are ${allRows.map((known) => known.number).join(', ')}`,
      )
    return rows
  })
}

const cleanup = new Cleanup()
const interrupted = new AbortController()
const interrupt = () => {
  interrupted.abort()
  void cleanup.close().finally(() => process.exit(130))
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect']) process.once(signal, interrupt)

try {
  const isWhole = await main(cleanup, interrupted.signal)
  process.exitCode = isWhole ? 0 : 1
} finally {
  await cleanup.close()
}
// The noise check's processes and the IPC channel of an older Node's runner would keep this process alive.
process.exit()
