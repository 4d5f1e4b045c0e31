// Keeps the connection to Chromium between calls, so that Playwright's settings for it (routes, viewport, init scripts)
// stay after the call that made them.
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

/** If the last page was closed, the agent has opened another, which Playwright is about to see. */
async function replacedPage(context: BrowserContext): Promise<Page> {
  return context.waitForEvent('page', { timeout: REPLACED_MS }).catch(() => context.newPage())
}

/**
 * Playwright closes dialogs that have no listener. While no code runs, a dialog belongs to a person or to another client,
 * so it must stay open.
 */
export function leaveDialogs(): void {
  const context = connected?.browser.contexts()[0]
  if (!context) return
  context.off('dialog', leaveOpen)
  context.on('dialog', leaveOpen)
}

const leaveOpen = () => {}

/** The page that was used last; Chromium lists pages in that order. */
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
