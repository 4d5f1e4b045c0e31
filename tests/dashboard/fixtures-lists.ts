// A person at the lists of the dashboard: signed in by the form, in a Chromium that runs beside the server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import type { TestServer } from '../fixtures/server.ts'
import { createSession, query } from '../fixtures/sessions.ts'

export const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export async function openBrowser(owner: Owner): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  cleanUpAfter(owner, () => browser.close())
  return browser
}

export interface Visit {
  readonly page: Page
  /** Errors of the page, and what its policy refused. Must stay empty. */
  readonly problems: string[]
}

export interface VisitOptions extends BrowserContextOptions {
  readonly key?: string
}

/** Signs in and opens the path. */
export async function visit(
  owner: Owner,
  { browser, server, path }: { browser: Browser; server: Pick<TestServer, 'url' | 'key'>; path: string },
  { key = server.key, ...options }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: desktop, ...options })
  cleanUpAfter(owner, () => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    // Before signing in, the question who is signed in is answered with 401.
    if (message.type() === 'error' && !message.text().includes('401')) problems.push(message.text())
  })
  await page.goto(`${server.url}/dashboard${path}`)
  await page.getByLabel('API key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('h1').filter({ hasNotText: 'Berth' }).waitFor({ state: 'attached' })
  return { page, problems }
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** Through the debugger, because the policy of the page allows no other scripts. */
export async function assertAccessible(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page)
  try {
    await client.send('Runtime.evaluate', { expression: axe })
    const { result } = await client.send('Runtime.evaluate', {
      expression: 'axe.run(document).then((result) => JSON.stringify({ violations: result.violations }))',
      awaitPromise: true,
    })
    const { violations } = JSON.parse(result.value as string) as AxeResult
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
    assert.deepEqual(found, [])
  } finally {
    await client.detach()
  }
}

export interface ManyOptions {
  readonly count: number
  /** Of every tenth. */
  readonly tags?: Record<string, string>
}

/** Ended sessions named `past-1` and so on, the highest number newest, written into the database. */
export async function addPastSessions(
  server: TestServer,
  { count, tags = { team: 'ten' } }: ManyOptions,
): Promise<void> {
  const { session_id: id } = await createSession(server)
  assert.equal((await server.fetch(`/browsers/${id}`, { method: 'DELETE' })).status, 204)
  await query(
    server,
    `INSERT INTO browsers SELECT (jsonb_populate_record(one, jsonb_build_object(
      'id', 'a' || substr(md5(n::text), 1, 23),
      'name', 'past-' || n,
      'tags', CASE WHEN n % 10 = 0 THEN $3::jsonb ELSE '{}'::jsonb END,
      'state', 'ended',
      'end_reason', CASE WHEN n % 4 = 0 THEN 'crashed' ELSE 'deleted' END,
      'created_at', now() - make_interval(secs => ($2::int - n) * 60 + 60),
      'deleted_at', now() - make_interval(secs => ($2::int - n) * 60),
      'ended_at', now() - make_interval(secs => ($2::int - n) * 60),
      'uptime_ms', n * 1000
    ))).* FROM browsers AS one, generate_series(1, $2::int) AS n WHERE one.id = $1`,
    [id, count, JSON.stringify(tags)],
  )
}
