// The extension that saves a session, in a real Chromium of the person, and Berth with the file.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { chromium } from 'playwright-core'
import { importRequestOf } from '@berth/contracts/session-file'
import type { ImportSessionResponse } from '@berth/contracts/session-import'
import { connect, reaches } from '../fixtures/auth-connections.ts'
import { cleanUpAfter } from '../fixtures/cleanup.ts'
import { BROWSER_ARGS, startZoo } from '../fixtures/login-zoo/zoo.ts'
import { startServer, tempDir } from '../fixtures/server.ts'
import { send } from '../fixtures/sessions.ts'

const owner = { after }
const MAX_MS = 120_000
const EXTENSION = join(import.meta.dirname, '../../extensions/save-session')

/** Chromium derives it from the path. */
const EXTENSION_ID = createHash('sha256')
  .update(EXTENSION)
  .digest('hex')
  .slice(0, 32)
  .replaceAll(/./g, (digit) => String.fromCodePoint(97 + Number.parseInt(digit, 16)))

const zoo = await startZoo(owner)
const server = await startServer(owner, { hasRealInstances: true, env: zoo.allow })

for (const name of ['session-cookies', 'local-storage']) {
  test(`${name}: the file that the extension saves starts a connection`, { timeout: 240_000 }, async (t) => {
    const site = zoo.site(name)
    const context = await chromium.launchPersistentContext(tempDir(t), {
      executablePath: '/usr/bin/chromium',
      channel: 'chromium',
      acceptDownloads: true,
      args: [...BROWSER_ARGS, `--disable-extensions-except=${EXTENSION}`, `--load-extension=${EXTENSION}`],
    })
    cleanUpAfter(t, () => context.close())
    const page = context.pages()[0]!
    await page.goto(site.loginUrl ?? site.url)
    await site.description.walk(page, site.person(site.description.variants[0]!))
    await page.waitForSelector('text=/log ?out|sign out/i')

    const popup = await context.newPage()
    await popup.goto(`chrome-extension://${EXTENSION_ID}/popup.html`)
    await popup.fill('#domain', site.host)
    const [download] = await Promise.all([popup.waitForEvent('download'), popup.click('#save')])
    assert.equal(download.suggestedFilename(), `${site.host}.session.json`)
    const text = await readFile(await download.path(), 'utf8')

    const { id } = await connect(server, site.domain)
    const answer = await send<ImportSessionResponse>(
      server,
      'POST',
      `/auth/connections/${id}/import`,
      importRequestOf(text),
    )
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.ok(answer.body.cookies + answer.body.origins > 0)
    assert.equal((await reaches(server, id, 'SUCCESS', MAX_MS)).status, 'AUTHENTICATED')
  })
}
