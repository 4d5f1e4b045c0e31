// Playwright and Puppeteer work in the harbour office, each over every protocol that it speaks.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { connect, type Page } from 'puppeteer-core'
import { startServer, tempDir } from '../fixtures/server.ts'
import { createSession, type Session } from '../fixtures/sessions.ts'
import { CLERK, CSV, NEW_SHIP, SHIPS, startOffice } from './office.ts'

const owner = { after }
const office = await startOffice(owner)
const server = await startServer(owner, { hasRealInstances: true, env: office.allow })
const folder = tempDir(owner)

const withPlaywright = {
  connectOverCDP: ({ cdp_ws_url }: Session) => chromium.connectOverCDP(cdp_ws_url),
  connect: ({ playwright_ws_url }: Session) => chromium.connect(playwright_ws_url),
}

for (const [how, open] of Object.entries(withPlaywright)) {
  test(`Playwright with ${how}() logs in, adds a ship, reads the table and fetches the file`, async () => {
    const session = await createSession(server)
    const browser = await open(session)
    const page = browser.contexts()[0]!.pages()[0]!
    await page.goto(office.url)
    await page.getByLabel('Name').fill(CLERK.name)
    await page.getByLabel('Password').fill(CLERK.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByLabel('Ship').fill(NEW_SHIP.name)
    await page.getByLabel('Tons').fill(NEW_SHIP.tons)
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('cell', { name: NEW_SHIP.name }).waitFor()
    const rows = await page.locator('tbody tr').all()
    assert.deepEqual(await Promise.all(rows.map(async (row) => await textOf(row.locator('td')))), SHIPS)

    const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')])
    assert.equal(download.suggestedFilename(), 'ships.csv')
    if (how === 'connect') {
      const file = join(folder, 'ships.csv')
      await download.saveAs(file)
      assert.equal(readFileSync(file, 'utf8'), CSV)
    } else {
      assert.equal(await fileIn(session, await download.path()), CSV)
    }
    await browser.close()
    await server.fetch(`/browsers/${session.session_id}`, { method: 'DELETE' })
  })
}

const textOf = async (cells: { allInnerTexts(): Promise<string[]> }) =>
  (await cells.allInnerTexts()).join(' ')

async function fileIn({ session_id }: Session, path: string): Promise<string> {
  const answer = await server.fetch(`/browsers/${session_id}/fs/read_file?path=${encodeURIComponent(path)}`)
  return await answer.text()
}

const withPuppeteer = {
  CDP: ({ cdp_ws_url }: Session) => connect({ browserWSEndpoint: cdp_ws_url, defaultViewport: null }),
  'WebDriver BiDi': ({ webdriver_ws_url }: Session) =>
    connect({
      browserWSEndpoint: webdriver_ws_url,
      protocol: 'webDriverBiDi',
      defaultViewport: null,
    }),
}

for (const [protocol, open] of Object.entries(withPuppeteer)) {
  test(`Puppeteer over ${protocol} logs in, adds a ship, reads the table and takes a picture`, async () => {
    const session = await createSession(server)
    const browser = await open(session)
    const page = (await browser.pages())[0]!
    await page.goto(office.url)
    await submit(page, { name: CLERK.name, password: CLERK.password })
    await submit(page, NEW_SHIP)
    const rows = await page.$$eval('tbody tr', (all) =>
      all.map((row) => [...row.children].map(({ textContent }) => textContent).join(' ')),
    )
    assert.deepEqual(rows, SHIPS)
    const picture = await page.screenshot()
    assert.equal(Buffer.from(picture.subarray(1, 4)).toString(), 'PNG')
    await browser.disconnect()
    await server.fetch(`/browsers/${session.session_id}`, { method: 'DELETE' })
  })
}

/** Fills in the form of a page and sends it. */
async function submit(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.type(`[name=${name}]`, value)
  await Promise.all([page.waitForNavigation(), page.click('button')])
}
