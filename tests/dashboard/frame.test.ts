// What surrounds every page: signing in and out, the side bar, the palette, colours, and a server that is away.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { client84 } from '../client/versions.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { assertAccessible, open, PHONE, signIn, startBrowser } from './person.ts'

const server = await startServer({ after })
const browser = await startBrowser({ after })
const admin = client84(server)
const project = await admin.projects.create({ name: 'Crawlers' })
const projectKey = await admin.apiKeys.create({ name: 'of the crawlers', project_id: project.id })

test('the address of the server leads to the dashboard, which asks for a key and keeps none', async () => {
  const { page, complaints } = await open(browser, { url: server.url })
  await page.goto(server.url)
  assert.equal(new URL(page.url()).pathname, '/dashboard')
  const field = page.getByLabel('API key', { exact: true })
  await field.fill('sk_nobody_has_this_key')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('is unknown, expired or deleted').waitFor()
  await assertAccessible(page, 'sign-in')
  await field.fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const kept = String(
    await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    ),
  )
  assert.ok(!kept.includes(server.key), kept)
  assert.ok(!kept.includes('berth_sign_in'), kept)
  assert.deepEqual(complaints, [])
})

test('the first page is the one that was asked for, and a reload needs no key', async () => {
  const { page } = await signIn(browser, { ...server, path: '/settings?x=1' })
  assert.equal(new URL(page.url()).pathname, '/dashboard/settings')
  await page.reload()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
})

test('the policy of the page lets in scripts of the dashboard only', async () => {
  const answer = await server.fetch('/dashboard', { key: null })
  const policy = answer.headers.get('content-security-policy')!
  assert.match(policy, new RegExp(`script-src ${server.url}/dashboard/files/;`))
  assert.doesNotMatch(policy, /unsafe-eval|script-src[^;]*unsafe-inline/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.equal((await server.fetch('/dashboard/files/..%2findex.html', { key: null })).status, 404)
  assert.equal((await server.fetch('/dashboard/files/nothing.js', { key: null })).status, 404)
})

test('a deleted key ends every page that it opened, at once and everywhere', async () => {
  const key = await admin.apiKeys.create({ name: 'short-lived' })
  const { page } = await signIn(browser, { url: server.url, key: key.key })
  await admin.apiKeys.delete(key.id)
  await page.getByText('You are signed out').waitFor()
})

test('signing out leaves nothing behind', async () => {
  const { page } = await signIn(browser, server)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('API key', { exact: true }).waitFor()
  assert.deepEqual(await page.context().cookies(), [])
  await page.goto(`${server.url}/dashboard/settings`)
  await page.getByLabel('API key', { exact: true }).waitFor()
})

test('a key sees the pages that its scopes allow', async () => {
  const made = await server.fetch('/org/api_keys', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'of profiles', scopes: ['profiles:read'] }),
  })
  const { key } = (await made.json()) as { key: string }
  const { page } = await signIn(browser, { url: server.url, key })
  const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()
  assert.deepEqual(
    links.map((text) => text.trim()),
    ['Profiles', 'Settings'],
  )
})

test('an organisation key chooses a project, which stays in the address; a project key has one', async () => {
  const { page } = await signIn(browser, server)
  await page.getByLabel('Project', { exact: true }).selectOption('Crawlers')
  await page.waitForURL(({ search }) => search === `?project=${project.id}`)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.waitForURL(
    ({ pathname, search }) => `${pathname}${search}` === `/dashboard/settings?project=${project.id}`,
  )
  const other = await signIn(browser, { url: server.url, key: projectKey.key })
  assert.equal(await other.page.getByLabel('Project', { exact: true }).count(), 0)
  await other.page.getByRole('button', { name: 'Account' }).getByText('Crawlers', { exact: true }).waitFor()
})

test('the palette goes to pages and sessions, by the keyboard alone', async () => {
  const { session_id: id } = await admin.browsers.create({ headless: true, name: 'tide-tables' })
  const { page } = await signIn(browser, server)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('settings')
  await page.getByRole('option', { name: 'Settings' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard/settings')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('tide')
  await page.getByRole('option', { name: 'tide-tables' }).waitFor()
  await assertAccessible(page, 'palette')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/dashboard/sessions/${id}`)
})

test('the palette finds what can be done, and a slash goes to the search', async () => {
  const { page } = await signIn(browser, server)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('create a profile')
  await page.getByRole('option', { name: 'Create a profile' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByLabel('Name').fill('by keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('row').filter({ hasText: 'by keyboard' }).waitFor()
  await page.getByText('1 profile', { exact: true }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('nobody')
  await page.waitForURL(/q=nobody/)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('deployments')
  await page.keyboard.press('Enter')
  await page.waitForURL(/apps\?tab=deployments/)
  const of = await signIn(browser, { url: server.url, key: projectKey.key })
  await of.page.keyboard.press('Control+k')
  await of.page.getByRole('option', { name: 'Create a pool' }).waitFor()
  assert.equal(await of.page.getByRole('option', { name: 'Create a project' }).count(), 0)
})

test('colours follow the device until somebody chooses', async () => {
  const { page } = await signIn(browser, { ...server, options: { colorScheme: 'dark' } })
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  assert.equal(await background(), 'rgb(15, 19, 24)')
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Light colours' }).click()
  assert.equal(await background(), 'rgb(243, 245, 248)')
  await page.reload()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  assert.equal(await background(), 'rgb(243, 245, 248)')
})

test('on a phone the menu slides over the page, and goes when a page is chosen', async () => {
  const { page } = await signIn(browser, { ...server, options: { viewport: PHONE, hasTouch: true } })
  const menu = page.getByRole('button', { name: 'Menu' })
  assert.equal(await page.getByRole('link', { name: 'Settings' }).isVisible(), false)
  await menu.tap()
  await page.getByRole('link', { name: 'Settings' }).tap()
  await page.waitForURL('**/dashboard/settings')
  await page.getByRole('link', { name: 'Settings' }).waitFor({ state: 'hidden' })
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'))
  assert.ok(width <= PHONE.width, `the page is ${width} pixels wide`)
})

test('when the server is away the page says so, and its lists catch up when it is back', async (t) => {
  const dataDir = tempDir(t)
  const first = await startServer(t, { dataDir })
  const { port } = new URL(first.url)
  const { page } = await signIn(browser, { ...first, path: '/profiles' })
  await page.getByText('No profiles yet').waitFor()
  const note = page.getByText('The server does not answer')
  await first.stop()
  await note.waitFor()
  const second = await startServer(t, { dataDir, env: { BERTH_PORT: port } })
  const made = client84(second)
  await made.profiles.create({ name: 'perhaps before the page is back' })
  await note.waitFor({ state: 'hidden' })
  await page.getByRole('row').filter({ hasText: 'perhaps before' }).waitFor()
  await made.profiles.create({ name: 'when it is back' })
  await page.getByRole('row').filter({ hasText: 'when it is back' }).waitFor()
  assert.equal(second.url, first.url)
})
