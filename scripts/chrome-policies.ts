// Asks this machine's Chromium for its policies and their types, and writes them to
// packages/server/src/sessions/policies/known.json for the server. Run it when Berth ships a new version of Chromium.
// The diff shows which policies were added and removed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch } from 'puppeteer-core'

/** Chromium leaves these out of its list with types, because malware often sets them. */
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

/** Gets all names the same way the page does. */
const NAMES = `import('chrome://resources/js/cr.js').then(({ addWebUiListener }) => new Promise((resolve) => {
  addWebUiListener('policies-updated', ({ chrome }) => resolve(chrome.policyNames))
  chrome.send('listenPoliciesUpdates')
}))`

const target = join(import.meta.dirname, '../packages/server/src/sessions/policies/known.json')

const browser = await launch({
  executablePath: '/usr/lib/chromium/chromium',
  // Chromium has no sandbox as root. That is safe here: it only opens its own page.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  const page = await browser.newPage()
  await page.goto('chrome://policy')
  // The page has this string for its own editor of test policies.
  const text = (await page.evaluate(
    `import('chrome://resources/js/load_time_data.js').then((module) => module.loadTimeData.getString('initialSchema'))`,
  )) as string
  const { chrome } = JSON.parse(text) as { chrome: Record<string, string> }
  const types = new Map(Object.entries({ ...withoutType, ...chrome }))
  const names = (await page.evaluate(NAMES)) as string[]
  const untyped = names.filter((name) => !types.has(name))
  if (untyped.length > 0)
    throw new Error(`Cannot find the types of ${untyped.join(', ')}: add them to withoutType in this file`)
  const sorted = Object.fromEntries([...types].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(target, `${JSON.stringify(sorted, null, 2)}\n`)
  process.stdout.write(`${Object.keys(sorted).length} policies of ${await browser.version()}\n`)
} finally {
  await browser.close()
}
