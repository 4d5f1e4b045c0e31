// Apps in the dashboard, from a dropped archive to an answer, with a real build and real instances.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { tinyApp, zipOf } from '../fixtures/apps.ts'
import { startGitServer } from '../fixtures/git-server.ts'
import { startServer } from '../fixtures/server.ts'
import { assertAccessible, signIn, startBrowser } from './person.ts'

const owner = { after }
const repository = await startGitServer(owner, {
  branch: 'main',
  files: Object.fromEntries(
    Object.entries(tinyApp('from-git', { hello: '() => "hello"' })).map(([name, text]) => [
      `app/${name}`,
      text,
    ]),
  ),
})
const server = await startServer(owner, {
  hasRealInstances: true,
  env: { BERTH_APP_INVOCATION_MEMORY_MB: '128', BERTH_EGRESS_ALLOW: repository.allow },
})
const browser = await startBrowser(owner)
const BUILD = { timeout: 180_000 }

const hostile = '<img src=x onerror=alert(1)>'
const archive = zipOf(
  tinyApp('greeter', {
    greet: `async (context, { name }) => { console.log(${JSON.stringify(hostile)}); return { hello: name } }`,
    wait: '() => new Promise((resolve) => { console.log("at anchor"); setTimeout(resolve, 600000) })',
  }),
)

async function drop(page: Page, name: string, content: Buffer): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const transfer = new DataTransfer()
      const bytes = Uint8Array.from(atob('${content.toString('base64')}'), (each) => each.charCodeAt(0))
      transfer.items.add(new File([bytes], '${name}')); return transfer })()`,
  )
  await page.locator('.drop-zone').dispatchEvent('drop', { dataTransfer: transfer })
}

test('an app is deployed by dropping a zip, invoked with a payload, followed and cancelled', async () => {
  const { page, complaints } = await signIn(browser, { ...server, path: '/apps' })
  await page.getByText('No apps yet').waitFor()
  await page.getByRole('button', { name: 'Deploy' }).click()
  const dialog = page.getByRole('dialog')
  await drop(page, 'app.zip', archive)
  await dialog.getByText('app.zip').waitFor()
  await dialog.getByLabel('Entry point').fill('index.js')
  await dialog.getByLabel('Version (optional)').fill('v1')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.getByLabel('Name 1').fill('GREETING')
  await dialog.getByLabel('Value of GREETING').fill('a-secret-value')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  // The page goes on to the log of the build.
  await page.waitForURL(/deployment=/, BUILD)
  await dialog.getByRole('log').getByText('greeter v1 can do: greet, wait').waitFor(BUILD)
  await dialog.getByText('Ready', { exact: true }).waitFor()
  await assertAccessible(page, 'a deployment')
  await page.keyboard.press('Escape')
  await page.getByRole('row').filter({ hasText: 'greeter' }).click()
  await page.getByRole('heading', { level: 1, name: 'greeter' }).waitFor()
  await page.getByText('GREETING').waitFor()

  await page.getByRole('button', { name: 'greet', exact: true }).click()
  const editor = dialog.getByRole('textbox', { name: 'Payload' })
  await editor.fill('{"name": ')
  await dialog.getByText('Not JSON').waitFor()
  assert.equal(await dialog.getByRole('button', { name: 'Invoke' }).isDisabled(), true)
  await editor.fill('{"name": "you"}')
  await dialog.getByRole('button', { name: 'Invoke' }).click()
  await dialog.getByText('Succeeded', { exact: true }).waitFor(BUILD)
  await dialog.getByRole('log').getByText(hostile).waitFor()
  assert.match(await dialog.getByLabel('Result', { exact: true }).innerText(), /"hello": "you"/)
  await assertAccessible(page, 'an invocation')
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'wait', exact: true }).click()
  await dialog.getByRole('button', { name: 'Invoke' }).click()
  await dialog.getByRole('log').getByText('at anchor').waitFor(BUILD)
  await dialog.getByRole('button', { name: 'Cancel the invocation' }).click()
  await dialog.getByText('Failed', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('State').selectOption('succeeded')
  await page.waitForURL(/status=succeeded/)
  // Until the answer comes, the rows of before stay; both name the app.
  await page.getByRole('row').filter({ hasText: 'wait' }).waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'greet' }).waitFor()
  assert.ok(!(await page.content()).includes('a-secret-value'))
  assert.deepEqual(complaints, [])
})

test('a repository is deployed at a branch, and what is wrong with it stands at its field', async () => {
  const { page } = await signIn(browser, { ...server, path: '/apps?deploy=true' })
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Git repository' }).click()
  await dialog.getByLabel('Repository').fill('git@github.com:owner/name.git')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog.locator('[name="source.url"][aria-invalid="true"]').waitFor()
  await dialog.getByLabel('Repository').fill(repository.url)
  await dialog.getByLabel('Branch, tag or commit').fill('main')
  await dialog.getByLabel('Folder of the app').fill('app')
  await dialog.getByLabel('Entry point').fill('index.js')
  await assertAccessible(page, 'a deployment from a repository')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog.getByText('Ready', { exact: true }).waitFor(BUILD)
  await dialog.getByRole('link', { name: repository.url }).waitFor()
})

test('a build that fails shows its log and the reason', async () => {
  const { page } = await signIn(browser, { ...server, path: '/apps?deploy=true' })
  const dialog = page.getByRole('dialog')
  await drop(page, 'bad.zip', zipOf({ 'index.js': 'throw new Error("it is broken")' }))
  await dialog.getByLabel('Entry point').fill('index.js')
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog.getByText('Failed', { exact: true }).waitFor(BUILD)
  await dialog.getByRole('log').getByText('it is broken').first().waitFor()
})
