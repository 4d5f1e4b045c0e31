// Our server with much to show, and a person's browser in front of its dashboard. Nothing is pinned: a person's browser
// needs several processes at once, and the server works while the page waits for it.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { signIn, startBrowser } from '../../../tests/dashboard/person.ts'
import { startServer, type TestServer } from '../../../tests/fixtures/server.ts'
import type { Cleanup } from '../cleanup.ts'

export interface Dashboard {
  readonly server: TestServer
  readonly browser: Browser
  /** Signed in, with the files of the dashboard in its cache. */
  readonly context: BrowserContext
}

export async function startDashboard(cleanup: Cleanup): Promise<Dashboard> {
  const server = await startServer(cleanup, {
    hasRealInstances: true,
    hasOwnPostgres: true,
    env: { NODE_ENV: 'production' },
  })
  const browser = await startBrowser(cleanup)
  const { page } = await signIn(browser, server)
  return { server, browser, context: page.context() }
}

/** A fresh page of the dashboard, which shows its title. */
export async function openPage({ context, server }: Dashboard, path: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${server.url}/dashboard${path}`)
  await page.locator('#content h1').waitFor({ state: 'attached' })
  return page
}
