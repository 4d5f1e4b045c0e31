// The page of a running session with a real browser: everything that reaches into it.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { createSession, send } from '../fixtures/sessions.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { assertAccessible, PHONE, signIn, startBrowser, type Person } from './person.ts'

const server = await startServer({ after }, { hasRealInstances: true })
const browser = await startBrowser({ after })
const on = { enabled: true }
const { session_id: id } = await createSession(server, {
  timeout_seconds: 3600,
  telemetry: { enabled: true, browser: { console: on, page: on, interaction: on } },
})
const path = `/browsers/${id}`
async function visit(t: TestContext, tab: string): Promise<Person> {
  const person = await signIn(browser, { ...server, path: `/sessions/${id}?tab=${tab}` })
  // A page that is left open goes on with its live view.
  t.after(() => person.page.context().close())
  return person
}

test('the live view watches, and takes over when somebody asks for it', async (t) => {
  const { page, complaints } = await visit(t, 'details')
  const view = page.frameLocator('iframe[title="Live view of the session"]')
  await view.locator('canvas').first().waitFor()
  await page.getByRole('button', { name: 'Control' }).click()
  await view.locator('canvas').first().waitFor()
  await assertAccessible(page, 'details')
  assert.deepEqual(complaints, [])
})

test('what happens in the browser appears in the timeline by itself', async (t) => {
  const { page } = await visit(t, 'timeline')
  await page.getByText(', live').waitFor()
  await send(server, 'POST', `${path}/playwright/execute`, {
    code: `await page.evaluate(() => console.log('ahoy <b>there</b>'))`,
  })
  await page.getByText('ahoy <b>there</b>').waitFor()
})

async function running(): Promise<string> {
  const ran = await send<{ stdout_b64: string }>(server, 'POST', `${path}/process/exec`, {
    command: 'bash',
    args: ['-c', 'cat answer.txt; ps ax -o args'],
  })
  return Buffer.from(ran.body.stdout_b64, 'base64').toString()
}

test('a terminal runs bash, and its program ends with the tab', async (t) => {
  const { page } = await visit(t, 'terminal')
  await page.getByText('bash in /home/kernel').waitFor()
  await page.keyboard.type('echo $((6*7)) > answer.txt; sleep 4321\n')
  await until(async () => /^42\n[^]*sleep 4321/.test(await running()))
  await assertAccessible(page, 'terminal')
  await page.getByRole('tab', { name: 'Files' }).click()
  await until(async () => !(await running()).includes('sleep 4321'))
})

test('files are uploaded, edited, renamed and deleted, whatever their names are', async (t) => {
  const { page, complaints } = await visit(t, 'files')
  const name = `<img src=x onerror=alert(1)>.txt`
  await page
    .getByLabel('Files to upload')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('first') })
  const row = page.getByRole('treeitem').filter({ hasText: name })
  await row.waitFor()
  await assertAccessible(page, 'files')
  await row.click()
  const editor = page.getByRole('textbox', { name: `Text of /home/kernel/${name}` })
  await editor.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' and second')
  await page.keyboard.press('Control+s')
  await page.getByText('The file is saved').waitFor()
  assert.equal(await contents(name), 'first and second')

  // Somebody else writes it meanwhile.
  await server.fetch(`${path}/fs/write_file?path=${encodeURIComponent(`/home/kernel/${name}`)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: 'of somebody else',
  })
  await editor.click()
  await page.keyboard.type('!')
  await page.keyboard.press('Control+s')
  await page.getByText('Your changes are not saved').waitFor()
  assert.equal(await contents(name), 'of somebody else')
  await page.getByRole('button', { name: 'Save mine' }).click()
  await until(async () => (await contents(name)).startsWith('first and second'))
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Close', exact: true }).click()

  await row.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Rename or move' }).click()
  await page.getByLabel('Name', { exact: true }).fill('plain.txt')
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  const renamed = page.getByRole('treeitem').filter({ hasText: 'plain.txt' })
  await renamed.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await renamed.waitFor({ state: 'hidden' })
  assert.deepEqual(complaints, [])
})

test('a whole folder is uploaded, by choosing it and by dropping it', async (t) => {
  const folder = join(tempDir(t), 'crawler')
  mkdirSync(join(folder, 'deep/er'), { recursive: true })
  writeFileSync(join(folder, 'main.txt'), 'the program')
  for (const index of Array(120).keys()) writeFileSync(join(folder, `deep/er/${index}.txt`), String(index))
  const { page } = await visit(t, 'files')
  await page.getByLabel('Folder to upload').setInputFiles(folder)
  await page.getByText('121 files are uploaded').waitFor()
  assert.equal(await contents('crawler/main.txt'), 'the program')
  assert.equal(await contents('crawler/deep/er/119.txt'), '119')
  await server.fetch(`${path}/fs/delete_directory`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ path: '/home/kernel/crawler' }),
  })
  await page.getByRole('button', { name: 'Dismiss' }).click()
  const box = (await page.getByText('Drop files and folders here').boundingBox())!
  const cdp = await page.context().newCDPSession(page)
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await cdp.send('Input.dispatchDragEvent', {
      type,
      x: box.x + 5,
      y: box.y + 5,
      data: { items: [], files: [folder], dragOperationsMask: 1 },
    })
  }
  await page.getByText('121 files are uploaded').waitFor()
  assert.equal(await contents('crawler/deep/er/7.txt'), '7')
})

test('a command shows its output, and ends by a signal', async (t) => {
  const { page } = await visit(t, 'processes')
  await page.getByLabel('Command', { exact: true }).fill('echo "<b>out</b>"; sleep 600')
  await page.keyboard.press('Enter')
  await page
    .getByRole('log', { name: /^Output of/ })
    .getByText('<b>out</b>')
    .waitFor()
  await assertAccessible(page, 'processes')
  await page.getByLabel(/^Send a signal/).selectOption('TERM')
  await page.getByText('ended with 143').waitFor()
})

test('Playwright code runs, and says its result or its error', async (t) => {
  const { page } = await visit(t, 'playwright')
  const editor = page.getByRole('textbox', { name: 'Playwright code' })
  const write = async (code: string) => {
    await editor.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(code)
  }
  await write('page.getByRo')
  await page.locator('.cm-tooltip-autocomplete').getByText('getByRole').waitFor()
  await page.keyboard.press('Escape')
  await write('return { answer: 6 * 7')
  await page.keyboard.press('Control+Enter')
  const results = page.getByRole('log', { name: 'Results' })
  await results.getByText('42').waitFor()
  await write('throw new Error("on purpose")')
  await page.keyboard.press('Control+Enter')
  await results.getByText('on purpose').first().waitFor()
  await assertAccessible(page, 'playwright')
})

test('a running session is changed, renamed, and has its name back', async (t) => {
  const { page } = await visit(t, 'details')
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act('Change')
  await page.getByRole('dialog').getByLabel('Ends after').fill('5')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').locator('[name="timeout_seconds"][aria-invalid="true"]').waitFor()
  await page.getByRole('dialog').getByLabel('Ends after').fill('7200')
  await page.getByRole('dialog').getByLabel('Width').fill('1000')
  await page.getByRole('dialog').getByLabel('Height').fill('700')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('ends after 2 h').waitFor()
  await page.getByText('1000 × 700').waitFor()
  await act('Rename')
  await page.getByRole('dialog').getByLabel('Name').fill('harbour-pilot')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { level: 1, name: 'harbour-pilot' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { level: 1, name: id }).waitFor()
})

test('the clipboard goes both ways, and a screenshot is taken', async (t) => {
  const { page } = await visit(t, 'screen')
  await page.getByLabel('Text of the clipboard').fill('from the dashboard')
  await page.getByRole('button', { name: 'Write' }).click()
  await page.getByText('has this text').waitFor()
  await page.getByLabel('Text of the clipboard').fill('')
  await page.getByRole('button', { name: 'Read', exact: true }).click()
  await until(
    async () => (await page.getByLabel('Text of the clipboard').inputValue()) === 'from the dashboard',
  )
  await page.getByRole('button', { name: 'Take a screenshot' }).click()
  await page.getByAltText(/^The screen at/).waitFor()
  await assertAccessible(page, 'screen')
})

test('DevTools opens for the page, in a frame without an origin', async (t) => {
  const { page } = await visit(t, 'devtools')
  const frame = page.locator('iframe[title="DevTools"]')
  await frame.waitFor()
  assert.doesNotMatch((await frame.getAttribute('sandbox'))!, /same-origin/)
  const tools = page.frameLocator('iframe[title="DevTools"]')
  await tools.getByRole('tab', { name: 'Console' }).first().waitFor()
  // A snapshot of the heap is some megabytes of events, and two workers in a frame that has no origin.
  await page.setViewportSize({ width: 1600, height: 900 })
  await tools.getByRole('tab', { name: 'Memory' }).first().click()
  await tools
    .getByRole('button', { name: /Take.*snapshot/i })
    .first()
    .click()
  await tools
    .getByText(/objects \(/)
    .first()
    .waitFor({ timeout: 60_000 })
})

test('tokens are dots until somebody wants to see them', async (t) => {
  const { page } = await visit(t, 'connect')
  await page.getByText('connectOverCDP').waitFor()
  assert.doesNotMatch(await page.locator('#tab-content').innerText(), /jwt=\w/)
  await page.getByLabel('Show the tokens').check()
  assert.match(await page.locator('#tab-content').innerText(), /jwt=\w/)
  await assertAccessible(page, 'connect')
})

test('on a phone the screen is above the tabs, and nothing is wider than the page', async () => {
  for (const tab of ['timeline', 'terminal', 'files', 'processes', 'playwright', 'screen', 'connect']) {
    const { page } = await signIn(browser, {
      ...server,
      path: `/sessions/${id}?tab=${tab}`,
      options: { viewport: PHONE, hasTouch: true, colorScheme: 'dark' },
    })
    await page.locator('#tab-content > *').first().waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= PHONE.width, `${tab}: ${width} pixels wide`)
    await assertAccessible(page, `${tab} on a phone`)
    await page.context().close()
  }
})

test('after the end the recording and the timeline go together', async () => {
  const { session_id: recorded } = await createSession(server, {
    headless: true,
    telemetry: { enabled: true, browser: { console: on } },
  })
  await send(server, 'POST', `/browsers/${recorded}/replays`)
  await send(server, 'POST', `/browsers/${recorded}/playwright/execute`, {
    code: `for (let i = 0; i < 8; i++) {
      await page.setContent('<h1>' + i + '</h1>')
      await page.evaluate((i) => console.log('step ' + i), i)
      await page.waitForTimeout(400)
    }`,
  })
  const { page } = await signIn(browser, { ...server, path: `/sessions/${recorded}` })
  await page.getByText('Recording', { exact: true }).waitFor()
  await send(server, 'DELETE', `/browsers/${recorded}`)
  await page.getByText('Somebody ended it').waitFor()
  const video = page.locator('video.replay')
  await video.waitFor({ timeout: 60_000 })
  const now = () => video.evaluate((each: { currentTime: number }) => each.currentTime)
  // The number of the event that is marked as the one of this moment.
  const marked = async () =>
    Number(await page.evaluate(`document.querySelector('.event[data-now="true"]')?.id.slice(6) ?? 0`))
  await page.getByText('step 6').click()
  await until(async () => (await now()) > 1.5 && (await marked()) > 0)
  const [late, lateMark] = [await now(), await marked()]
  await page.getByText('step 2').click()
  await until(async () => (await now()) < late - 1 && (await marked()) < lateMark)
  const mark = await marked()
  await video.evaluate((each: { play(): unknown }) => void each.play())
  await until(async () => (await marked()) > mark)
})

async function contents(name: string): Promise<string> {
  const answer = await server.fetch(`${path}/fs/read_file?path=${encodeURIComponent(`/home/kernel/${name}`)}`)
  return answer.text()
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000
  while (!(await isSo())) {
    if (performance.now() > end) assert.fail('it did not come')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
