// Keeps the connection to Chromium between calls, so that Playwright's settings for it (routes, viewport, init scripts)
// stay after the call that made them.
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import type { Task } from '../conversation.ts'
import { Dialogs } from './dialogs.ts'

export interface Scope {
  readonly page: Page
  readonly context: BrowserContext
  readonly browser: Browser
  /** Whether the page was opened now, because there was none. */
  readonly isNew: boolean
}

const REPLACED_MS = 1_000
const TAB_MS = 20_000
/** How long to wait for pages, which may hang; not as long for those of others. */
const PAGES_MS = 10_000
const OTHERS_MS = 2_000

/** Tabs of other executors. */
let others: ReadonlySet<string> = new Set()
let isRunning = false
let connected: { readonly endpoint: string; readonly browser: Browser } | undefined
const dialogs = new Dialogs(async (page) => others.has(await targetIdOf(page)))

/** While it connects, Playwright waits for every page; build.ts makes it ask this. */
const untilPages = (pages: Promise<unknown>) => {
  const patienceMs = others.size === 0 ? PAGES_MS : OTHERS_MS
  return Promise.race([pages, pause(patienceMs, undefined, { ref: false })])
}
Object.assign(globalThis, { [Symbol.for('berth.untilPages')]: untilPages })

async function browserAt(endpoint: string): Promise<Browser> {
  if (connected?.endpoint === endpoint && connected.browser.isConnected()) return connected.browser
  const browser = await chromium.connectOverCDP(endpoint)
  connected = { endpoint, browser }
  return browser
}

export async function scopeAt(task: Task): Promise<Scope> {
  const { endpoint, target } = task
  if (endpoint === null) throw new Error('Chromium is not ready')
  others = new Set(task.others)
  const browser = await browserAt(endpoint)
  const context = browser.contexts()[0]!
  isRunning = true
  arrangeDialogs()
  if (target !== undefined) {
    return { browser, context, page: await ownPage(context, target), isNew: false }
  }
  const front = await activePage(endpoint, context)
  if (front) return { browser, context, page: front, isNew: false }
  return { browser, context, ...(await replacedPage(context)) }
}

/** If the last page was closed, the agent has opened another, which Playwright is about to see. */
async function replacedPage(context: BrowserContext): Promise<{ page: Page; isNew: boolean }> {
  // Those that there are belong to others.
  const isEmpty = context.pages().length === 0
  const opened =
    isEmpty && (await context.waitForEvent('page', { timeout: REPLACED_MS }).catch(() => undefined))
  return opened ? { page: opened, isNew: false } : { page: await context.newPage(), isNew: true }
}

/** The agent has opened it, and Playwright may be about to see it. */
async function ownPage(context: BrowserContext, target: string): Promise<Page> {
  const { promise, resolve, reject } = Promise.withResolvers<Page>()
  const look = (page: Page) =>
    targetIdOf(page).then(
      (id) => id === target && resolve(page),
      // A page that was closed meanwhile.
      () => {},
    )
  const timer = setTimeout(() => reject(new Error('The tab of the executor does not answer')), TAB_MS)
  context.on('page', look)
  for (const page of context.pages()) void look(page)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    context.off('page', look)
  }
}

export function leaveDialogs(): void {
  isRunning = false
  arrangeDialogs()
}

export function setOthers(targets: readonly string[]): void {
  others = new Set(targets)
  arrangeDialogs()
}

function arrangeDialogs(): void {
  const context = connected?.browser.contexts()[0]
  if (!context) return
  if (isRunning) dialogs.answer(context, { hasOthers: others.size > 0 })
  else dialogs.leave(context)
}

/** The page that was used last and is nobody's own; Chromium lists pages in that order. */
async function activePage(endpoint: string, context: BrowserContext): Promise<Page | undefined> {
  const pages = context.pages()
  if (pages.length <= 1 && others.size === 0) return pages[0]
  const { host } = new URL(endpoint)
  const answer = await fetch(`http://${host}/json/list`)
  const targets = (await answer.json()) as { id: string; type: string }[]
  const places = new Map(targets.map(({ id }, index) => [id, index]))
  let found: { page: Page; place: number } | undefined
  for (const page of pages) {
    // One that is just being closed has none.
    const id = await targetIdOf(page).catch(() => undefined)
    if (id === undefined || others.has(id)) continue
    const place = places.get(id) ?? Infinity
    if (!found || place < found.place) found = { page, place }
  }
  return found?.page
}

const targetIds = new WeakMap<Page, string>()

export async function targetIdOf(page: Page): Promise<string> {
  const known = targetIds.get(page)
  if (known !== undefined) return known
  const session = await page.context().newCDPSession(page)
  const { targetInfo } = await session.send('Target.getTargetInfo')
  await session.detach()
  targetIds.set(page, targetInfo.targetId)
  return targetInfo.targetId
}
