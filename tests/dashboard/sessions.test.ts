// The list of sessions in the dashboard, and creating one, in a real browser against the real server.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hostileStrings } from '../hostile/hostile-strings.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, send } from '../fixtures/sessions.ts'
import { addPastSessions, visit } from './fixtures-lists.ts'
import { assertAccessible, PHONE, startBrowser } from './person.ts'

const owner = { after }
const server = await startServer(owner, { env: { BERTH_MAX_CONCURRENT_SESSIONS: '100' } })
const browser = await startBrowser(owner)
const at = (path: string) => ({ browser, server, path })

async function keyWith(body: object): Promise<string> {
  const answer = await send<{ key: string }>(server, 'POST', '/org/api_keys', body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.key
}

test('a new installation shows the first command, with its own address', async (t) => {
  const { page, complaints } = await visit(t, at('/sessions'))
  await page.getByText('No session runs').waitFor()
  const command = await page.locator('pre[aria-label="First command"]').textContent()
  assert.ok(command!.includes(`curl ${server.url}/browsers`), command!)
  assert.deepEqual(complaints, [])
})

test('the list follows what is created and ended elsewhere, and its filters are in the address', async (t) => {
  const { page, complaints } = await visit(t, at('/sessions'))
  const named = await createSession(server, { name: 'seen-at-once', tags: { team: 'a&b=c' } })
  const other = await createSession(server, { name: 'another' })
  const row = page.getByRole('row').filter({ hasText: 'seen-at-once' })
  await row.waitFor()
  await row.getByRole('button', { name: 'team' }).click()
  await page.getByRole('row').filter({ hasText: 'another' }).waitFor({ state: 'detached' })
  assert.ok(page.url().includes('tags='), page.url())
  await page.reload()
  await row.waitFor()
  assert.equal(await page.getByRole('row').count(), 2)
  await page.goBack()
  await page.getByRole('row').filter({ hasText: 'another' }).waitFor()
  await page.getByRole('searchbox').fill('anoth')
  await row.waitFor({ state: 'detached' })
  assert.ok(page.url().includes('q=anoth'), page.url())
  for (const { session_id: id } of [named, other]) await send(server, 'DELETE', `/browsers/${id}`)
  await page.getByText('No session fits').waitFor()
  await page.getByRole('button', { name: 'Ended' }).click()
  await page.getByRole('row').filter({ hasText: 'deleted' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('many are ended at once, and those that cannot be ended are named with the reason', async (t) => {
  const sessions = await Promise.all(
    Array.from({ length: 9 }, (_, index) => createSession(server, { name: `many-${index}` })),
  )
  const { page } = await visit(t, at('/sessions?q=many-'))
  await page.getByLabel('Select all rows').check()
  await page.route(`**/browsers/${sessions[0]!.session_id}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 409, json: { code: 'conflict', message: 'Cannot end it: a test says so' } })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'End 9 sessions' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'End' }).click()
  await page.getByText('8 of 9 ended').waitFor()
  await page.getByText('a test says so').waitFor()
  await page.unroute(`**/browsers/${sessions[0]!.session_id}`)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('1 of 1 ended').waitFor()
  await page.getByText('No session fits').waitFor()
})

test('a session is created with every option, with the code that does the same', async (t) => {
  const { page, complaints } = await visit(t, at('/sessions?create=true'))
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('made-here')
  await dialog.getByLabel('Headless').check()
  await dialog.getByLabel('Tags').fill(`team=it's "quoted"\nenv=$(id)`)
  await dialog.getByText('Language and place').click()
  await dialog.getByLabel('Locale').fill('de-DE')
  await dialog.getByLabel('Time zone').fill('Europe/Berlin')
  await dialog.getByText('Screen', { exact: true }).click()
  await dialog.getByLabel('Width').fill('800')
  await dialog.getByLabel('Height').fill('600')
  await dialog.getByText('Recording and telemetry').click()
  await dialog.getByRole('combobox', { name: 'Telemetry' }).selectOption('on')
  await dialog.getByText('Chrome policies', { exact: true }).click()
  await dialog.getByRole('textbox', { name: 'Chrome policies' }).fill('{"BookmarkBarEnabled": false}')
  const code = dialog.getByLabel(/^The same in/)
  await dialog.getByText(`locale: 'de-DE'`).waitFor()
  assert.match((await code.textContent())!, /as object\)/)
  await dialog.getByRole('button', { name: 'Python' }).click()
  assert.match(
    (await code.textContent())!,
    /extra_body=\{\s+"locale": "de-DE",\s+"timezone": "Europe\/Berlin",\s+\}/,
  )
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL(/\/sessions\/[a-z0-9]{24}/)
  const id = page.url().split('/').at(-1)!.split('?')[0]!
  const { body } = await send<Record<string, unknown>>(server, 'GET', `/browsers/${id}`)
  assert.equal(body['name'], 'made-here')
  assert.deepEqual(body['tags'], { team: `it's "quoted"`, env: '$(id)' })
  assert.equal(body['timezone'], 'Europe/Berlin')
  assert.deepEqual(body['chrome_policy'], { BookmarkBarEnabled: false })
  assert.deepEqual(complaints, [])
})

test('a refusal is at the field that it names', async (t) => {
  const { page } = await visit(t, at('/sessions?create=true'))
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Ends after').fill('5')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.locator('[name="timeout_seconds"][aria-invalid="true"]').waitFor()
  await dialog.getByText('Must be at least 10.', { exact: true }).waitFor()
  await dialog.getByText('req_').or(dialog.getByText('Request')).first().waitFor()
})

test('of thousands of sessions only those in sight are drawn, and the last can be reached', async (t) => {
  await addPastSessions(server, { count: 1_500 })
  const { page, complaints } = await visit(t, at('/sessions?status=deleted&q=past-'))
  await page.getByText('past-1500', { exact: true }).waitFor()
  const end = page.getByText('past-1', { exact: true })
  await eventually('the last session is in sight', async () => {
    await page.locator('.table-body').evaluate((body) => body.scrollTo({ top: body.scrollHeight }))
    return end.isVisible()
  })
  assert.ok((await page.getByRole('row').count()) < 80)
  assert.deepEqual(complaints, [])
})

// The sessions of the test before are still there.
test('the box selects what was read, and a second click selects everything that matches', async (t) => {
  const running = await createSession(server, { name: 'past-running' })
  const { page } = await visit(t, at('/sessions?status=all&q=past-'))
  await page.getByText(/^\d+\+ sessions$/).waitFor()
  await page.getByLabel(/^Select the first \d+ rows$/).check()
  await page.getByRole('button', { name: 'Select all that match' }).click()
  await page.getByText('1,501 selected, 1 of them running').waitFor()
  await page.getByRole('button', { name: 'End the session' }).waitFor()
  // Another filter is another question.
  await page.getByRole('button', { name: 'Running' }).click()
  await page.getByText('selected').waitFor({ state: 'detached' })
  await page.getByText('1 session', { exact: true }).waitFor()
  await page.getByRole('row').filter({ hasText: 'past-running' }).focus()
  await page.keyboard.press('Space')
  await page.getByText('1 selected').waitFor()
  await send(server, 'DELETE', `/browsers/${running.session_id}`)
})

test('hostile names of tags are shown as text', async (t) => {
  // A tag's value is any printable text; a name of a session is not.
  const printable = hostileStrings.filter((text) => !/[\p{Cc}\p{Cs}]/u.test(text) && text.length < 200)
  const some = printable.filter((_text, index) => index % 6 === 0 || /[<>]/.test(printable[index]!))
  const tags = some.slice(0, 40).map((text, index) => [`h${index}`, text] as const)
  // A row shows two, and counts the others.
  const sessions = await Promise.all(
    tags.flatMap((tag, index) =>
      index % 2 === 0
        ? [
            createSession(server, {
              name: `hostile-${index}`,
              tags: Object.fromEntries([tag, tags[index + 1] ?? tag]),
            }),
          ]
        : [],
    ),
  )
  const { page, complaints } = await visit(t, at('/sessions?q=hostile'))
  await page.getByRole('row').filter({ hasText: 'hostile' }).first().waitFor()
  const titles = await page
    .locator('button.tag')
    .evaluateAll((all) => all.map((each) => each.getAttribute('title')))
  const expected = tags.map(([name, value]) => `Only ${name}=${value}`)
  assert.deepEqual(new Set(titles), new Set(expected))
  await page.locator('button.tag').nth(3).dispatchEvent('click')
  await page.getByRole('button', { name: /Remove the filter h/ }).waitFor()
  await page.getByRole('row').filter({ hasText: 'hostile' }).waitFor()
  assert.deepEqual(complaints, [])
  for (const { session_id: id } of sessions) await send(server, 'DELETE', `/browsers/${id}`)
})

test('a key that may only read, and a key of a project, see what they may and no more', async (t) => {
  const readOnly = await keyWith({ name: 'only-reads', scopes: ['browsers:read'] })
  const project = await send<{ id: string }>(server, 'POST', '/org/projects', { name: 'aside' })
  const ofProject = await keyWith({ name: 'of-aside', project_id: project.body.id })
  await createSession(server, { name: 'of-default' })
  await t.test('read-only', async (part) => {
    const { page } = await visit(part, at('/sessions?create=true'), { key: readOnly })
    await page.getByRole('row').filter({ hasText: 'of-default' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create a session' }).isDisabled(), true)
    assert.equal(await page.getByRole('dialog').count(), 0)
    assert.equal(await page.getByLabel('Select all rows').count(), 0)
  })
  await t.test('of a project', async (part) => {
    const { page } = await visit(part, at('/sessions'), { key: ofProject })
    await page.getByText('No session runs').waitFor()
    assert.equal(await page.getByText('of-default').count(), 0)
    assert.equal(await page.getByLabel('Project').count(), 0)
  })
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing in ${colorScheme}, in the list and in the dialog`, async (t) => {
    await createSession(server, { tags: { team: 'axe' } })
    const { page } = await visit(t, at('/sessions'), { colorScheme })
    await page.getByRole('row').filter({ hasText: 'team' }).first().waitFor()
    await assertAccessible(page, 'sessions')
    await page.getByRole('button', { name: 'Create a session' }).click()
    const dialog = page.getByRole('dialog')
    for (const fold of await dialog.locator('summary').all()) await fold.click()
    await dialog.getByRole('textbox', { name: 'Chrome policies' }).waitFor()
    await assertAccessible(page, 'the dialog')
  })
}

test('on a phone nothing is wider than the screen', async (t) => {
  await createSession(server, { name: 'x'.repeat(200) })
  const { page } = await visit(t, at('/sessions'), { viewport: PHONE })
  await page.getByRole('row').filter({ hasText: 'xxx' }).waitFor()
  const width = () => page.evaluate('document.documentElement.scrollWidth')
  assert.equal(await width(), PHONE.width)
  await page.getByRole('button', { name: 'Create a session' }).click()
  await page.getByRole('dialog').waitFor()
  assert.equal(await width(), PHONE.width)
  assert.ok(await page.getByRole('dialog').evaluate((dialog) => dialog.scrollWidth <= dialog.clientWidth))
})
