// How the pages of resources look to everybody: without barriers in light and dark, on a phone, and with hostile names,
// which are text wherever they appear.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { WebhookTestResult } from '@berth/contracts/webhooks'
import { client84 } from '../client/versions.ts'
import type { Page } from 'playwright-core'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { createWebhook, mayReachReceivers } from '../fixtures/webhook-receiver.ts'
import { hostileStrings } from '../hostile/hostile-strings.ts'
import { archiveOf } from '../fixtures/zip.ts'
import { assertAccessible, PHONE, signIn, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner, { env: mayReachReceivers })
const browser = await startBrowser(owner)
const admin = client84(server)
const hostile = '"><img src=x onerror=alert(1)>'

/** The addresses of pages with something on them. */
async function fill(): Promise<readonly string[]> {
  const profile = await admin.profiles.create({ name: hostile })
  const proxy = await admin.proxies.create({
    type: 'custom',
    name: hostile,
    config: { host: 'proxy.example', port: 8080, username: hostile },
  })
  const login = await admin.auth.connections.create({ domain: 'code.example', profile_name: hostile })
  await admin.auth.connections.login(login.id)
  const credential = await admin.credentials.create({
    name: hostile,
    domain: 'shop.example',
    values: { [hostile]: 'x' },
    totp_secret: 'JBSWY3DPEHPK3PXP',
  })
  const provider = await admin.credentialProviders.create({
    name: hostile,
    provider_type: 'onepassword',
    token: 'ops_nothing',
  })
  const project = await admin.projects.create({ name: '"><img src=x onerror=alert(1)>'.replaceAll('/', '') })
  const key = await admin.apiKeys.create({ name: hostile })
  const form = new FormData()
  const manifest = JSON.stringify({ manifest_version: 3, name: '<b>x</b>', version: '1.0' })
  form.set(
    'file',
    new Blob([new Uint8Array(archiveOf([{ name: 'manifest.json', content: manifest }]))]),
    'x.zip',
  )
  assert.equal((await server.fetch('/extensions', { method: 'POST', body: form })).status, 201)
  const collector = { name: hostile, endpoint: 'https://93.184.216.34' }
  assert.equal((await send(server, 'POST', '/telemetry/destinations', collector)).status, 201)
  const destination = await send(server, 'POST', '/audit-logs/export/destinations', {
    type: 's3',
    format: 'jsonl.gz',
    bucket: 'audit-logs',
    prefix: hostile,
    region: 'us-east-1',
    endpoint: 'https://93.184.216.34',
    access_key_id: 'a',
    secret_access_key: 'b',
  })
  assert.equal(destination.status, 201, JSON.stringify(destination.body))
  const webhook = await createWebhook(
    server,
    { url: 'http://127.0.0.1:9/<b>x</b>' },
    { description: hostile },
  )
  const tested = await send<WebhookTestResult>(server, 'POST', `/webhooks/${webhook.id}/test`)
  return [
    '/profiles',
    '/profiles?create=true',
    `/profiles/${profile.id}`,
    '/proxies',
    '/proxies?create=true',
    `/proxies?open=${proxy.id}`,
    '/extensions',
    '/extensions?add=file',
    '/extensions?add=store',
    '/logins',
    '/logins?create=true',
    `/logins/${login.id}`,
    '/credentials',
    '/credentials?create=true',
    `/credentials?open=${credential.id}`,
    '/credentials?tab=providers',
    `/credentials?tab=providers&open=${provider.id}`,
    '/keys',
    '/keys?create=true',
    `/keys?open=${key.id}`,
    '/projects',
    `/projects/${project.id}`,
    `/projects/${project.id}?edit=limits`,
    '/audit',
    '/audit?tab=exports',
    '/apps',
    '/apps?tab=deployments',
    '/apps?tab=invocations',
    '/apps?deploy=true',
    '/webhooks',
    '/webhooks?create=true',
    `/webhooks/${webhook.id}`,
    `/webhooks/${webhook.id}?open=${tested.body.delivery_id}`,
    '/settings',
    '/settings?create=destination',
  ]
}

const paths = await fill()
const reading = (page: Page) => page.getByRole('status').filter({ hasText: 'Reading' })

test('no page has a barrier, in light and dark, and none runs what somebody wrote', async () => {
  const { page, complaints } = await signIn(browser, server)
  page.on('dialog', (shown) => assert.fail(shown.message()))
  for (const path of paths) {
    await page.goto(`${server.url}/dashboard${path}`)
    await page.locator('#content h1').waitFor()
    await eventually('everything is read', async () => (await reading(page).count()) === 0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await assertAccessible(page, `${path} in ${colorScheme}`)
    }
    assert.equal(await page.locator('img[src="x"]').count(), 0, path)
  }
  assert.deepEqual(complaints, [])
})

test('every page fits a phone', async () => {
  const { page } = await signIn(browser, { ...server, options: { viewport: PHONE, hasTouch: true } })
  for (const path of paths) {
    await page.goto(`${server.url}/dashboard${path}`)
    await page.locator('#content h1').waitFor()
    await eventually('everything is read', async () => (await reading(page).count()) === 0)
    const widths = await page.evaluate(
      "[document.documentElement, ...document.querySelectorAll('#content, .page, .dialog, .card')].map((each) => each.scrollWidth - each.clientWidth)",
    )
    assert.ok(
      (widths as number[]).every((over) => over <= 0),
      `${path}: ${JSON.stringify(widths)}`,
    )
  }
})

test('hostile names are shown as they are', async () => {
  const names = hostileStrings.filter((name) => name.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(name))
  const shownIn: Record<string, string[]> = { profiles: [], keys: [] }
  for (const name of names) {
    const profile = await send(server, 'POST', '/profiles', { name })
    if (profile.status === 201) shownIn['profiles']!.push(name)
    const key = await send(server, 'POST', '/org/api_keys', { name })
    if (key.status === 201) shownIn['keys']!.push(name)
  }
  // All rows are in sight, and so in the page.
  const { page, complaints } = await signIn(browser, {
    ...server,
    options: { viewport: { width: 1280, height: 8_000 } },
  })
  page.on('dialog', (shown) => assert.fail(shown.message()))
  for (const [path, created] of Object.entries(shownIn)) {
    assert.ok(created.length > names.length / 2, path)
    await page.goto(`${server.url}/dashboard/${path}`)
    await page
      .locator('[role=cell] .strong')
      .nth(created.length - 1)
      .waitFor()
    const shown = new Set(await page.locator('[role=cell] .strong').allTextContents())
    for (const name of created) assert.ok(shown.has(name), JSON.stringify(name))
  }
  assert.deepEqual(complaints, [])
})
