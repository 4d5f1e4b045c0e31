// The pages of what sessions use, and of who may use it, as a person meets them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { client84 } from '../client/versions.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { archiveOf } from '../fixtures/zip.ts'
import { signIn, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner, {
  env: { BERTH_AUDIT_EXPORT_ALLOW: '127.0.0.1:1', BERTH_EGRESS_ALLOW: '127.0.0.0/8' },
})
const browser = await startBrowser(owner)
const admin = client84(server)
const folder = tempDir(owner)

const visit = (t: { after: (done: () => unknown) => void }, path: string, key = server.key) =>
  signIn(browser, { url: server.url, key, path }).then((person) => {
    t.after(() => person.page.context().close())
    return person
  })

const dialog = (page: Page) => page.getByRole('dialog')
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

function profileArchive(): string {
  mkdirSync(join(folder, 'Default'), { recursive: true })
  writeFileSync(join(folder, 'Default/Preferences'), '{}')
  const file = join(folder, 'profile.tar')
  assert.equal(spawnSync('tar', ['-C', folder, '-cf', file, 'Default']).status, 0)
  return file
}

test('a profile is created, filled, restored to an older version and back, renamed and deleted', async (t) => {
  await admin.profiles.create({ name: 'taken' })
  const { page, complaints } = await visit(t, '/profiles')
  await page.getByRole('button', { name: 'Create a profile' }).click()
  await dialog(page).getByLabel('Name').fill('taken')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  // What the server refuses stands at the field, and with the request's id below.
  await dialog(page).locator('.field').getByText('Another profile has it').waitFor()
  await dialog(page).getByRole('alert').getByText('Request').waitFor()
  await dialog(page).getByLabel('Name').fill('shopper')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await row(page, 'shopper').click()
  await page.getByRole('heading', { level: 1, name: 'shopper' }).waitFor()
  for (const version of [1, 2]) {
    await page.getByRole('button', { name: 'Import an archive' }).click()
    await dialog(page).locator('input[type=file]').setInputFiles(profileArchive())
    await dialog(page).getByRole('button', { name: 'Import' }).click()
    await page.getByText(`${version} current`).waitFor()
  }
  await row(page, 'Imported')
    .filter({ hasNotText: 'current' })
    .getByRole('button', { name: 'Restore' })
    .click()
  await page.getByText('1 current').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('2 current').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download', exact: true }).click(),
  ])
  assert.match(download.suggestedFilename(), /-2\.tar\.zst$/)
  await page.getByRole('button', { name: 'Actions for shopper' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await dialog(page).getByLabel('Name').fill('buyer')
  await dialog(page).getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { level: 1, name: 'buyer' }).waitFor()
  // A name is taken back as easily as it is given.
  await page.getByText('The profile is renamed').waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.getByRole('heading', { level: 1, name: 'shopper' }).waitFor()
  await admin.profiles.update('shopper', { name: 'buyer' })
  await page.getByRole('heading', { level: 1, name: 'buyer' }).waitFor()
  await page.getByRole('button', { name: 'Actions for buyer' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Profiles' }).waitFor()
  await row(page, 'taken').waitFor()
  await row(page, 'buyer').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('a search is in the address, and what others create appears by itself', async (t) => {
  await admin.profiles.create({ name: 'findable-1' })
  const { page } = await visit(t, '/profiles?q=findable')
  await row(page, 'findable-1').waitFor()
  assert.equal(await row(page, 'taken').count(), 0)
  await admin.profiles.create({ name: 'findable-2' })
  await row(page, 'findable-2').waitFor()
  await page.getByRole('searchbox').fill('nobody has this')
  await page.getByText('Nothing matches').waitFor()
  await page.waitForURL(/q=nobody/)
})

test('a proxy is created with its fields, checked, and kept while something uses it', async (t) => {
  const { page } = await visit(t, '/proxies')
  await page.getByRole('button', { name: 'Create a proxy' }).click()
  const form = dialog(page)
  await form.getByText('BERTH_PROXY_PROVIDERS').waitFor()
  await form.getByLabel('Name', { exact: false }).first().fill('office')
  await form.getByLabel('Host', { exact: true }).fill('127.0.0.1')
  await form.getByLabel('Port').fill('1')
  await form.getByLabel('Hosts that are reached').fill('example.com:80, *.example.com')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByRole('alert').waitFor()
  assert.equal(await form.getByLabel('Hosts that are reached').getAttribute('aria-invalid'), 'true')
  await form.getByLabel('Hosts that are reached').fill('*.example.com')
  await form.getByRole('button', { name: 'Create' }).click()
  await row(page, 'office').waitFor()
  await page.getByRole('button', { name: 'Actions for office' }).click()
  await page.getByRole('menuitem', { name: 'Check' }).click()
  await row(page, 'office').getByText('Does not work').waitFor()
  const [proxy] = (await admin.proxies.list()).getPaginatedItems()
  const { body: session } = await send<{ session_id: string }>(server, 'POST', '/browsers', {
    name: 'user-of-office',
    proxy_id: proxy!.id,
  })
  await row(page, 'office').click()
  await dialog(page).getByRole('link', { name: 'user-of-office' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Actions for office' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('alert').waitFor()
  await admin.browsers.deleteByID(session.session_id)
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No proxies yet').waitFor()
})

test('an extension is uploaded by choosing a file, and deleted', async (t) => {
  const archive = archiveOf([
    {
      name: 'manifest.json',
      content: JSON.stringify({ manifest_version: 3, name: 'Helper', version: '1.2.3' }),
    },
  ])
  const { page } = await visit(t, '/extensions')
  await page.getByRole('button', { name: 'Upload' }).click()
  await dialog(page)
    .locator('input[type=file]')
    .setInputFiles({ name: 'helper.zip', mimeType: 'application/zip', buffer: Buffer.from('not a zip') })
  await dialog(page).getByRole('button', { name: 'Upload' }).click()
  await dialog(page).getByRole('alert').waitFor()
  await dialog(page)
    .locator('input[type=file]')
    .setInputFiles({ name: 'helper.zip', mimeType: 'application/zip', buffer: archive })
  await dialog(page).getByLabel('Name').fill('helper')
  await dialog(page).getByRole('button', { name: 'Upload' }).click()
  await row(page, 'helper').getByText('1.2.3').waitFor()
  await page.getByRole('button', { name: 'Actions for helper' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No extensions yet').waitFor()
})

test('a credential takes secrets, never shows them, and counts its one-time code down', async (t) => {
  const { page } = await visit(t, '/credentials')
  await page.getByRole('button', { name: 'Create a credential' }).click()
  const form = dialog(page)
  await form.getByLabel('Name', { exact: true }).fill('shop account')
  await form.getByLabel('Website').fill('shop.example')
  await form.getByLabel('Value of email').fill('me@shop.example')
  await form.getByLabel('Value of password').fill('a-secret-nobody-sees')
  await form.getByLabel('Secret for one-time codes').fill('JBSWY3DPEHPK3PXP')
  await form.getByRole('button', { name: 'Create' }).click()
  await row(page, 'shop account').click()
  await dialog(page).getByText('email, password').waitFor()
  await dialog(page).getByRole('button', { name: 'Show the current one-time code' }).click()
  assert.match(await dialog(page).locator('.code-now code').innerText(), /^\d{6}$/)
  await dialog(page)
    .getByText(/Ends in \d+ s/)
    .waitFor()
  assert.ok(!(await page.content()).includes('a-secret-nobody-sees'))
  await dialog(page).getByRole('button', { name: 'Edit' }).click()
  await dialog(page).getByRole('checkbox', { name: 'email' }).uncheck()
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await eventually('the value is gone', async () => {
    const [one] = (await admin.credentials.list()).getPaginatedItems()
    return (await admin.credentials.retrieve(one!.id)).value_keys?.join() === 'password'
  })
})

test('a provider of credentials is added, changed and taken from a project', async (t) => {
  const other = await admin.projects.create({ name: 'without the vault' })
  const { page } = await visit(t, '/credentials?tab=providers&create=true')
  await dialog(page).getByLabel('Name', { exact: true }).fill('vault')
  await dialog(page).getByLabel('Token').fill('ops_nothing')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click()
  await row(page, 'vault').click()
  await dialog(page).getByRole('button', { name: 'Edit' }).click()
  await dialog(page).getByLabel('Name', { exact: true }).fill('team vault')
  await dialog(page).getByLabel('Asked as number').fill('3')
  await dialog(page).getByRole('checkbox', { name: other.name }).check()
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await dialog(page).getByRole('heading', { name: 'team vault' }).waitFor()
  const { body } = await send<Record<string, unknown>[]>(server, 'GET', '/org/credential_providers')
  assert.equal(body[0]!['priority'], 3)
  assert.ok((body[0]!['project_ids'] as string[]).includes(other.id))
})

test('a key is made with scopes, shown once, replaced, and the own one cannot be deleted', async (t) => {
  const { page } = await visit(t, '/keys')
  await page.getByRole('button', { name: 'Create a key' }).click()
  await dialog(page).getByLabel('Name').fill('agents')
  await dialog(page).getByRole('checkbox', { name: 'It may do everything' }).uncheck()
  await dialog(page).getByRole('radiogroup', { name: 'Sessions and pools' }).getByLabel('Change').check()
  await dialog(page).getByRole('radiogroup', { name: 'Profiles' }).getByLabel('Read').check()
  await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
  const key = await dialog(page).locator('.secret code').innerText()
  assert.equal((await server.fetch('/browsers', { key })).status, 200)
  assert.equal((await server.fetch('/proxies', { key })).status, 403)
  await page.getByRole('button', { name: 'I have it' }).click()
  await row(page, 'agents').getByText('browsers:write, profiles:read').waitFor()
  assert.ok(!(await page.content()).includes(key))
  await page.getByRole('button', { name: 'Actions for agents' }).click()
  await page.getByRole('menuitem', { name: 'Replace' }).click()
  await dialog(page).getByLabel('Days that the old key goes on').fill('0')
  await dialog(page).getByRole('button', { name: 'Replace' }).click()
  const next = await dialog(page).locator('.secret code').innerText()
  assert.notEqual(next, key)
  await eventually(
    'the old key has ended',
    async () => (await server.fetch('/browsers', { key })).status === 401,
  )
  assert.equal((await server.fetch('/browsers', { key: next })).status, 200)
  await page.getByRole('button', { name: 'I have it' }).click()
  await row(page, 'You')
    .getByRole('button', { name: /Actions for/ })
    .click()
  await page.getByRole('menuitem', { name: /Delete/, disabled: true }).waitFor()
})

test('a project is created, limited, archived and brought back', async (t) => {
  const { page } = await visit(t, '/projects')
  await page.getByRole('button', { name: 'Create a project' }).click()
  await dialog(page).getByLabel('Name').fill('crawlers')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { level: 1, name: 'crawlers' }).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog(page).getByLabel('Sessions at once').fill('7')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.locator('.facts').getByText('7', { exact: true }).waitFor()
  await page.getByText(/in use/).waitFor()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByText('Archived', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Active', { exact: true }).waitFor()
})

test('the audit log keeps its filters in the address, opens an entry, and is downloaded', async (t) => {
  const { page } = await visit(t, '/audit?changes=true&q=%2Fproxies')
  await row(page, 'DELETE').first().waitFor()
  assert.equal(await row(page, 'GET').count(), 0)
  await row(page, 'DELETE').first().click()
  await dialog(page).getByText('proxies:write').waitFor()
  await page.goBack()
  await dialog(page).waitFor({ state: 'detached' })
  await page.getByLabel('Method').selectOption('POST')
  await page.waitForURL(/method=POST/)
  await row(page, 'DELETE').first().waitFor({ state: 'detached' })
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ])
  const lines = gunzipSync(readFileSync(await download.path()))
    .toString()
    .trim()
    .split('\n')
  for (const line of lines) {
    const entry = JSON.parse(line) as { method: string; path: string }
    assert.equal(entry.method, 'POST')
    assert.match(entry.path, /proxies/)
  }
})

test('an export destination of the audit log is added, tested, and deleted', async (t) => {
  const { page } = await visit(t, '/audit?tab=exports')
  await page.getByText('No destinations yet').waitFor()
  await page.getByRole('button', { name: 'Add a destination' }).click()
  await dialog(page).getByLabel('Bucket').fill('audit-logs')
  await dialog(page).getByLabel('How Berth may write').selectOption('key')
  await dialog(page).getByLabel('Address of the store').fill('http://127.0.0.1:1')
  await dialog(page).getByLabel('Access key', { exact: true }).fill('a')
  await dialog(page).getByLabel('Its secret').fill('b')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).click()
  await row(page, 'audit-logs').getByText('Paused').waitFor()
  await page.getByRole('button', { name: 'Actions for audit-logs' }).click()
  await page.getByRole('menuitem', { name: 'Test' }).click()
  await page.getByText('It does not work').waitFor()
  await page.getByRole('button', { name: 'Actions for audit-logs' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await dialog(page).getByLabel('Bucket').fill('audit-logs-2')
  const changed = page.waitForRequest((request) => request.method() === 'PATCH')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  assert.deepEqual((await changed).postDataJSON(), { bucket: 'audit-logs-2' })
  await page.getByRole('button', { name: 'Actions for audit-logs-2' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No destinations yet').waitFor()
})

test('settings say who you are and how the server is, and take a telemetry destination', async (t) => {
  const { page } = await visit(t, '/settings')
  await page.getByText('Accepts work').waitFor()
  await page.getByText('Limits of the organisation').waitFor()
  await page.getByRole('radio', { name: 'Dark' }).check()
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
  await eventually('it is dark', async () => (await background()) === 'rgb(15, 19, 24)')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog(page).getByLabel('Name', { exact: true }).fill('collector')
  await dialog(page).getByLabel('Address of the collector').fill('ftp://collector.example')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).last().click()
  await dialog(page).getByRole('alert').waitFor()
  await dialog(page).getByLabel('Address of the collector').fill('https://93.184.216.34')
  await dialog(page).getByRole('button', { name: 'Add', exact: true }).last().click()
  await page.getByText('Nothing sent yet').waitFor()
  await page.getByRole('button', { name: 'Actions for collector' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await dialog(page).getByLabel('Name', { exact: true }).fill('the collector')
  await dialog(page).getByRole('button', { name: 'Add' }).click()
  await dialog(page).getByLabel('Name 1').fill('X-Team')
  await dialog(page).getByLabel('Value of X-Team').fill('a-secret-nobody-sees')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByText('the collector', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Actions for the collector' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  await dialog(page).getByRole('checkbox', { name: 'X-Team' }).uncheck()
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  const [{ headers } = { headers: {} }] = (
    await send<{ headers: object }[]>(server, 'GET', '/telemetry/destinations')
  ).body
  assert.deepEqual(headers, {})
  await page.getByRole('button', { name: 'Actions for the collector' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Sessions can export what they see').waitFor()
})

test('a key that only reads is offered no changes, and the API refuses them', async (t) => {
  const { body } = await send<{ key: string }>(server, 'POST', '/org/api_keys', {
    name: 'reader',
    scopes: ['read'],
  })
  const { page } = await visit(t, '/profiles', body.key)
  await row(page, 'taken').waitFor()
  for (const path of [
    'profiles',
    'proxies',
    'extensions',
    'logins',
    'credentials',
    'keys',
    'projects',
    'apps',
  ]) {
    // The form's address does not open it either.
    await page.goto(`${server.url}/dashboard/${path}?create=true&deploy=true&add=file`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Create|Upload|Deploy|Actions)/ }).count(), 0, path)
    assert.equal(await dialog(page).count(), 0, path)
  }
  const answer = await page.evaluate(
    "fetch('/profiles', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then((a) => a.status)",
  )
  assert.equal(answer, 403)
})

test('the key of a project sees what is in it, and nothing else', async (t) => {
  const project = await admin.projects.create({ name: 'apart' })
  const { key } = await admin.apiKeys.create({ name: 'of apart', project_id: project.id })
  const { page } = await visit(t, '/profiles', key)
  await page.getByText('No profiles yet').waitFor()
  await page.getByText(`${server.url}/profiles`).waitFor()
  await page.goto(`${server.url}/dashboard/projects`)
  await row(page, 'apart').waitFor()
  assert.equal(await row(page, 'crawlers').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Create a project' }).count(), 0)
  await page.goto(`${server.url}/dashboard/profiles/taken`)
  await page.getByRole('alert').waitFor()
})
