// Logins in the dashboard. The sites are fake; see fake-logins.ts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { assertAccessible, PHONE, signIn, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner)
const browser = await startBrowser(owner)

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

async function newLogin(domain: string): Promise<string> {
  const { body } = await send<{ id: string }>(server, 'POST', '/auth/connections', {
    domain,
    profile_name: `of-${domain}`,
  })
  return body.id
}

const statusOf = async (id: string) =>
  (await send<{ flow_status: string; status: string }>(server, 'GET', `/auth/connections/${id}`)).body

test('a login is created, started and finished without leaving the page', async () => {
  const { page, complaints } = await signIn(browser, { ...server, path: '/logins' })
  await page.getByText('No logins yet').waitFor()
  await page.getByRole('button', { name: 'Create a login' }).click()
  await page.getByRole('dialog').getByLabel('Website', { exact: true }).fill('not a domain')
  await page.getByRole('dialog').getByLabel('Profile', { exact: true }).fill('shopper')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  assert.equal(
    await page.getByRole('dialog').getByLabel('Website', { exact: true }).getAttribute('aria-invalid'),
    'true',
  )
  await page.getByRole('dialog').getByLabel('Website', { exact: true }).fill('code.example')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { level: 1, name: 'code.example' }).waitFor()
  await page.getByRole('button', { name: 'Log in' }).click()
  await heading(page, 'Login in progress').waitFor()
  await page.getByLabel('E-mail address').fill('me@code.example')
  const password = page.getByLabel('Password')
  assert.equal(await password.getAttribute('type'), 'password')
  await password.fill('wrong')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The website says: That is not right').waitFor()
  await assertAccessible(page, 'a login that asks')
  // What was entered is not kept.
  assert.equal(await page.getByLabel('Password').inputValue(), '')
  await page.getByLabel('E-mail address').fill('me@code.example')
  await page.getByLabel('Password').fill('right')
  await page.getByRole('button', { name: 'Continue' }).click()
  const code = page.locator('input[autocomplete=one-time-code]')
  await code.fill('123456')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Logged in', { exact: true }).first().waitFor()
  await heading(page, 'Login in progress').waitFor({ state: 'detached' })
  await page.locator('.events').getByText('Worked').waitFor()
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('It is logged in').waitFor()
  await page.getByLabel('Kind of event').selectOption('health_check')
  await page.waitForURL(/type=health_check/)
  await page.locator('.events').getByText('Check').waitFor()
  await page.locator('.events').getByText('Login', { exact: true }).waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('a login offers its choices on a phone, and is cancelled', async () => {
  const id = await newLogin('choice.example')
  const { page } = await signIn(browser, {
    ...server,
    path: `/logins/${id}`,
    options: { viewport: PHONE, hasTouch: true },
  })
  await page.getByRole('button', { name: 'Log in' }).click()
  const choices = page.getByRole('group', { name: 'Choose how to go on' })
  await choices.getByRole('button', { name: 'Text message' }).waitFor()
  await assertAccessible(page, 'choices on a phone')
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= PHONE.width)
  await choices.getByRole('button', { name: 'Text message' }).click()
  await choices.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Cancel' }).click()
  await heading(page, 'Latest login').waitFor()
  assert.equal((await statusOf(id)).flow_status, 'CANCELED')
})

test('a login that fails says why, and one that another starts appears by itself', async () => {
  const id = await newLogin('captcha.example')
  const { page } = await signIn(browser, { ...server, path: `/logins/${id}` })
  await page.getByText('Nothing yet.').waitFor()
  await send(server, 'POST', `/auth/connections/${id}/login`, {})
  await heading(page, 'Latest login').waitFor()
  await page.getByText('Failed', { exact: true }).first().waitFor()
})

test('the settings of a login are changed, and the login deleted', async () => {
  const id = await newLogin('plain.example')
  const { page } = await signIn(browser, { ...server, path: `/logins/${id}?edit=true` })
  const form = page.getByRole('dialog')
  await form.getByLabel('Log in again by itself').uncheck()
  await form.getByLabel('Seconds between checks').fill('600')
  await form.getByText('More options').click()
  await form.getByLabel('Address of the login page').fill('https://plain.example/login')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Every 10 min').waitFor()
  await page.getByRole('link', { name: 'https://plain.example/login' }).waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Logins' }).waitFor()
  await eventually('it is gone', async () => {
    return (await server.fetch(`/auth/connections/${id}`)).status === 404
  })
})

test('a session is imported from a file, and a file that is none says so', async () => {
  const id = await newLogin('imported.example')
  const { page, complaints } = await signIn(browser, { ...server, path: `/logins/${id}` })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Import a session' }).click()
  const form = page.getByRole('dialog')
  const file = form.locator('input[type=file]')
  await file.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') })
  await form.getByRole('button', { name: 'Import' }).click()
  await form.getByText('The file is none of').waitFor()
  await assertAccessible(page, 'an import that is refused')
  const cookies = [
    { name: 'sid', value: 'right', domain: 'imported.example' },
    { name: 'other', value: 'x', domain: 'elsewhere.example' },
  ]
  const buffer = Buffer.from(JSON.stringify({ cookies, origins: [] }))
  await file.setInputFiles({ name: 'session.json', mimeType: 'application/json', buffer })
  await form.getByRole('button', { name: 'Import' }).click()
  await page.getByText('1 cookies and the storage of 0 origins are taken, 1 entries are left out').waitFor()
  await page.getByText('Logged in', { exact: true }).first().waitFor()
  assert.equal((await statusOf(id)).status, 'AUTHENTICATED')
  assert.deepEqual(complaints, [])
})

test('a passkey is added by a login, shown with its credential, and deleted', async () => {
  const values = { email: 'me@site.example', password: 'right' }
  const credential = { name: 'with a passkey', domain: 'keyed.example', values }
  const made = await send<{ id: string }>(server, 'POST', '/credentials', credential)
  const { body } = await send<{ id: string }>(server, 'POST', '/auth/connections', {
    domain: 'keyed.example',
    profile_name: 'of-keyed',
    credential: { name: credential.name },
  })
  const { page } = await signIn(browser, { ...server, path: `/logins/${body.id}` })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Add a passkey' }).click()
  await page.getByText('Logged in', { exact: true }).first().waitFor()
  const { page: list } = await signIn(browser, { ...server, path: '/credentials' })
  await list.getByText(credential.name).first().click()
  const details = list.getByRole('dialog')
  await details.getByRole('cell', { name: 'keyed.example' }).waitFor()
  await details.getByRole('cell', { name: 'Never' }).waitFor()
  await assertAccessible(list, 'a credential with a passkey')
  await details.getByRole('row', { name: 'keyed.example' }).getByRole('button', { name: 'Delete' }).click()
  await list.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await eventually('it is gone', async () => {
    const { body: left } = await send<{ passkeys: object[] }>(server, 'GET', `/credentials/${made.body.id}`)
    return left.passkeys.length === 0
  })
})
test('what a login saw and did is shown below its entry, with a picture', async () => {
  const id = await newLogin('captcha.harbour.example')
  await send(server, 'POST', `/auth/connections/${id}/login`, {})
  await eventually('it has failed', async () => (await statusOf(id)).flow_status === 'FAILED')
  const { page, complaints } = await signIn(browser, { ...server, path: `/logins/${id}` })
  await page.locator('.events summary', { hasText: 'Steps' }).click()
  await page.getByText('It looks for the login').waitFor()
  await page.getByText('opened https://captcha.harbour.example/').waitFor()
  await page.locator('.steps summary', { hasText: 'Drawing' }).click()
  const picture = page.getByRole('img', { name: /^Step 1: a form/ })
  await picture.waitFor()
  await eventually('the picture is drawn', () =>
    picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0),
  )
  await assertAccessible(page, 'a login that is explained')
  assert.deepEqual(complaints, [])
})
