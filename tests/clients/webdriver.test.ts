// Selenium and WebdriverIO work in the harbour office. Their elements speak to ChromeDriver on this machine, and
// ChromeDriver to a port that leads to the session.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Builder, By, until } from 'selenium-webdriver'
import { openDevtoolsPort, type DevtoolsPort } from '../../examples/devtools-port.ts'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send, type Session } from '../fixtures/sessions.ts'
import { modulesOf } from '../fixtures/tools.ts'
import { CLERK, NEW_SHIP, SHIPS, startOffice } from './office.ts'

const owner = { after }
const office = await startOffice(owner)
const server = await startServer(owner, { hasRealInstances: true, env: office.allow })
const driverPort = await startDriver(owner)

for (const headless of [true, false]) {
  const kind = headless ? 'headless' : 'headful'
  test(`Selenium logs in, adds a ship and reads the table in a ${kind} session`, async () => {
    const session = await createSession(server, { headless })
    const port = await openDevtoolsPort(session.cdp_ws_url)
    const driver = await new Builder()
      .usingServer(`http://127.0.0.1:${driverPort}`)
      .withCapabilities(capabilitiesFor(port))
      .build()
    try {
      await driver.get(office.url)
      await fillIn({ name: CLERK.name, password: CLERK.password })
      await driver.wait(until.titleIs('Ships'), 10_000)
      await fillIn(NEW_SHIP)
      const cell = By.xpath(`//td[.='${NEW_SHIP.name}']`)
      await driver.wait(until.elementLocated(cell), 10_000)
      const rows = await driver.findElements(By.css('tbody tr'))
      assert.deepEqual(await Promise.all(rows.map((row) => row.getText())), SHIPS)
      assert.ok((await driver.takeScreenshot()).length > 1000)
    } finally {
      await driver.quit()
      port.close()
    }
    await goesOn(session)

    async function fillIn(values: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, value] of Object.entries(values))
        await driver.findElement(By.name(name)).sendKeys(value)
      await driver.findElement(By.css('button')).click()
    }
  })
}

interface WdioElement {
  setValue(value: string): Promise<void>
  click(): Promise<void>
  waitForExist(): Promise<true>
  getText(): Promise<string>
}

interface Wdio {
  readonly isBidi: boolean
  url(address: string): Promise<unknown>
  $(selector: string): WdioElement
  $$(selector: string): { map<Value>(read: (each: WdioElement) => Promise<Value>): Promise<Value[]> }
  deleteSession(): Promise<void>
}

test('WebdriverIO logs in, adds a ship and reads the table', async () => {
  const { remote } = (await import(
    pathToFileURL(join(modulesOf('clients'), 'webdriverio/build/node.js')).href
  )) as { remote: (options: object) => Promise<Wdio> }
  const session = await createSession(server)
  const port = await openDevtoolsPort(session.cdp_ws_url)
  const browser = await remote({
    hostname: '127.0.0.1',
    port: driverPort,
    logLevel: 'error',
    capabilities: capabilitiesFor(port),
  })
  try {
    assert.ok(browser.isBidi)
    await browser.url(office.url)
    await browser.$('[name=name]').setValue(CLERK.name)
    await browser.$('[name=password]').setValue(CLERK.password)
    await browser.$('button=Log in').click()
    // The field that only the next page has goes first, because an element is looked up in the page that is there.
    await browser.$('[name=tons]').setValue(NEW_SHIP.tons)
    await browser.$('[name=name]').setValue(NEW_SHIP.name)
    await browser.$('button=Add').click()
    await browser.$(`td=${NEW_SHIP.name}`).waitForExist()
    assert.deepEqual(await browser.$$('tbody tr').map((row) => row.getText()), SHIPS)
  } finally {
    await browser.deleteSession()
    port.close()
  }
  await goesOn(session)
})

const capabilitiesFor = ({ address }: DevtoolsPort) => ({
  browserName: 'chrome',
  'goog:chromeOptions': { debuggerAddress: address },
})

/** The session outlives its client, with what the client did. */
async function goesOn({ session_id }: Session): Promise<void> {
  const { body } = await send<{ url: string }[]>(server, 'GET', `/browsers/${session_id}/pages`)
  assert.ok(
    body.some(({ url }) => url === `${office.url}/ships`),
    JSON.stringify(body),
  )
}

/** Starts ChromeDriver and returns its port. */
async function startDriver(of: Owner): Promise<number> {
  const driver = spawn('chromedriver', ['--port=0'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise((resolve) => driver.once('exit', resolve))
  cleanUpAfter(of, async () => {
    driver.kill()
    await ended
  })
  for await (const line of createInterface({ input: driver.stdout })) {
    const [, port] = /started successfully on port (\d+)/.exec(line) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error('ChromeDriver ended before it had a port')
}
