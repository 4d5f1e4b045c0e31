// The code that connects clients to this session, with its real URLs.
import type { Session } from '../session.ts'

export interface Snippet {
  readonly id: string
  readonly title: string
  readonly about?: string
  readonly code: string
}

export function snippetsOf(session: Session): readonly Snippet[] {
  const { cdp_ws_url: cdp, webdriver_ws_url: bidi, playwright_ws_url: native, session_id: id } = session
  const origin = location.origin
  return [
    {
      id: 'playwright-ts',
      title: 'Playwright, TypeScript',
      code: `import { chromium } from 'playwright'

const browser = await chromium.connectOverCDP('${cdp}')
const page = browser.contexts()[0].pages()[0]
await page.goto('https://example.com')
console.log(await page.title())
await browser.close()
`,
    },
    {
      id: 'playwright-python',
      title: 'Playwright, Python',
      code: `from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp("${cdp}")
    page = browser.contexts[0].pages[0]
    page.goto("https://example.com")
    print(page.title())
    browser.close()
`,
    },
    ...(native === undefined
      ? []
      : [
          {
            id: 'playwright-native',
            title: 'Playwright’s own protocol',
            about: 'Downloads and uploads work as with a browser on your own machine.',
            code: `import { chromium } from 'playwright'

const browser = await chromium.connect('${native}')
const page = await browser.newPage()
await page.goto('https://example.com')
console.log(await page.title())
await browser.close()
`,
          },
        ]),
    {
      id: 'puppeteer',
      title: 'Puppeteer',
      code: `import puppeteer from 'puppeteer-core'

const browser = await puppeteer.connect({ browserWSEndpoint: '${cdp}' })
const [page] = await browser.pages()
await page.goto('https://example.com')
console.log(await page.title())
await browser.disconnect()
`,
    },
    {
      id: 'selenium',
      title: 'Selenium, WebDriver BiDi',
      about: 'The session exists already, so the client connects to it and creates none.',
      code: `import WebSocket from 'ws'

const bidi = new WebSocket('${bidi}')
await new Promise((resolve) => bidi.once('open', resolve))
bidi.on('message', (data) => console.log(JSON.parse(String(data))))
bidi.send(JSON.stringify({ id: 1, method: 'browsingContext.getTree', params: {} }))
`,
    },
    {
      id: 'cdp',
      title: 'Raw CDP',
      code: `websocat '${cdp}' <<< '{"id":1,"method":"Browser.getVersion"}'
`,
    },
    {
      id: 'client',
      title: 'API client, TypeScript',
      about: 'Needs an API key in BERTH_API_KEY.',
      code: `import Kernel from '@onkernel/sdk'

const berth = new Kernel({ apiKey: process.env.BERTH_API_KEY, baseURL: '${origin}' })
const { result } = await berth.browsers.playwright.execute('${id}', {
  code: \`await page.goto('https://example.com')
         return page.title()\`,
})
console.log(result)
`,
    },
    {
      id: 'curl',
      title: 'curl',
      code: `curl -H "Authorization: Bearer $BERTH_API_KEY" ${origin}/browsers/${id}
`,
    },
  ]
}

/** Tokens in the text as dots. */
export const hideTokens = (text: string) => text.replaceAll(/(jwt=)[\w.-]+/g, `$1${'•'.repeat(12)}`)
