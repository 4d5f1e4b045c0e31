// Ten steps of a typical agent, through Playwright: the same driver for a session and for a bare Chromium. Every
// step is checked, so that none is fast because it did nothing.
import assert from 'node:assert/strict'
import { chromium, type Browser, type Page } from 'playwright-core'

export const STEPS = 10
const TEXT = 'ahoy'
/** A picture of the whole window with some content is larger than this. */
const MIN_SCREENSHOT_BYTES = 5_000

export interface AgentPage {
  readonly browser: Browser
  readonly page: Page
  /** The site's address, as this browser reaches it. */
  readonly url: string
}

export async function connectAgent(wsUrl: string, url: string): Promise<AgentPage> {
  const browser = await chromium.connectOverCDP(wsUrl)
  return { browser, page: browser.contexts()[0]!.pages()[0]!, url }
}

/** Returns how long each step took. */
export async function runLoop(agent: AgentPage): Promise<number[]> {
  const stepsMs = [...(await runHalf(agent)), ...(await runHalf(agent))]
  assert.equal(stepsMs.length, STEPS)
  return stepsMs
}

async function runHalf({ page, url }: AgentPage): Promise<number[]> {
  const stepsMs: number[] = []
  const step = async <T>(act: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    const result = await act()
    stepsMs.push(performance.now() - startedAt)
    return result
  }
  const answer = await step(() => page.goto(url))
  assert.equal(answer!.status(), 200)
  await step(() => page.click('button'))
  await step(() => page.locator('#text').pressSequentially(TEXT))
  const seen = await step(() =>
    page.evaluate('document.querySelector("#out").textContent + document.querySelector("#text").value'),
  )
  assert.equal(seen, `clicked${TEXT}`)
  const screenshot = await step(() => page.screenshot())
  assert.ok(screenshot.length > MIN_SCREENSHOT_BYTES, `a screenshot of ${screenshot.length} bytes`)
  return stepsMs
}
