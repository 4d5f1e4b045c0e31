// The connection to Chromium is kept from call to call, so that what Playwright holds for it (routes,
// viewport, init scripts) outlives the call that made it.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'

export interface Scope {
  readonly page: Page
  readonly context: BrowserContext
  readonly browser: Browser
}

const REPLACED_MS = 1_000

let connected: { readonly endpoint: string; readonly browser: Browser } | undefined

async function browserAt(endpoint: string): Promise<Browser> {
  if (connected?.endpoint === endpoint && connected.browser.isConnected()) return connected.browser
  const browser = await chromium.connectOverCDP(endpoint)
  connected = { endpoint, browser }
  return browser
}

export async function scopeAt(endpoint: string): Promise<Scope> {
  const browser = await browserAt(endpoint)
  const context = browser.contexts()[0]!
  context.off('dialog', leaveOpen)
  const page = (await activePage(endpoint, context)) ?? (await replacedPage(context))
  return { browser, context, page }
}

/** Where the last one was closed the agent has made another, of which Playwright is about to hear. */
async function replacedPage(context: BrowserContext): Promise<Page> {
  return context.waitForEvent('page', { timeout: REPLACED_MS }).catch(() => context.newPage())
}

/**
 * Playwright answers dialogs that nobody listens for. While no code runs they are somebody else's: of a
 * person, or of another client.
 */
export function leaveDialogs(): void {
  const context = connected?.browser.contexts()[0]
  if (!context) return
  context.off('dialog', leaveOpen)
  context.on('dialog', leaveOpen)
}

const leaveOpen = () => {}

/** The one used last, of which Chromium's own list is in order. */
async function activePage(endpoint: string, context: BrowserContext): Promise<Page | undefined> {
  const pages = context.pages()
  if (pages.length <= 1) return pages[0]
  const { host } = new URL(endpoint)
  const answer = await fetch(`http://${host}/json/list`)
  const targets = (await answer.json()) as { id: string; type: string }[]
  const places = new Map(targets.map(({ id }, index) => [id, index]))
  let found: { page: Page; place: number } | undefined
  for (const page of pages) {
    const place = places.get(await targetIdOf(page)) ?? Infinity
    if (!found || place < found.place) found = { page, place }
  }
  return found?.page
}

const targetIds = new WeakMap<Page, string>()

async function targetIdOf(page: Page): Promise<string> {
  const known = targetIds.get(page)
  if (known !== undefined) return known
  const session = await page.context().newCDPSession(page)
  const { targetInfo } = await session.send('Target.getTargetInfo')
  await session.detach()
  targetIds.set(page, targetInfo.targetId)
  return targetInfo.targetId
}
