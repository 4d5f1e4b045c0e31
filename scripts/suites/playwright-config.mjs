// Playwright's own configuration of its tests, with two changes: only Chromium, and every launch connects to a browser
// of our supply instead. Playwright loads this file in each worker, so it is plain JavaScript without imports of ours.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const {
  BERTH_SUITES_REPOSITORY: repository,
  BERTH_SUITES_PROJECT: project,
  BERTH_SUITES_REPORT: outputFile,
  BERTH_SUITES_OUTPUT: outputDir,
  BERTH_SUITES_SUPPLY: supply,
  BERTH_SUITES_WORKERS: workers,
  TEST_WORKER_INDEX: worker,
} = process.env

/** These start programs on this machine, which is not what is compared. */
const LAUNCHES =
  /library\/(browser-server|browsers-path|browsertype-|channels|debug-controller|defaultbrowsercontext|headful|inspector|launcher|multiclient|playwright-client|signals|trace-viewer|unit)/

const require = createRequire(join(repository, 'package.json'))
const { default: theirs } = require(join(repository, 'tests/library/playwright.config.ts'))

if (worker !== undefined) connectInsteadOfLaunching()

function connectInsteadOfLaunching() {
  const { chromium } = require('playwright-core')
  const prototype = Object.getPrototypeOf(chromium)
  prototype.launch = connect
  prototype.launchPersistentContext = refuse
  prototype.launchServer = refuse
}

async function connect({ slowMo, timeout, downloadsPath } = {}) {
  const answer = await fetch(supply, { method: 'POST' })
  if (!answer.ok) throw new Error(`Cannot open a browser: ${await answer.text()}`)
  const { url, cdpUrl } = await answer.json()
  // A connection has no option of the launch's name; this is the folder of its downloads, too.
  const browser = await this.connectOverCDP(cdpUrl, { slowMo, timeout, artifactsDir: downloadsPath })
  browser.once('disconnected', () => void fetch(url, { method: 'DELETE' }).catch(() => {}))
  return browser
}

async function refuse() {
  throw new Error('Only launch() is compared')
}

export default {
  ...theirs,
  outputDir,
  maxFailures: 0,
  globalTimeout: 0,
  retries: 0,
  forbidOnly: false,
  workers: Number(workers),
  reporter: [['dot'], ['json', { outputFile }]],
  projects: theirs.projects
    .filter(({ name }) => name === `chromium-${project}`)
    .map((one) => ({ ...one, testIgnore: [...one.testIgnore, LAUNCHES] })),
}
