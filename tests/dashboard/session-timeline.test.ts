// The page of a session that has ended: its timeline, with many events and with hostile ones.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hostileStrings } from '../hostile/hostile-strings.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { startServer } from '../fixtures/server.ts'
import { manyEvents, storeEvents } from '../fixtures/stored-events.ts'
import { assertAccessible, PHONE, signIn, startBrowser } from './person.ts'

const MANY = 50_000

const server = await startServer({ after })
const browser = await startBrowser({ after })

async function ended(events: ReturnType<typeof manyEvents>, body: object = {}): Promise<string> {
  const { session_id: id } = await createSession(server, body)
  await send(server, 'DELETE', `/browsers/${id}`)
  await storeEvents(server, { sessionId: id, events })
  return id
}

const few = await ended(manyEvents(400), { name: 'few', tags: { team: '<b>crawlers</b>' } })
const many = await ended(manyEvents(MANY))

test('50,000 events open, and only the rows in sight are in the page', async (t) => {
  const { page, complaints } = await signIn(browser, { ...server, path: `/sessions/${few}` })
  await page.getByText('400 events').waitFor()
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable')
  const workMs = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  }
  const workedMs = await workMs()
  const began = performance.now()
  await page.evaluate(
    `history.pushState(null, '', '/dashboard/sessions/${many}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.getByText('50,000 events', { exact: true }).waitFor()
  const tookMs = performance.now() - began
  t.diagnostic(
    `opened in ${Math.round(tookMs)} ms, of which the page worked ${Math.round((await workMs()) - workedMs)} ms`,
  )
  assert.ok((await page.getByRole('listbox', { name: 'Events' }).getByRole('option').count()) < 100)
  const searching = performance.now()
  await page.getByLabel('Search events').fill('line 49998')
  await page.getByText('1 of 50,000 events').waitFor()
  t.diagnostic(`searched in ${Math.round(performance.now() - searching)} ms`)
  await page.getByText('line 49998 <b>is text</b>').waitFor()
  assert.deepEqual(complaints, [])
})

test('events are filtered by kind, text and errors, and the address keeps it all', async () => {
  const { page } = await signIn(browser, { ...server, path: `/sessions/${few}` })
  await page.getByText('400 events').waitFor()
  await page.getByRole('button', { name: 'Console', exact: true }).click()
  await page.getByText('100 of 400 events').waitFor()
  await page.getByRole('button', { name: 'Network', exact: true }).click()
  await page.getByText('300 of 400 events').waitFor()
  await page.getByRole('button', { name: 'Errors' }).click()
  await page.getByText('20 of 400 events').waitFor()
  await page.reload()
  await page.getByText('20 of 400 events').waitFor()
  await page.getByRole('button', { name: 'Waterfall' }).click()
  await page.getByText('100 requests').waitFor()
  assert.match(page.url(), /category=console%2Cnetwork&errors=true&view=network/)
})

test('a request opens with its answer, its headers and its body', async () => {
  const { page } = await signIn(browser, { ...server, path: `/sessions/${few}?view=network` })
  await page.getByRole('listbox', { name: 'Requests' }).getByRole('option').nth(2).click()
  const details = page.getByRole('region', { name: 'Details of the event' })
  await details.getByText('network response').waitFor()
  await details.getByText('value 13 of a usual length, about so').first().waitFor()
  assert.match(await details.getByLabel('Body', { exact: true }).innerText(), /"items": \[/)
  assert.match(page.url(), /event=9/)
  await page.keyboard.press('Escape')
  await details.waitFor({ state: 'hidden' })
})

test('the list is used by the keyboard alone', async () => {
  const { page } = await signIn(browser, { ...server, path: `/sessions/${few}` })
  await page.getByRole('listbox', { name: 'Events' }).focus()
  await page.keyboard.press('End')
  await page.locator('[aria-selected="true"]').getByText('Buy 399').waitFor()
  await page.keyboard.press('ArrowUp')
  await page.locator('[aria-selected="true"]').getByText('line 398').waitFor()
})

test('hostile texts are shown as text, in rows and in details', async () => {
  const texts = hostileStrings.filter((text) => /^[ -~]+$/.test(text))
  const [like] = manyEvents(1)
  const events = texts.map((text, index) => ({
    ...like!,
    ts: like!.ts + index * 1000,
    type: 'console_log' as const,
    category: 'console' as const,
    data: { text, url: `javascript:alert(1)//${text}`, level: text, args: [text, text] },
  }))
  const id = await ended(events, { tags: { '<img src=x onerror=alert(1)>': '"><script>alert(1)</script>' } })
  const { page, complaints } = await signIn(browser, { ...server, path: `/sessions/${id}?event=1` })
  page.on('dialog', () => assert.fail('a script of a session ran'))
  await page.getByText(`${texts.length} events`).waitFor()
  const script = texts.indexOf('<script>alert(1)</script>')
  await page.getByLabel('Search events').fill('<script>alert(1)')
  await page.getByText(`of ${texts.length} events`).waitFor()
  await page.getByRole('listbox', { name: 'Events' }).getByRole('option').first().click()
  await page
    .getByRole('region', { name: 'Details of the event' })
    .getByLabel('Text', { exact: true })
    .getByText('<script>alert(1)</script>')
    .waitFor()
  assert.match(page.url(), new RegExp(`event=${script + 1}`))
  assert.equal(await page.locator('a[href^="javascript:"]').count(), 0)
  assert.equal(await page.locator('img[src="x"]').count(), 0)
  assert.deepEqual(complaints, [])
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nothing keeps anybody out, in ${colorScheme} colours and on a phone`, async () => {
    for (const viewport of [undefined, PHONE]) {
      const { page } = await signIn(browser, {
        ...server,
        path: `/sessions/${few}?event=2`,
        options: { colorScheme, ...(viewport && { viewport, hasTouch: true }) },
      })
      await page.getByText('400 events').waitFor()
      await page.getByRole('region', { name: 'Details of the event' }).getByText('x-header-3').waitFor()
      await assertAccessible(page, `timeline ${colorScheme}`)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert.ok(width <= (viewport ?? { width: 1280 }).width, `${width} pixels wide`)
      await page.getByRole('button', { name: 'Waterfall' }).click()
      await page.getByText('100 requests').waitFor()
      await assertAccessible(page, `waterfall ${colorScheme}`)
    }
  })
}

test('an ended session says why it ended, and has no tabs that need a browser', async () => {
  const { page } = await signIn(browser, { ...server, path: `/sessions/${few}?tab=terminal` })
  await page.getByText('Somebody ended it').waitFor()
  await page.getByText('No recording').waitFor()
  assert.deepEqual(await page.getByRole('tab').allInnerTexts(), ['Timeline', 'Details'])
  assert.equal(await page.getByRole('button', { name: 'End session' }).count(), 0)
})

test('a session without telemetry says so, and records from then on', async () => {
  const { session_id: id } = await createSession(server)
  const { page } = await signIn(browser, { ...server, path: `/sessions/${id}` })
  await page.getByRole('button', { name: 'Record events' }).click()
  await page.getByText('Events are recorded from now on').waitFor()
  await page.getByText('Telemetry is off').waitFor({ state: 'hidden' })
  // What happens now appears by itself.
  await send(server, 'GET', `/browsers/${id}/fs/file_info?path=/home/kernel`)
  await page.getByText(/fileInfo was answered with/).waitFor()
})

test('a session is renamed, gets tags, and is ended from its page', async () => {
  const { session_id: id } = await createSession(server, { name: 'before' })
  const { page } = await signIn(browser, { ...server, path: `/sessions/${id}` })
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('no spaces please')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.locator('[aria-invalid="true"]').waitFor()
  await page.getByRole('dialog').getByLabel('Name').fill('after')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { level: 1, name: 'after' }).waitFor()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Edit tags' }).click()
  await page.getByLabel('Name of tag 1').fill('<i>team</i>')
  await page.getByLabel('Value of tag 1').fill('crawlers')
  await assertAccessible(page, 'tags')
  await page.getByRole('button', { name: 'Save tags' }).click()
  await page.locator('.tag').getByText('<i>team</i>').waitFor()
  await page.getByRole('button', { name: 'End session' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('Somebody ended it').waitFor()
})

test('a key that may only read sees the session, and nothing that acts', async () => {
  const { session_id: id } = await createSession(server)
  const made = await send<{ key: string }>(server, 'POST', '/org/api_keys', {
    name: 'reads browsers',
    scopes: ['browsers:read'],
  })
  const { page } = await signIn(browser, { url: server.url, key: made.body.key, path: `/sessions/${id}` })
  await page.getByText('This key may only read').waitFor()
  assert.deepEqual(await page.getByRole('tab').allInnerTexts(), ['Timeline', 'Details'])
  assert.equal(await page.getByRole('button', { name: 'End session' }).count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Record events' }).count(), 0)
})

test('a key of another project finds nothing', async () => {
  const { session_id: id } = await createSession(server)
  const project = await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'Others' })
  const made = await send<{ key: string }>(server, 'POST', '/org/api_keys', {
    name: 'of others',
    project_id: project.body.id,
  })
  const { page } = await signIn(browser, { url: server.url, key: made.body.key, path: `/sessions/${id}` })
  await page.getByRole('alert').getByText('Cannot find').waitFor()
})
