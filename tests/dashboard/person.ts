// A person in front of the dashboard: a real browser that signs in by the form.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 390, height: 844 }

export async function startBrowser(owner: Owner): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  cleanUpAfter(owner, () => browser.close())
  return browser
}

export interface Visit {
  readonly url: string
  readonly key: string
  /** Below /dashboard. */
  readonly path?: string
  readonly options?: BrowserContextOptions
}

export interface Person {
  readonly page: Page
  /** What the page complained about: errors of scripts, and what its policy refused. */
  readonly complaints: readonly string[]
}

/** Signs in where the page asks for it. */
export async function signIn(browser: Browser, { url, key, path = '', options }: Visit): Promise<Person> {
  const person = await open(browser, { url, path, ...(options && { options }) })
  await person.page.getByLabel('API key', { exact: true }).fill(key)
  await person.page.getByRole('button', { name: 'Sign in' }).click()
  await person.page.locator('#content').waitFor()
  return person
}

export async function open(
  browser: Browser,
  { url, path = '', options }: Omit<Visit, 'key'>,
): Promise<Person> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      complaints.push(message.text())
  })
  await page.goto(`${url}/dashboard${path}`)
  return { page, complaints }
}

/** Throws with what axe found. It runs in a world of its own, which the page's policy does not reach. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const client = await page.context().newCDPSession(page)
  const { frameTree } = await client.send('Page.getFrameTree')
  const { executionContextId: contextId } = await client.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  })
  const run = `${axe}; axe.run(document, { iframes: false }).then(({ violations }) => JSON.stringify(violations.map(
    ({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => [html, failureSummary]) }))))`
  const { result, exceptionDetails } = await client.send('Runtime.evaluate', {
    expression: run,
    contextId,
    awaitPromise: true,
  })
  assert.equal(exceptionDetails, undefined)
  await client.detach()
  assert.deepEqual(JSON.parse(result.value as string), [], what)
}
