// Reads the pages of a website with a pool of browsers, and prints their titles. The pool is the limit: a page is
// visited when a browser is free.
//
//   node crawl.ts https://example.com 20
import Kernel from '@onkernel/sdk'
import { chromium } from 'playwright-core'

const BROWSERS = 3
const start = new URL(process.argv[2] ?? 'https://example.com')
const mostPages = Number(process.argv[3] ?? 20)

const berth = new Kernel()
const pool = await berth.browserPools.create({
  name: `crawl-${process.pid}`,
  size: BROWSERS,
  headless: true,
  fill_rate_per_minute: 100,
})
// A pool stays until it is deleted, so Ctrl-C deletes it, too.
process.once('SIGINT', () => void deletePool().finally(() => process.exit(130)))
try {
  const known = new Set([start.href])
  // Level by level: first the start page, then all pages that it links to, and so on.
  for (let level = [start.href]; level.length > 0;) {
    const found = (await Promise.all(level.map((address) => visit(address)))).flat()
    const next = new Set(found.filter((address) => !known.has(address)))
    level = [...next].slice(0, mostPages - known.size)
    for (const address of level) known.add(address)
  }
} finally {
  await deletePool()
}

async function deletePool(): Promise<void> {
  await berth.browserPools.delete(pool.id, { force: true })
}

/** Returns the links to other pages of the site. */
async function visit(address: string): Promise<string[]> {
  const session = await lease()
  try {
    const browser = await chromium.connectOverCDP(session.cdp_ws_url)
    const page = browser.contexts()[0]!.pages()[0]!
    await page.goto(address)
    console.log(`${new URL(address).pathname}  ${await page.title()}`)
    const links = await page.locator('a[href]').evaluateAll((all) => all.map((a) => a.getAttribute('href')))
    await browser.close()
    const targets = links.map((link) => new URL(link ?? '', address))
    return targets.filter(({ origin }) => origin === start.origin).map(({ href }) => href.replace(/#.*/, ''))
  } catch (error) {
    console.error(`${address}: ${error instanceof Error ? error.message : String(error)}`)
    return []
  } finally {
    await berth.browserPools.release(pool.id, { session_id: session.session_id })
  }
}

/** Waits until a browser is free. */
async function lease() {
  for (;;) {
    const session = await berth.browserPools.acquire(pool.id, {})
    if (session) return session
  }
}
