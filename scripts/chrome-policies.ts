// Asks the Chromium of this machine which policies it knows, and of what type each is, and writes that down for the
// server (packages/server/src/sessions/policies/known.json). To be run when another version is shipped; what came and went
// shows in the difference.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch } from 'puppeteer-core'

/** Chromium keeps these out of the list with types, as ones that others like to misuse. */
const withoutType: Record<string, string> = {
  AutoOpenFileTypes: 'list',
  CommandLineFlagSecurityWarningsEnabled: 'boolean',
  DefaultSearchProviderEnabled: 'boolean',
  EnterpriseCustomLabelForBrowser: 'string',
  EnterpriseLogoUrlForBrowser: 'string',
  EnterpriseSearchAggregatorSettings: 'dictionary',
  HomepageIsNewTabPage: 'boolean',
  HomepageLocation: 'string',
  MetricsReportingEnabled: 'boolean',
  NTPFooterManagementNoticeEnabled: 'boolean',
  NewTabPageLocation: 'string',
  PasswordProtectionChangePasswordURL: 'string',
  PasswordProtectionLoginURLs: 'list',
  RestoreOnStartup: 'integer',
  RestoreOnStartupURLs: 'list',
  SafeBrowsingAllowlistDomains: 'list',
  SafeBrowsingEnabled: 'boolean',
  SiteSearchSettings: 'list',
}

/** As the page itself asks for all names. */
const NAMES = `import('chrome://resources/js/cr.js').then(({ addWebUiListener }) => new Promise((resolve) => {
  addWebUiListener('policies-updated', ({ chrome }) => resolve(chrome.policyNames))
  chrome.send('listenPoliciesUpdates')
}))`

const target = join(import.meta.dirname, '../packages/server/src/sessions/policies/known.json')

const browser = await launch({
  executablePath: '/usr/lib/chromium/chromium',
  // As root it has no sandbox; it only shows a page of its own.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  const page = await browser.newPage()
  await page.goto('chrome://policy')
  // Of the page's own strings: what it gives to its editor of test policies.
  const text = (await page.evaluate(
    `import('chrome://resources/js/load_time_data.js').then((module) => module.loadTimeData.getString('initialSchema'))`,
  )) as string
  const { chrome } = JSON.parse(text) as { chrome: Record<string, string> }
  const types = new Map(Object.entries({ ...withoutType, ...chrome }))
  const names = (await page.evaluate(NAMES)) as string[]
  const untyped = names.filter((name) => !types.has(name))
  if (untyped.length > 0) throw new Error(`Cannot tell the types of ${untyped.join(', ')}; add them here`)
  const sorted = Object.fromEntries([...types].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(target, `${JSON.stringify(sorted, null, 2)}\n`)
  process.stdout.write(`${Object.keys(sorted).length} policies of ${await browser.version()}\n`)
} finally {
  await browser.close()
}
