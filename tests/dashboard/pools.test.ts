// Pools in the dashboard: making one, leasing, waiting, releasing, deleting.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'
import { visit } from './fixtures-lists.ts'
import { assertAccessible, PHONE, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner)
const browser = await startBrowser(owner)
const at = (path: string) => ({ browser, server, path })

interface Pool {
  readonly id: string
  readonly available_count: number
  readonly acquired_count: number
  readonly browser_pool_config: Record<string, unknown>
}

async function makePool(body: object): Promise<Pool> {
  const answer = await send<Pool>(server, 'POST', '/browser_pools', { headless: true, ...body })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

const readPool = async (id: string) => (await send<Pool>(server, 'GET', `/browser_pools/${id}`)).body

async function isFilled(id: string, count: number): Promise<void> {
  await eventually(`${count} are available`, async () => (await readPool(id)).available_count === count)
}

test('a pool is made, changed and deleted', async (t) => {
  const { page, complaints } = await visit(t, at('/pools'))
  await page.getByText('No pools yet').waitFor()
  assert.match((await page.locator('pre[aria-label="First command"]').textContent())!, /browser_pools/)
  await page.getByRole('button', { name: 'Create a pool' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.locator('[name="size"][aria-invalid="true"]').waitFor()
  await dialog.getByLabel('Name').fill('made-here')
  await dialog.getByLabel('Size').fill('2')
  await dialog.getByLabel('Fill rate').fill('100')
  await dialog.getByLabel('Address to open').fill('https://example.com/')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'made-here' }).waitFor()
  await page.getByText('0 leased, 2 available').waitFor()
  const id = /pools\/([a-z0-9]{24})/.exec(page.url())![1]!

  await page.getByRole('button', { name: 'Change' }).click()
  assert.ok(page.url().includes('open=edit'))
  await dialog.getByLabel('Size').fill('3')
  await dialog.getByLabel('Address to open').fill('')
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  await dialog.getByRole('button', { name: 'Save' }).click()
  assert.deepEqual((await sent).postDataJSON(), { size: 3, start_url: '' })
  await page.getByText('0 leased, 3 available').waitFor()
  assert.equal((await readPool(id)).browser_pool_config['start_url'], undefined)

  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete the pool' }).click()
  await page.getByText('Nobody has leased one').waitFor()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No pools yet').waitFor()
  assert.deepEqual(complaints, [])
})

test('a browser is leased with its URLs, and released', async (t) => {
  const { id } = await makePool({ size: 1, fill_rate_per_minute: 100 })
  await isFilled(id, 1)
  const { page, complaints } = await visit(t, at(`/pools/${id}`))
  await page.getByText('0 leased, 1 available').waitFor()
  await page.getByRole('button', { name: 'Acquire a browser' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('leased-here')
  await dialog.getByLabel('Tags').fill('who=<b>me</b>')
  await dialog.getByRole('button', { name: 'Acquire' }).click()
  await dialog.getByText('The browser is yours').waitFor()
  const urls = await dialog.locator('code').allTextContents()
  assert.ok(urls.some((url) => url.startsWith('ws://') && url.includes('/cdp?')))
  await dialog.getByText('Close', { exact: true }).click()
  const row = page.getByRole('row').filter({ hasText: 'leased-here' })
  await row.getByText('<b>me</b>').waitFor()
  await page.getByText('1 leased, 0 available').waitFor()

  await row.getByRole('button', { name: 'Acts for leased-here' }).click()
  await page.getByRole('menuitem', { name: 'Release', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Release' }).click()
  await page.getByText('Nobody has a browser of this pool').waitFor()
  await page.getByText('0 leased, 1 available').waitFor()
  assert.deepEqual(complaints, [])
  await send(server, 'DELETE', `/browser_pools/${id}`)
})

test('an acquire that waits can be cancelled, and leaves no lease behind', async (t) => {
  const { id } = await makePool({ size: 1, fill_rate_per_minute: 0, name: 'never-fills' })
  const { page } = await visit(t, at(`/pools/${id}?open=acquire`))
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Wait at most').fill('1')
  await dialog.getByRole('button', { name: 'Acquire' }).click()
  await dialog.getByText('No browser became available in time').waitFor()
  await dialog.getByLabel('Wait at most').fill('600')
  await dialog.getByRole('button', { name: 'Keep waiting' }).click()
  await dialog.getByText('Waiting for a browser').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByRole('button', { name: 'Acquire' }).waitFor()
  await send(server, 'PATCH', `/browser_pools/${id}`, { fill_rate_per_minute: 100 })
  await isFilled(id, 1)
  assert.equal((await readPool(id)).acquired_count, 0)
})

test('deleting a pool says what happens to leased browsers', async (t) => {
  const { id } = await makePool({ size: 2, fill_rate_per_minute: 100, name: 'with-leases' })
  await isFilled(id, 2)
  const lease = await send(server, 'POST', `/browser_pools/${id}/acquire`, {})
  const { page } = await visit(t, at(`/pools/${id}`))
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete the pool' }).click()
  await page.getByText('1 browser of it is leased').waitFor()
  await page.getByRole('button', { name: 'Delete, and end the leases' }).click()
  await page.getByRole('heading', { name: 'Pools' }).waitFor()
  const { body } = await send(server, 'GET', `/browsers/${lease.body.session_id}?include_deleted=true`)
  assert.ok(body.deleted_at)
})

test('a read-only key sees pools and cannot act', async (t) => {
  const { id } = await makePool({ size: 1, fill_rate_per_minute: 0, name: 'looked-at' })
  const { body } = await send<{ key: string }>(server, 'POST', '/org/api_keys', {
    name: 'only-reads',
    scopes: ['read'],
  })
  const { page } = await visit(t, at(`/pools/${id}?open=acquire`), { key: body.key })
  await page.getByText('it lacks browsers:write').waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Change' }).count(), 0)
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing in ${colorScheme}`, async (t) => {
    const { id } = await makePool({ size: 2, fill_rate_per_minute: 100 })
    await isFilled(id, 2)
    await send(server, 'POST', `/browser_pools/${id}/acquire`, { tags: { team: 'axe' } })
    const { page } = await visit(t, at('/pools'), { colorScheme })
    await page.getByRole('row').filter({ hasText: '1 leased' }).first().waitFor()
    await assertAccessible(page, 'pools')
    await page.getByRole('row').filter({ hasText: '1 leased' }).first().click()
    await page.getByRole('row').filter({ hasText: 'axe' }).waitFor()
    await assertAccessible(page, 'a pool')
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByRole('dialog').waitFor()
    await assertAccessible(page, 'its form')
    await send(server, 'DELETE', `/browser_pools/${id}`, { force: true })
  })
}

test('on a phone nothing is wider than the screen', async (t) => {
  const { id } = await makePool({ size: 1, fill_rate_per_minute: 100, name: 'p'.repeat(150) })
  await isFilled(id, 1)
  await send(server, 'POST', `/browser_pools/${id}/acquire`, { name: 'l'.repeat(200) })
  const { page } = await visit(t, at('/pools'), { viewport: PHONE })
  const width = () => page.evaluate('document.documentElement.scrollWidth')
  await page.getByRole('row').filter({ hasText: '1 leased' }).waitFor()
  assert.equal(await width(), PHONE.width)
  await page
    .getByRole('row')
    .filter({ hasText: '1 leased' })
    .click({ position: { x: 300, y: 20 } })
  await page.getByRole('link', { name: /^l{50}/ }).waitFor()
  assert.equal(await width(), PHONE.width)
})
