import Kernel, { type KernelContext } from '@onkernel/sdk'

const kernel = new Kernel() // finds its key and its server by itself
const app = kernel.app('APP_NAME')

interface Input {
  url?: string
  /** How many pages at most. */
  limit?: number
}

interface Page {
  url: string
  title: string
  links: string[]
}

const TABS = 4
const MAX_PAGES = 100

/** Follows the links of a site, several pages at once, and answers with their titles. */
app.action('crawl', async ({ invocation_id }: KernelContext, payload?: Input) => {
  const { url = 'https://example.com', limit = 10 } = payload ?? {}
  const { origin } = new URL(url)
  const most = Math.min(limit, MAX_PAGES)
  const session = await kernel.browsers.create({ invocation_id, headless: true })
  const seen = new Set([url])
  const todo = [url]
  const pages: Omit<Page, 'links'>[] = []
  while (todo.length > 0 && pages.length < most) {
    const batch = todo.splice(0, Math.min(TABS, most - pages.length))
    for (const { links, ...page } of await read(session.session_id, batch)) {
      pages.push(page)
      console.log(`${pages.length} ${page.url}`)
      for (const link of links) {
        if (!link.startsWith(`${origin}/`) || seen.has(link)) continue
        seen.add(link)
        todo.push(link)
      }
    }
  }
  return { pages }
})

/** Every page in a tab of its own. What cannot be opened has no links. */
async function read(sessionId: string, urls: string[]): Promise<Page[]> {
  const { success, result, error } = await kernel.browsers.playwright.execute(sessionId, {
    code: `
      return Promise.all(${JSON.stringify(urls)}.map(async (url) => {
        const tab = await context.newPage()
        try {
          await tab.goto(url, { waitUntil: 'domcontentloaded', timeout: 30_000 })
          const links = await tab.$$eval('a[href]', (all) => all.map((each) => each.href.split('#')[0]))
          return { url, title: await tab.title(), links }
        } catch (failure) {
          return { url, title: String(failure).split('\\n')[0], links: [] }
        } finally {
          await tab.close()
        }
      }))`,
    timeout_sec: 120,
  })
  if (!success) throw new Error(error)
  return result as Page[]
}
