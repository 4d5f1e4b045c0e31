// DevTools of a session in a real browser: the front end comes from the session's own Chromium and runs in a page
// without an origin, by itself and in a frame of a page of the server.
import assert from 'node:assert/strict'
import { after, before as beforeAll, describe, test } from 'node:test'
import { chromium, type FrameLocator, type Page } from 'playwright-core'
import { CdpClient } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const owner = { after }
const pictures = process.env['DEVTOOLS_PICTURES']
/** The front end loads some hundred files, and the machine may be busy. */
const SLOW_MS = 60_000

interface Link {
  readonly url: string
  readonly expires_at: string
  readonly pages: { id: string; title: string; url: string; devtools_url: string }[]
}

const site = await startSite(owner)
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { ...site.allow, BERTH_LOG_LEVEL: 'debug' },
})
const session = await createSession(server, { headless: true })
const page = await CdpClient.open(session.cdp_ws_url)
after(() => page.terminate())
await page.callPage('Page.navigate', { url: site.url })
await eventually('the page is there', async () => (await page.evaluate('document.title')) === 'Home')
const watching = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
after(() => watching.close())
/** What went wrong in pages of the watching browser. */
const faults: string[] = []

async function createLink(body: object = {}): Promise<Link> {
  const answer = await send(server, 'POST', `/browsers/${session.session_id}/devtools_links`, body)
  assert.equal(answer.status, 201)
  return answer.body as unknown as Link
}

async function newPage(): Promise<Page> {
  const opened = await watching.newPage({ viewport: { width: 1300, height: 800 } })
  opened.on('pageerror', ({ message }) => faults.push(message))
  opened.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  return opened
}

async function picture(view: Page, name: string): Promise<void> {
  if (pictures) await view.screenshot({ path: `${pictures}/${name}.png` })
}

type Front = Page | FrameLocator

const openPanel = async (front: Front, name: string) =>
  front.getByRole('tab', { name, exact: true }).first().click({ timeout: SLOW_MS })

/** Evaluates in the console of the front end, as a person types it. */
async function evaluate(front: Front, view: Page, code: string, shown: string): Promise<void> {
  await openPanel(front, 'Console')
  const prompt = front.getByRole('textbox', { name: 'Console prompt' })
  await prompt.click({ timeout: SLOW_MS })
  // After a semicolon nothing is suggested, which Enter would accept.
  await view.keyboard.type(`${code};`)
  await view.keyboard.press('Enter')
  await front
    .locator('.console-user-command-result', { hasText: shown })
    .first()
    .waitFor({ timeout: SLOW_MS })
}

test('the pages of a session are listed with their titles and addresses', async () => {
  const answer = await send(server, 'GET', `/browsers/${session.session_id}/pages`)
  assert.equal(answer.status, 200)
  const [first] = answer.body as unknown as { id: string }[]
  assert.deepEqual(answer.body, [{ id: first!.id, title: 'Home', url: `${site.url}/` }])
})

test('a page that the session does not have is refused with the way to the list', async () => {
  const path = `/browsers/${session.session_id}/devtools_links`
  const answer = await send(server, 'POST', path, { page_id: 'AB12' })
  assert.equal(answer.status, 404)
  assert.match(JSON.stringify(answer.body), /take page_id from GET \/browsers\/\{id\}\/pages/)
})

describe('DevTools in a page by itself', () => {
  let view: Page

  beforeAll(async () => {
    view = await newPage()
    const { url, pages } = await createLink()
    assert.equal(pages[0]!.devtools_url, url)
    await view.goto(url)
    await openPanel(view, 'Elements')
  })
  after(() => view.close())

  test('Elements shows the DOM of the session’s page', async () => {
    await view.getByText('Harbour').first().waitFor({ timeout: SLOW_MS })
    await picture(view, 'elements')
  })

  test('the console evaluates in the session’s page', async () => {
    await evaluate(view, view, 'document.querySelector("h1").textContent + 6*7', 'Harbour42')
    await evaluate(view, view, 'document.title = "Set by DevTools"', 'Set by DevTools')
    assert.equal(await page.evaluate('document.title'), 'Set by DevTools')
    await picture(view, 'console')
  })

  test('Network lists a request of the session’s page, with its answer', async () => {
    await openPanel(view, 'Network')
    await page.evaluate(`void fetch('/headers?from=devtools')`)
    const row = view.getByText('headers?from=devtools').first()
    await row.click({ timeout: SLOW_MS })
    await view.getByText('Request Method').first().waitFor({ timeout: SLOW_MS })
    await picture(view, 'network')
  })

  test('Sources shows the document, formatted by a worker', async () => {
    await openPanel(view, 'Sources')
    await view.getByText('(index)', { exact: true }).first().dblclick({ timeout: SLOW_MS })
    await view.locator('.cm-content', { hasText: 'Harbour' }).first().waitFor({ timeout: SLOW_MS })
    // In place of a number, where a line was broken in two.
    await view.locator('.cm-lineNumbers', { hasText: '-' }).first().waitFor({ timeout: SLOW_MS })
    assert.ok(view.workers().some((worker) => worker.url().startsWith('data:')))
    await picture(view, 'sources')
  })

  test('Performance records', async () => {
    await openPanel(view, 'Performance')
    await view
      .getByRole('button', { name: /^Record/ })
      .first()
      .click({ timeout: SLOW_MS })
    const stop = view.getByRole('button', { name: /^Stop/ }).first()
    await stop.waitFor({ timeout: SLOW_MS })
    await page.evaluate(`new Promise((resolve) => {
      let left = 30
      const step = () => (document.title = 'Frame ' + left, left-- ? requestAnimationFrame(step) : resolve())
      step()
    })`)
    await stop.click({ timeout: SLOW_MS })
    await view.getByText('Summary', { exact: true }).first().waitFor({ timeout: SLOW_MS })
    await picture(view, 'performance')
  })

  test('nothing of the front end is refused by the policy of its page', () => {
    assert.deepEqual(faults.splice(0), [])
  })
})

test('DevTools works in a frame of a page of the server, and has no origin there', async () => {
  const view = await newPage()
  const { url } = await createLink()
  const outer = `${server.url}/outer`
  const frame = `<title>Outer</title><style>body,iframe{margin:0;border:0;width:100%;height:95vh}</style><iframe src="${url}"></iframe>`
  await view.route(outer, (route) => route.fulfill({ contentType: 'text/html', body: frame }))
  await view.goto(outer)
  const inner = view.frameLocator('iframe')
  await evaluate(inner, view, '"in" + "side"', 'inside')
  await picture(view, 'frame')
  const front = view.frames()[1]!
  assert.equal(await front.evaluate('self.origin'), 'null')
  const seen = await front.evaluate(`(async () => {
    const tries = {
      cookie: () => document.cookie,
      parent: () => parent.document.title,
      browsers: () => fetch('/browsers', { credentials: 'include' }),
    }
    const names = []
    for (const [name, act] of Object.entries(tries)) await (async () => act())().catch(() => names.push(name))
    return names
  })()`)
  assert.deepEqual(seen, ['cookie', 'parent', 'browsers'])
  await view.close()
  faults.length = 0
})

test('a link that expires disconnects open DevTools and opens no more', async () => {
  const { url, expires_at } = await createLink({ expires_in_seconds: 10 })
  const socket = new WebSocket(url.replace('http', 'ws'))
  const closed = new Promise<{ code: number }>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve({ code }))
  })
  assert.equal((await closed).code, 4006)
  assert.ok(Date.now() >= Date.parse(expires_at) - 50)
  const late = await fetch(url)
  assert.equal(late.status, 401)
  assert.match(await late.text(), /the link has expired; create another one/)
})

test('a session that ends takes its links with it, and no log line has a token', async () => {
  const { url } = await createLink()
  const token = new URL(url).pathname.split('/')[3]!
  const script = url.replace(/page\/.*/, 'front_end/entrypoints/devtools_app/devtools_app.js')
  assert.equal((await fetch(script)).status, 200)
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
  for (const each of [url, script]) assert.equal((await fetch(each)).status, 404)
  assert.ok(!server.output().includes(token))
})
