// Tests the login pages of real software, installed from package registries. Takes some minutes and needs the network.
//   npm run logins                              all software
//   npm run logins -- --only jupyter,dokuwiki   only these
//   npm run logins -- --engine                  also run the login engine, and print a table of the results
//   npm run logins -- --from-report FILE        only make a test of the rules from the report of a login
//   npm run logins -- --pages <directory>       reads saved pages instead; see pages.ts
// Each software is installed into a temporary directory and started on loopback. Then plain Playwright checks that its
// login behaves as described.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type BrowserContext } from 'playwright-core'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { eventually } from '../fixtures/host.ts'
import type { ValueName, Variant } from '../fixtures/login-zoo/kit/site.ts'
import { BROWSER_ARGS } from '../fixtures/login-zoo/zoo.ts'
import { software } from './all.ts'
import { runEngine, type EngineRow } from './engine.ts'
import { addFixture } from './from-report.ts'
import { owning } from './owning.ts'
import { readPages } from './pages.ts'
import type { Kept, RunningSoftware, Software } from './software.ts'

const PAGE_TIMEOUT_MS = 30_000

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    engine: { type: 'boolean', default: false },
    'from-report': { type: 'string' },
    name: { type: 'string' },
    step: { type: 'string' },
    wanted: { type: 'string' },
    pages: { type: 'string' },
    keep: { type: 'string' },
  },
})
if (values['from-report'] !== undefined) {
  const { name, step, wanted } = values
  console.log(addFixture({ file: values['from-report'], name, step, wanted }))
  process.exit()
}
if (values.pages !== undefined) {
  process.exit((await readPages(values.pages, values.keep)) ? 0 : 1)
}
const names = values.only ? values.only.split(',') : software.map(({ name }) => name)
const rows: EngineRow[] = []

for (const name of names) {
  const one = software.find((each) => each.name === name)
  if (!one)
    throw new Error(`Cannot test "${name}": choose from ${software.map((each) => each.name).join(', ')}`)
  const startedAt = performance.now()
  try {
    const done = await owning((owner) => show(owner, one))
    console.log(`${name}: ${done.join(', ')}; took ${Math.round((performance.now() - startedAt) / 1000)} s`)
  } catch (error) {
    process.exitCode = 1
    console.error(`${name} failed:`, error)
  }
}
if (values.engine) {
  console.table(rows, ['software', 'attempt', 'verdict', 'seconds'])
  if (rows.some(({ verdict }) => verdict !== 'as described')) process.exitCode = 1
}

async function show(owner: Owner, one: Software): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), `berth-logins-${one.name}-`))
  cleanUpAfter(owner, () => rm(directory, { recursive: true, force: true }))
  const running = await (await one.install(directory)).start(owner)
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: BROWSER_ARGS })
  cleanUpAfter(owner, () => browser.close())
  const done: string[] = []
  for (const variant of one.variants) {
    await signIn(browser, { one, running, variant })
    done.push(variant.name)
  }
  await browser.close()
  if (!values.engine) return done
  for await (const row of runEngine(one, running)) {
    rows.push(row)
    console.log(
      [`${one.name}, ${row.attempt}: ${row.verdict}, ${row.seconds} s`, ...row.details].join('\n  '),
    )
  }
  return done
}

interface Attempt {
  readonly one: Software
  readonly running: RunningSoftware
  readonly variant: Variant
}

async function signIn(browser: Browser, { one, running, variant }: Attempt): Promise<void> {
  const context = await browser.newContext()
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  try {
    const tab = await context.newPage()
    const at = (path: string | undefined) => new URL(path ?? '/', running.url).href
    await tab.goto(at(one.loginPath))
    assert.equal(await running.isSignedIn(await keptBy(context)), false, 'a new browser is already signed in')
    const user = one.users.find(({ key }) => key === variant.user)!
    const value = (name: ValueName) => variant.gives?.[name] ?? user[name as 'password']
    await one.walk(tab, { variant, value })
    if (!variant.isSignedIn) {
      await tab
        .getByText(variant.says!)
        .first()
        .waitFor()
        .catch(async (cause: unknown) => {
          const text = (await tab.innerText('body')).slice(0, 1_000)
          throw new Error(`The page should say "${variant.says}", but says: ${text}`, { cause })
        })
      assert.equal(await running.isSignedIn(await keptBy(context)), false)
      return
    }
    const isIn = async () => running.isSignedIn(await keptBy(context))
    await eventually('the software says that the browser is signed in', isIn, PAGE_TIMEOUT_MS)
    if (!running.signOut) return
    await running.signOut(await keptBy(context))
    assert.equal(await isIn(), false, 'still signed in after the server ended the session')
  } finally {
    await context.close()
  }
}

async function keptBy(context: BrowserContext): Promise<Kept> {
  const { cookies, origins } = await context.storageState()
  return {
    cookies: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    local: Object.fromEntries(
      origins.flatMap(({ localStorage }) => localStorage).map((item) => [item.name, item.value]),
    ),
  }
}
