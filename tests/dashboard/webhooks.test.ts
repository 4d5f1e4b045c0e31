// The page of webhooks, as a person meets it, with a receiver that says what the test wants.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { isVerified, mayReachReceivers, verify, WebhookReceiver } from '../fixtures/webhook-receiver.ts'
import { signIn, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner, { env: mayReachReceivers })
const browser = await startBrowser(owner)
const receiver = await WebhookReceiver.start(owner)

const dialog = (page: Page) => page.getByRole('dialog')
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const secretIn = async (page: Page) => {
  const secret = await dialog(page).locator('.secret code').innerText()
  await dialog(page).getByRole('button', { name: 'I have it' }).click()
  return secret
}

test('a webhook is created, tested, rotated, disabled and deleted', async () => {
  const { page, complaints } = await signIn(browser, { ...server, path: '/webhooks' })
  await page.getByText('No webhooks yet').waitFor()
  await page.getByRole('button', { name: 'Create a webhook' }).click()
  const form = dialog(page)
  await form.getByLabel('Address').fill('http://10.0.0.1/')
  await form.getByLabel('Send all events').uncheck()
  await form.getByLabel('session.started').check()
  await form.getByRole('button', { name: 'Create' }).click()
  // What the server refuses stands at the field.
  await form.locator('.field').getByText('BERTH_WEBHOOK_ALLOW').waitFor()
  await form.getByLabel('Address').fill(`${receiver.url}/hook`)
  await form.getByLabel('Description').fill('tells the bot')
  await form.getByRole('button', { name: 'Create' }).click()
  const secret = await secretIn(page)
  assert.match(secret, /^whsec_/)
  await row(page, 'tells the bot').click()
  await page.getByRole('heading', { level: 1, name: '/hook' }).waitFor()

  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('The receiver answered 204').waitFor()
  verify(secret, receiver.requests.at(-1)!)
  await row(page, 'webhook.test').getByText('Delivered').waitFor()
  receiver.reply = () => 500
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('It does not work').waitFor()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Replace the secret' }).click()
  await dialog(page).getByLabel('Hours').fill('0')
  await dialog(page).getByRole('button', { name: 'Replace' }).click()
  const rotated = await secretIn(page)
  assert.notEqual(rotated, secret)
  receiver.reply = () => 204
  const before = receiver.requests.length
  await page.getByRole('button', { name: 'Test' }).click()
  await receiver.until('the test', ({ requests }) => requests.length > before)
  verify(rotated, receiver.requests.at(-1)!)
  assert.ok(!isVerified(secret, receiver.requests.at(-1)!))

  await page.getByRole('button', { name: 'Disable' }).click()
  await page.locator('.page-head').getByText('Disabled').waitFor()
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByRole('button', { name: 'Disable' }).waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await dialog(page).getByLabel('Description').fill('tells nobody')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByText('tells nobody').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No webhooks yet').waitFor()
  assert.deepEqual(complaints, [])
})

test('a delivery shows its attempts and what was said, and is sent again', async () => {
  receiver.reply = () => (response) => response.writeHead(500).end('out of coffee <b>')
  const body = { url: `${receiver.url}/log`, event_types: ['session.started'] }
  const { id } = (await send<{ id: string }>(server, 'POST', '/webhooks', body)).body
  const session = await createSession(server)
  const { page, complaints } = await signIn(browser, { ...server, path: `/webhooks/${id}` })
  await row(page, session.session_id).getByText('Waits').waitFor()
  await row(page, session.session_id).click()
  await dialog(page).getByText('out of coffee <b>').first().waitFor()
  await dialog(page).getByText('The receiver answered 500').first().waitFor()
  await dialog(page).getByText(`"session_id": "${session.session_id}"`).waitFor()
  receiver.reply = () => 204
  await dialog(page).getByRole('button', { name: 'Send again' }).click()
  await dialog(page).getByText('Delivered').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('State').selectOption('Given up')
  await page.getByText('Nothing matches').waitFor()
  await page.getByLabel('State').selectOption('Delivered')
  await row(page, session.session_id).waitFor()
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
  await send(server, 'DELETE', `/webhooks/${id}`)
  assert.deepEqual(complaints, [])
})
