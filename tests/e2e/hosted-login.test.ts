// The hosted login page in a real browser, a session of another server, at the widths of a desktop and a phone. The
// sites it logs in to are fake; see fake-logins.ts.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before as beforeAll, describe, test } from 'node:test'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'

const owner = { after }
const pictures = process.env['HOSTED_PICTURES']
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

interface Connection {
  readonly id: string
  readonly flow_status: string | null
  readonly status: string
}

const server = await startServer(owner, {
  env: { BERTH_ALLOWED_HOSTS: 'host.berth.internal', BERTH_LOG_LEVEL: 'debug' },
})
const visitors = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_EGRESS_ALLOW: `host.berth.internal:${new URL(server.url).port}` },
})
const browser = await chromium.connectOverCDP((await createSession(visitors)).cdp_ws_url)
after(() => browser.close())

let count = 0

/** Starts a login and returns the address of its page as the session reaches this machine. */
const pageAt = (name: string) => `http://host.berth.internal:${new URL(server.url).port}/auth/hosted/${name}`

async function begun(site: string): Promise<{ id: string; url: string }> {
  const domain = `${site}.example`
  const made = await send<Connection>(server, 'POST', '/auth/connections', {
    domain,
    profile_name: `page-${++count}`,
    redirect_urls: ['error-page', 'done-page?x=1'].map((name) => pageAt(name)),
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = made.body
  const login = await send<{ hosted_url: string }>(server, 'POST', `/auth/connections/${id}/login`, {})
  assert.equal(login.status, 200, JSON.stringify(login.body))
  return { id, url: login.body.hosted_url.replace('127.0.0.1', 'host.berth.internal') }
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures !== undefined)
    await page.screenshot({ path: join(pictures, `hosted-${name}.png`), fullPage: true })
}

async function isOver(id: string, status: string): Promise<void> {
  await eventually(`flow of ${id} is ${status}`, async () => {
    return (await send<Connection>(server, 'GET', `/auth/connections/${id}`)).body.flow_status === status
  })
}

/** As the page gets it. */
async function firstEventOf(id: string): Promise<string> {
  const answer = await server.fetch(`/auth/connections/${id}/events`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of answer.body!) {
    text += decoder.decode(piece, { stream: true })
    if (/^data: .*\n\n/m.test(text)) break
  }
  return text
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

for (const [size, viewport] of Object.entries(sizes)) {
  describe(`at the width of a ${size}`, () => {
    let context: BrowserContext
    let page: Page
    const strange: string[] = []

    beforeAll(async () => {
      context = await browser.newContext({ viewport, hasTouch: size === 'phone' })
      page = await context.newPage()
      page.on('console', (message) => {
        // Errors from a code that is refused on purpose; and the live view needs HTTPS, and its session may end
        // before it connects.
        const isExpected = /410|noVNC requires a secure context|reason: session deleted/.test(message.text())
        if (message.type() === 'error' && !isExpected) strange.push(message.text())
      })
      page.on('pageerror', (error) => strange.push(String(error)))
    })
    after(async () => {
      assert.deepEqual(strange, [])
      await context.close()
    })

    test('fields have labels, keyboards and suggestions, and an error is shown at its field', async () => {
      const { id, url } = await begun('code')
      await page.goto(url)
      await heading(page, 'code.example').waitFor()
      assert.equal(await page.evaluate('location.hash'), '')
      assert.equal(await page.title(), 'Sign in to code.example')
      const email = page.getByLabel('E-mail address')
      const password = page.getByLabel('Password', { exact: true })
      await email.waitFor()
      const attributes = await email.evaluate(
        (input: { type: string; autocomplete: string; inputMode: string }) => [
          input.type,
          input.autocomplete,
          input.inputMode,
        ],
      )
      assert.deepEqual(attributes, ['email', 'username', 'email'])
      assert.equal(await password.getAttribute('autocomplete'), 'current-password')
      assert.equal(await password.getAttribute('type'), 'password')
      assert.equal(await page.evaluate('document.activeElement.id'), 'field-email')
      await picture(page, `${size}-fields`)
      await page.getByRole('button', { name: 'Continue' }).click()
      assert.equal(await email.getAttribute('aria-invalid'), 'true')
      await email.fill('me@code.example')
      await password.fill('wrong')
      await page.getByRole('button', { name: 'Show what is typed' }).click()
      assert.equal(await password.getAttribute('type'), 'text')
      await page.keyboard.press('Enter')
      const alert = page.getByRole('alert')
      await alert.filter({ hasText: 'That is not right' }).waitFor()
      await picture(page, `${size}-refused`)
      // A value that is not secret need not be typed again.
      assert.equal(await email.inputValue(), 'me@code.example')
      assert.equal(await password.inputValue(), '')
      await password.fill('right')
      await page.keyboard.press('Enter')
      const code = page.getByLabel('Code')
      await code.waitFor()
      assert.equal(await code.getAttribute('autocomplete'), 'one-time-code')
      assert.equal(await code.evaluate((input: { inputMode: string }) => input.inputMode), 'numeric')
      await page.getByText('Sent to •••• 92').waitFor()
      await code.fill('123456')
      await picture(page, `${size}-code`)
      await page.keyboard.press('Enter')
      await heading(page, 'You are signed in').waitFor()
      await picture(page, `${size}-done`)
      await isOver(id, 'SUCCESS')
    })

    test('what was typed before the first event came stays', async () => {
      const { id, url } = await begun('plain')
      await eventually('the flow asks', async () => /"fields":/.test(await firstEventOf(id)))
      const event = await firstEventOf(id)
      const typed = Promise.withResolvers<void>()
      const heard = Promise.withResolvers<void>()
      let asked = 0
      await page.route('**/events', async (route) => {
        asked++
        if (asked > 1) {
          // It asks again when the first answer has ended, and so has been read.
          heard.resolve()
          return route.continue()
        }
        await typed.promise
        return route.fulfill({ contentType: 'text/event-stream', body: event })
      })
      await page.goto(url)
      await page.getByLabel('E-mail address').fill('me@plain.example')
      const password = page.getByLabel('Password', { exact: true })
      await password.fill('right')
      typed.resolve()
      await heard.promise
      assert.equal(await password.inputValue(), 'right')
      await page.keyboard.press('Enter')
      await heading(page, 'You are signed in').waitFor()
      await page.unroute('**/events')
      await isOver(id, 'SUCCESS')
    })

    test('choices are buttons, and a reloaded page continues', async () => {
      const { id, url } = await begun('choice')
      await page.goto(url)
      const google = page.getByRole('button', { name: 'Continue with Google' })
      await google.waitFor()
      await picture(page, `${size}-choices`)
      await page.reload()
      await google.waitFor()
      await google.click()
      await page.getByLabel('Password', { exact: true }).fill('right')
      await page.getByLabel('E-mail address').fill('me@choice.example')
      await page.getByRole('button', { name: 'Continue' }).click()
      await heading(page, 'You are signed in').waitFor()
      await isOver(id, 'SUCCESS')
      // The link works once, and only in this tab.
      const other = await context.newPage()
      await other.goto(url)
      await heading(other, 'This link has been used or has expired').waitFor()
      await picture(other, `${size}-used`)
      await other.close()
    })

    test('shows a wait for another device, and offers the code at the same time', async () => {
      const { id, url } = await begun('push')
      await page.goto(url)
      await page.getByLabel('E-mail address').fill('me@push.example')
      await page.getByLabel('Password', { exact: true }).fill('right')
      await page.keyboard.press('Enter')
      await heading(page, 'Your turn').waitFor()
      await page.getByText('Approve the request on your phone').first().waitFor()
      assert.equal(await page.getByLabel('Code').count(), 1)
      await picture(page, `${size}-push`)
      await page.getByLabel('Code').fill('123456')
      await page.keyboard.press('Enter')
      await heading(page, 'You are signed in').waitFor()
      await isOver(id, 'SUCCESS')
    })

    test('a wait shows a spinner, and the screen can be shown', async () => {
      const { id, url } = await begun('slow')
      await page.goto(url)
      await heading(page, 'Opening the sign-in page').waitFor()
      await page.getByText('Show the browser').click()
      await page.frameLocator('iframe').locator('#screen').waitFor({ state: 'attached' })
      await picture(page, `${size}-screen`)
      await send(server, 'POST', `/auth/connections/${id}/cancel`)
      await heading(page, 'The sign-in was canceled').waitFor()
      assert.equal(await page.locator('iframe').count(), 0)
      await picture(page, `${size}-canceled`)
    })

    test('a failure is explained, and leads to error_url with its code', async () => {
      const { url } = await begun('captcha')
      const target = pageAt('error-page')
      await page.goto(url.replace('#', `?error_url=${encodeURIComponent(target)}#`))
      await heading(page, 'Signing in did not work').waitFor()
      await picture(page, `${size}-failed`)
      await page.waitForURL((at) => at.pathname.endsWith('/error-page'))
      const { searchParams } = new URL(page.url())
      assert.equal(searchParams.get('code'), 'captcha_blocked')
      assert.equal(searchParams.get('message'), 'It failed: captcha_blocked')
    })

    test('a success leads to success_url', async () => {
      const { url } = await begun('plain')
      const target = pageAt('done-page?state=7')
      await page.goto(`${url}&success_url=${encodeURIComponent(target)}`)
      await page.getByLabel('E-mail address').fill('me@plain.example')
      await page.getByLabel('Password', { exact: true }).fill('right')
      await page.keyboard.press('Enter')
      await page.waitForURL((at) => at.pathname.endsWith('/done-page'))
      const { searchParams } = new URL(page.url())
      assert.equal(searchParams.get('state'), '7')
      assert.equal(searchParams.get('domain'), 'plain.example')
      assert.match(searchParams.get('profile_name')!, /^page-/)
    })

    test('an address that is not registered, or would run a script, is not followed', async () => {
      const { id, url } = await begun('captcha')
      const target = size === 'phone' ? pageAt('elsewhere') : 'javascript:document.title="run"'
      await page.goto(`${url}&error_url=${encodeURIComponent(target)}`)
      await heading(page, 'Signing in did not work').waitFor()
      assert.equal(await page.getByRole('link', { name: 'Continue' }).count(), 0)
      await isOver(id, 'FAILED')
      assert.equal(await page.title(), 'Sign in to captcha.example')
    })
  })
}

test('no typed value and no code is in the log', () => {
  const log = server.output()
  assert.ok(log.includes('/auth/hosted/:id') || log.includes('/auth/hosted'))
  assert.ok(!log.includes('me@code.example'))
  assert.ok(!log.includes('#code='))
})
