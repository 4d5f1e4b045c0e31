// Looks something up on a page with Selenium. Selenium speaks to ChromeDriver on this machine, and ChromeDriver to the
// session, through a port that devtools-port.ts opens. ChromeDriver must have the version of the session's Chromium.
//
//   node selenium.ts https://example.com
import Kernel from '@onkernel/sdk'
import { Browser, Builder, By, until } from 'selenium-webdriver'
import { Options, ServiceBuilder } from 'selenium-webdriver/chrome.js'
import { openDevtoolsPort } from './devtools-port.ts'

const address = process.argv[2] ?? 'https://example.com'
const berth = new Kernel()
const session = await berth.browsers.create({ headless: true })
const port = await openDevtoolsPort(session.cdp_ws_url)
const options = new Options()
options.debuggerAddress(port.address)
try {
  const driver = await new Builder()
    .forBrowser(Browser.CHROME)
    .setChromeOptions(options)
    .setChromeService(new ServiceBuilder('/usr/bin/chromedriver')) // without it, Selenium downloads the newest
    .build()
  try {
    await driver.get(address)
    const heading = await driver.wait(until.elementLocated(By.css('h1')), 10_000)
    console.log(await driver.getTitle(), '·', await heading.getText())
    await driver.findElement(By.css('a')).click()
    console.log(await driver.getCurrentUrl())
  } finally {
    await driver.quit() // ends ChromeDriver; the session goes on
  }
} finally {
  port.close()
  await berth.browsers.deleteByID(session.session_id)
}
