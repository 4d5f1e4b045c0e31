// Stock Playwright connects to sessions by its own protocol: files go both ways between the session and the client's disk.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { chromium, type Browser } from 'playwright-core'
import { WebSocket } from 'ws'
import { client84 } from '../client/versions.ts'
import { startServer } from '../fixtures/server.ts'
import { createSession, type Session } from '../fixtures/sessions.ts'
import { startSite } from '../fixtures/site.ts'

const fileOwner = { after }
const site = await startSite(fileOwner)
const server = await startServer(fileOwner, { hasRealInstances: true, env: site.allow })
const { browsers } = client84(server)
const folder = mkdtempSync(join(tmpdir(), 'berth-native-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const CARGO = Buffer.alloc(100_000, 7)
const UPLOAD = `<input type="file" webkitdirectory>`
const UPLOADED = `Promise.all([...document.querySelector('input').files].map(async (file) =>
  file.webkitRelativePath + ' ' + await file.text()))`
const WEBM = Buffer.from('1a45dfa3', 'hex')
const ZIP = Buffer.from('504b0304', 'hex')

const connect = ({ playwright_ws_url: url }: Session) => chromium.connect(url)
const disconnectionOf = (browser: Browser) =>
  new Promise<void>((resolve) => void browser.once('disconnected', () => resolve()))

for (const headless of [true, false]) {
  describe(headless ? 'headless' : 'headful', () => {
    test('downloads, folders, traces and videos go between the session and the disk of the client', async () => {
      const session = await createSession(server, { headless })
      const browser = await connect(session)
      const context = browser.contexts()[0]!
      const page = context.pages()[0]!
      await context.tracing.start({ screenshots: true, snapshots: true, sources: true })
      await page.goto(site.url)
      assert.equal(await page.title(), 'Home')

      const [download] = await Promise.all([page.waitForEvent('download'), page.click('#file')])
      const saved = join(folder, `${headless}-${download.suggestedFilename()}`)
      await download.saveAs(saved)
      assert.ok(readFileSync(saved).equals(CARGO), 'the saved file')
      assert.ok((await buffer(await download.createReadStream())).equals(CARGO), 'the stream')

      const hold = join(folder, `hold-${headless}`)
      mkdirSync(join(hold, 'deck'), { recursive: true })
      writeFileSync(join(hold, 'tea.txt'), 'tea')
      writeFileSync(join(hold, 'deck', 'rum.txt'), 'rum')
      await page.setContent(UPLOAD)
      await page.setInputFiles('input', hold)
      const uploaded = (await page.evaluate(UPLOADED)) as string[]
      const name = `hold-${headless}`
      assert.deepEqual(uploaded.toSorted(), [`${name}/deck/rum.txt rum`, `${name}/tea.txt tea`])

      const trace = join(folder, `trace-${headless}.zip`)
      await context.tracing.stop({ path: trace })
      assert.ok(readFileSync(trace).subarray(0, ZIP.length).equals(ZIP), 'the trace')

      const filmed = await browser.newContext({ recordVideo: { dir: folder } })
      const scene = await filmed.newPage()
      await scene.goto(site.url)
      await filmed.close()
      const video = join(folder, `video-${headless}.webm`)
      await scene.video()!.saveAs(video)
      assert.ok(readFileSync(video).subarray(0, WEBM.length).equals(WEBM), 'the video')

      const disconnected = disconnectionOf(browser)
      await browsers.deleteByID(session.session_id)
      await disconnected
    })
  })
}

test('clients are apart, and neither their end nor that of the program that serves them hurts the session', async () => {
  const session = await createSession(server)
  const [one, other] = await Promise.all([connect(session), connect(session)])
  const pageOf = (browser: typeof one) => browser.contexts()[0]!.pages()[0]!
  await pageOf(one).goto(site.url)
  await pageOf(one).evaluate('globalThis.kept = 42')
  await one.newContext()
  assert.equal(one.contexts().length, 2)
  assert.equal(other.contexts().length, 1)
  await one.close()
  assert.equal(await pageOf(other).evaluate('kept'), 42)

  const killed = disconnectionOf(other)
  // The brackets keep the shell from finding itself.
  const isProgram = `tr '\\0' ' ' < $p/cmdline 2>/dev/null | grep -q '[p]laywright.cjs serve'`
  const kill = `for p in /proc/[0-9]*; do ${isProgram} && kill -9 \${p#/proc/}; done; true`
  await browsers.process.exec(session.session_id, { command: 'sh', args: ['-c', kill] })
  await killed
  const again = await connect(session)
  assert.equal(await pageOf(again).evaluate('kept'), 42)
  await again.close()
  await browsers.deleteByID(session.session_id)
})

test('the endpoint needs its token and a version that it has, and says why a session ended', async () => {
  const session = await createSession(server)
  const { playwright_ws_url: url } = session
  await assert.rejects(
    chromium.connect(url, { headers: { 'User-Agent': 'Playwright/1.40.1 (x64) node/24.1' } }),
    /400 Bad Request[^]*serve Playwright 1\.40: this session has 1\.\d+\..*BERTH_PLAYWRIGHT_VERSIONS.*connectOverCDP/,
  )
  const token = new URL(session.cdp_ws_url).searchParams.get('jwt')!
  for (const wrong of ['', 'rubbish', token]) {
    await assert.rejects(chromium.connect(url.replace(/jwt=.*/, `jwt=${wrong}`)), /401 Unauthorized/)
  }
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const closed = once(socket, 'close') as Promise<[number, Buffer]>
  await browsers.deleteByID(session.session_id)
  const [code, reason] = await closed
  assert.deepEqual([code, reason.toString()], [4000, 'session deleted'])
  await assert.rejects(chromium.connect(url), /404 Not Found/)
})
