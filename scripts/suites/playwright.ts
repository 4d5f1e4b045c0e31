// Runs Playwright's own tests of pages or of its library.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '@berth/server/instances/local/programs'
import type { Arm } from './arm.ts'
import { readPlaywrightReport } from './playwright-report.ts'
import type { Results } from './result.ts'
import { runProgram } from './run-program.ts'
import type { Selection } from './suite.ts'
import { openSupply } from './supply.ts'

export interface PlaywrightOptions {
  /** A checkout of Playwright that has been built. */
  readonly repository: string
  readonly project: 'page' | 'library'
  readonly workers: number
  /** An empty folder. */
  readonly directory: string
}

const CONFIG = join(import.meta.dirname, 'playwright-config.mjs')
const PROGRAM = 'packages/playwright/cli.js'

export async function runPlaywright(
  arm: Arm,
  { repository, project, workers, directory }: PlaywrightOptions,
  { grep, files }: Selection,
): Promise<Results> {
  const program = join(repository, PROGRAM)
  if (!existsSync(program)) throw new Error(`Cannot run Playwright's tests: there is no ${program}`)
  const report = join(directory, 'report.json')
  const supply = await openSupply(arm)
  try {
    await runProgram(
      process.execPath,
      [program, 'test', '--config', CONFIG, ...(grep === undefined ? [] : ['--grep', grep]), ...files],
      {
        cwd: repository,
        env: {
          BERTH_SUITES_REPOSITORY: repository,
          BERTH_SUITES_PROJECT: project,
          BERTH_SUITES_REPORT: report,
          BERTH_SUITES_OUTPUT: join(directory, 'output'),
          BERTH_SUITES_SUPPLY: supply.url,
          BERTH_SUITES_WORKERS: String(workers),
          PLAYWRIGHT_BROWSERS_PATH: programsFor(repository, join(directory, 'programs')),
          // Otherwise the tests expect Playwright's own build, which differs from Chromium without a window.
          PWTEST_CHANNEL: 'chromium',
        },
      },
    )
  } finally {
    await supply.close()
  }
  if (!existsSync(report)) throw new Error("Playwright's test runner left no report; its output says why")
  return readPlaywrightReport(readFileSync(report, 'utf8'))
}

/** The folder in which Playwright looks for its own ffmpeg, with that of this machine. Without one, no test of a video runs. */
function programsFor(repository: string, folder: string): string {
  const listed = readFileSync(join(repository, 'packages/playwright-core/browsers.json'), 'utf8')
  const { browsers } = JSON.parse(listed) as { browsers: readonly { name: string; revision: string }[] }
  const revision = browsers.find(({ name }) => name === 'ffmpeg')?.revision
  const ffmpeg = findProgram('ffmpeg')
  if (revision === undefined || !ffmpeg) return folder
  const ours = join(folder, `ffmpeg-${revision}`)
  mkdirSync(ours, { recursive: true })
  symlinkSync(ffmpeg, join(ours, 'ffmpeg-linux'))
  return folder
}
