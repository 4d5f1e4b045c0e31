// The first page of the dashboard, with fake instances and, for the pictures, a real browser.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, query, send } from '../fixtures/sessions.ts'
import { addPastSessions, visit } from './fixtures-lists.ts'
import { assertAccessible, PHONE, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner)
const browser = await startBrowser(owner)
const at = (path: string) => ({ browser, server, path })

test('a new installation shows the first command, and the first session appears by itself', async (t) => {
  const { page, complaints } = await visit(t, at('/'))
  await page.getByText('Start the first session').waitFor()
  const command = await page.locator('pre[aria-label="First command"]').textContent()
  assert.ok(command!.includes(`${server.url}/browsers`))
  const { session_id: id } = await createSession(server, { name: 'the-first' })
  await page.getByRole('link', { name: 'the-first' }).waitFor()
  await page.getByText('places taken').waitFor()
  await send(server, 'DELETE', `/browsers/${id}`)
  await page.getByRole('link', { name: 'the-first' }).waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
})

test('days are a chart and a table, and failures are listed with their reasons', async (t) => {
  await addPastSessions(server, { count: 40 })
  const { page, complaints } = await visit(t, at('/'))
  const failures = page.locator('.failures li')
  await failures.first().waitFor()
  assert.equal(await failures.count(), 10)
  assert.match((await failures.first().textContent())!, /crashed.*past-40/)
  assert.equal(await page.locator('caption').textContent(), 'Sessions and minutes on each day, in UTC')
  const [day] = await query<{ count: string }>(
    server,
    `SELECT count(*) FROM browsers WHERE created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`,
  )
  await eventually(
    'today is counted',
    async () => {
      return (await page.locator('table tr').last().locator('td').nth(1).textContent()) === day!.count
    },
    20_000,
  )
  await page.locator('.chart canvas').waitFor()
  assert.deepEqual(complaints, [])
})

test('pictures are asked for in one stream, and only for tiles in sight', async (t) => {
  const sessions = await Promise.all(
    Array.from({ length: 40 }, (_, index) => createSession(server, { name: `tile-${index}` })),
  )
  const { page } = await visit(t, at('/sessions'))
  const asked: string[][] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname === '/previews') asked.push(url.searchParams.get('ids')!.split(','))
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await eventually('a stream is open', () => asked.length > 0)
  await page.getByRole('link', { name: 'tile-0' }).waitFor()
  assert.equal(asked.length, 1)
  assert.ok(asked[0]!.length > 3 && asked[0]!.length < 40, String(asked[0]!.length))
  await page.getByRole('link', { name: 'tile-0' }).scrollIntoViewIfNeeded()
  const first = sessions[0]!.session_id
  await eventually('it follows the tiles in sight', () => asked.at(-1)!.includes(first))
  await page.getByRole('link', { name: 'Pools' }).click()
  const count = asked.length
  await page.getByRole('heading', { name: 'Pools', exact: true }).waitFor()
  assert.equal(asked.length, count)
  for (const { session_id: id } of sessions) await send(server, 'DELETE', `/browsers/${id}`)
})

test('a key that may not see sessions is told so', async (t) => {
  const { body } = await send<{ key: string }>(server, 'POST', '/org/api_keys', {
    name: 'profiles-only',
    scopes: ['profiles:read'],
  })
  const { page } = await visit(t, at('/'), { key: body.key })
  await page.getByText('This key may not see sessions').waitFor()
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing in ${colorScheme}`, async (t) => {
    await createSession(server)
    const { page } = await visit(t, at('/'), { colorScheme })
    await page.locator('.chart canvas').waitFor()
    await page.locator('.tile').first().waitFor()
    await assertAccessible(page, 'overview')
  })
}

test('on a phone nothing is wider than the screen', async (t) => {
  await createSession(server, { name: 'n'.repeat(200) })
  const { page } = await visit(t, at('/'), { viewport: PHONE })
  await page.getByText('nnnn').first().waitFor()
  await page.locator('.chart canvas').waitFor()
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width)
})

test('a tile shows what a real session shows', async (t) => {
  const real = await startServer(t, { hasRealInstances: true })
  const { session_id: id } = await createSession(real, {
    name: 'painted',
    start_url: 'data:text/html,<body style="background:rgb(200,30,30)">',
    standby_after_seconds: 600,
  })
  const { page } = await visit(t, { browser, server: real, path: '/' })
  const picture = page.locator('.tile img')
  await picture.waitFor()
  const paint = `(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d')
    canvas.drawImage(document.querySelector('.tile img'), 0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  })()`
  await eventually('it is red', async () => {
    const [r, g] = await page.evaluate<number[]>(paint)
    return r! > 150 && g! < 80
  })
  await send(real, 'DELETE', `/browsers/${id}`)
})
