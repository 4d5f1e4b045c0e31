// The live view page in a real browser, a session of another server. The test compares the viewer's actions with what
// the watched page received.
import assert from 'node:assert/strict'
import { after, before as beforeAll, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { freePort } from '../fixtures/free-port.ts'
import { eventually } from '../fixtures/host.ts'
import { RfbClient, screenUrl } from '../fixtures/rfb.ts'
import { startServer, tempDir, type TestServer } from '../fixtures/server.ts'
import { createSession, send, type Session } from '../fixtures/sessions.ts'

const fileOwner = { after }
const SIZE = { width: 1024, height: 768 }
const MAX_VIEWERS = 3
const pictures = process.env['LIVE_VIEW_PICTURES']

/** Records its events, and shows a colour. */
const REMOTE_PAGE = `<!doctype html><meta charset="utf-8"><title>Remote</title>
  <style>
    html { background: #2266cc; height: 4000px }
    body { margin: 0; font: 16px sans-serif; color: white }
    input { position: fixed; left: 100px; top: 200px; width: 300px; height: 40px; font-size: 16px }
    #button { position: fixed; left: 100px; top: 300px; width: 200px; height: 80px }
    #text { position: fixed; left: 100px; top: 420px }
  </style>
  <input id="input"><button id="button">Press</button><p id="text">Copied from the session: 漢字</p>
  <script>
    window.seen = []
    const note = (event) => seen.push(event.type + ' ' + (event.key ?? event.button ?? '') + (event.target.id ? ' #' + event.target.id : ''))
    for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'keydown']) addEventListener(type, note, true)
    addEventListener('contextmenu', (event) => event.preventDefault())
  </script>`

interface Watched {
  readonly session: Session
  readonly browser: Browser
  readonly page: Page
}

let server: TestServer
let viewers: TestServer
let viewerBrowser: Browser
const port = await freePort()
const dataDir = tempDir(fileOwner)
const env = {
  BERTH_PORT: String(port),
  BERTH_MAX_VIEWERS: String(MAX_VIEWERS),
  BERTH_ALLOWED_HOSTS: 'host.berth.internal',
  BERTH_LOG_LEVEL: 'debug',
}

beforeAll(async () => {
  ;[server, viewers] = await Promise.all([
    startServer(fileOwner, { hasRealInstances: true, dataDir, env }),
    startServer(fileOwner, {
      hasRealInstances: true,
      env: { BERTH_EGRESS_ALLOW: `host.berth.internal:${port}` },
    }),
  ])
  const { cdp_ws_url } = await createSession(viewers, { headless: true })
  viewerBrowser = await chromium.connectOverCDP(cdp_ws_url)
})

/** The URL as a session reaches this machine, under another name. */
const fromSession = (url: string) => url.replace('127.0.0.1', 'host.berth.internal')

async function watched(options: object = {}): Promise<Watched> {
  const session = await createSession(server, {
    headless: false,
    kiosk_mode: true,
    viewport: SIZE,
    ...options,
  })
  const browser = await chromium.connectOverCDP(session.cdp_ws_url)
  const page = browser.contexts()[0]!.pages()[0]!
  await page.setContent(REMOTE_PAGE)
  return { session, browser, page }
}

async function end({ session, browser }: Watched): Promise<void> {
  await browser.close()
  await send(server, 'DELETE', `/browsers/${session.session_id}`)
}

async function openView(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await viewerBrowser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  await page.goto(fromSession(url))
  return page
}

async function connected(page: Page): Promise<Page> {
  await page.locator('body[data-state="connected"]').waitFor({ state: 'attached', timeout: 15_000 })
  return page
}

/** Where a point of the session's screen is on the viewer page. */
async function place(view: Page, x: number, y: number): Promise<{ x: number; y: number }> {
  const box = (await view.locator('#screen canvas').boundingBox())!
  return { x: box.x + (x * box.width) / SIZE.width, y: box.y + (y * box.height) / SIZE.height }
}

async function clickAt(view: Page, x: number, y: number, options: object = {}): Promise<void> {
  const at = await place(view, x, y)
  await view.mouse.click(at.x, at.y, options)
}

/** The colour shown away from the middle, where the pointer is. */
const colour = (view: Page) =>
  view.evaluate(`(() => {
    const canvas = document.querySelector('#screen canvas')
    const { data } = canvas.getContext('2d').getImageData(canvas.width * 0.7, canvas.height * 0.7, 1, 1)
    return [...data.slice(0, 3)]
  })()`) as Promise<number[]>

/** As close as a lossy picture gets. */
async function showsColour(view: Page, wanted: readonly number[]): Promise<void> {
  let found: number[] = []
  const isNear = async () => {
    found = await colour(view)
    return found.every((value, index) => Math.abs(value - wanted[index]!) <= 8)
  }
  await eventually(`the view is ${wanted.join()}`, isNear).catch((error: unknown) => {
    throw new Error(`The view is ${found.join()}`, { cause: error })
  })
}

const seen = (page: Page) => page.evaluate('seen.splice(0)') as Promise<string[]>

async function picture(view: Page, name: string): Promise<void> {
  if (pictures) await view.screenshot({ path: `${pictures}/${name}.png` })
}

const closeView = (view: Page) => view.context().close()

describe('a headful session in the live view', () => {
  let remote: Watched
  let url: string

  beforeAll(async () => {
    remote = await watched()
    url = remote.session.browser_live_view_url!
  })
  after(() => end(remote))

  const read = (name: string) => {
    const path = encodeURIComponent(`/home/kernel/Downloads/${name}`)
    return server.fetch(`/browsers/${remote.session.session_id}/fs/read_file?path=${path}`)
  }

  test('can be seen, clicked, typed into and scrolled', async () => {
    const view = await connected(await openView(url))
    await showsColour(view, [34, 102, 204])
    await picture(view, 'desktop')

    await clickAt(view, 200, 340)
    await eventually('the click is seen', async () => (await remote.page.evaluate('seen.length')) === 3)
    assert.deepEqual(await seen(remote.page), ['mousedown 0 #button', 'mouseup 0 #button', 'click 0 #button'])
    await clickAt(view, 200, 340, { button: 'right' })
    // Two clicks are a double click if they arrive within half a second; a busy machine may miss that once.
    await eventually('the double click is seen', async () => {
      await clickAt(view, 200, 340, { clickCount: 2 })
      return (await remote.page.evaluate<string[]>('seen')).includes('dblclick 0 #button')
    })
    assert.ok((await seen(remote.page)).includes('contextmenu 2 #button'))

    await clickAt(view, 200, 220)
    await view.keyboard.type('Ahoy, @Berth! 123')
    await view.keyboard.press('Backspace')
    await view.keyboard.press('Home')
    await view.keyboard.type('>')
    const value = () => remote.page.inputValue('#input')
    await eventually('the text is there', async () => (await value()) === '>Ahoy, @Berth! 12')

    const at = await place(view, 700, 600)
    await view.mouse.move(at.x, at.y)
    for (let turns = 0; turns < 5; turns++) await view.mouse.wheel(0, 100)
    await eventually('the page is scrolled', async () => {
      return (await remote.page.evaluate<number>('scrollY')) > 200
    })
    await closeView(view)
  })

  test('accepts pasted text, and returns copied text', async () => {
    const view = await connected(await openView(url))
    await remote.page.evaluate("input.value = ''")
    await clickAt(view, 200, 220)
    const text = 'über die Brücke, 漢字 🙂'
    await view.evaluate(`(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', ${JSON.stringify(text)})
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.activeElement.dispatchEvent(event)
    })()`)
    await eventually('it is pasted', async () => (await remote.page.inputValue('#input')) === text)

    const copied = () => view.inputValue('#clipboard-text')
    const onDevice = () => view.evaluate<string[]>('written')
    await view.evaluate(`(() => {
      globalThis.written = []
      const writeText = (text) => (written.push(text), Promise.resolve())
      Object.defineProperty(navigator, 'clipboard', { value: { writeText } })
    })()`)
    await send(server, 'POST', `/browsers/${remote.session.session_id}/computer/clipboard/write`, {
      text: 'nobody asked for this',
    })
    await eventually('the panel has it', async () => (await copied()) === 'nobody asked for this')
    assert.deepEqual(await onDevice(), [], 'only the panel has what the viewer did not copy')

    await remote.page.evaluate("getSelection().selectAllChildren(document.querySelector('#text'))")
    await view.keyboard.press('Control+c')
    await eventually('it is copied', async () => (await copied()) === 'Copied from the session: 漢字')
    assert.deepEqual(await onDevice(), ['Copied from the session: 漢字'])
    await view.click('#clipboard')
    await picture(view, 'clipboard')
    await closeView(view)
  })

  test('accepts files as downloads, and none replaces another', async () => {
    const view = await connected(await openView(url))
    for (const content of ['one', 'two']) {
      await view.setInputFiles('#files', {
        name: 'cargo list.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from(content),
      })
      await eventually('it is there', async () => (await read('cargo list.txt')).status === 200)
    }
    await picture(view, 'upload')
    await eventually('both are there', async () => (await read('cargo list (1).txt')).status === 200)
    assert.equal(await (await read('cargo list.txt')).text(), 'one')
    assert.equal(await (await read('cargo list (1).txt')).text(), 'two')
    await closeView(view)
  })

  test('works on a phone: by touch, and with its keyboard', async () => {
    const phone = {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 3,
      hasTouch: true,
      isMobile: true,
    }
    const view = await connected(await openView(url, phone))
    await remote.page.evaluate(
      "scrollTo(0, 0); input.value = ''; seen.length = 0; document.activeElement.blur()",
    )
    const at = await place(view, 200, 340)
    await view.touchscreen.tap(at.x, at.y)
    await eventually('the tap is a click', async () => {
      return (await remote.page.evaluate<string[]>('seen')).includes('click 0 #button')
    })
    // Within a second and so close to the first, it would be a double tap.
    await pause(1_100)
    const field = await place(view, 200, 220)
    await view.touchscreen.tap(field.x, field.y)
    await eventually('the field has the focus', async () => {
      return (await remote.page.evaluate('document.activeElement.id')) === 'input'
    })
    await view.locator('#keyboard').dispatchEvent('pointerdown')
    await view.keyboard.insertText('von unterwegs')
    await view.keyboard.press('Backspace')
    const value = () => remote.page.inputValue('#input')
    await eventually('the text is there', async () => (await value()) === 'von unterweg')
    await picture(view, 'phone')
    await closeView(view)
    const sideways = await connected(await openView(url, { ...phone, viewport: { width: 844, height: 390 } }))
    await picture(sideways, 'phone-sideways')
    await closeView(sideways)
  })

  test('is read-only where requested, whatever the viewer sends', async () => {
    const readOnly = await send<{ url: string; mode: string }>(
      server,
      'POST',
      `/browsers/${remote.session.session_id}/live_view_links`,
      { mode: 'read_only', expires_in_seconds: 60 },
    )
    assert.equal(readOnly.status, 201)
    assert.equal(readOnly.body.mode, 'read_only')
    await remote.page.evaluate("scrollTo(0, 0); input.value = ''; input.focus(); seen.length = 0")

    for (const address of [`${url}&readOnly=true`, readOnly.body.url]) {
      const view = await connected(await openView(address))
      assert.ok(await view.isVisible('#badge'))
      assert.equal(await view.locator('#clipboard, #upload, #keyboard').count(), 0)
      await clickAt(view, 200, 340)
      await view.keyboard.type('x')
      if (address !== readOnly.body.url) await picture(view, 'read-only')
      await closeView(view)
    }
    const raw = [
      screenUrl(url, '&readOnly=1'),
      screenUrl(url, '&readonly=yes'),
      screenUrl(url, '&ro=TRUE'),
      screenUrl(readOnly.body.url),
      screenUrl(readOnly.body.url, '&readOnly=false'),
    ]
    for (const address of raw) {
      const viewer = await RfbClient.overWebSocket(address)
      await eventually('it sees', () => viewer.updates > 0)
      viewer.click(200, 340)
      viewer.key(0x61)
      viewer.send([255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 30])
      viewer.cutText('from a viewer')
      viewer.send(Buffer.concat([Buffer.from([251, 0, 1, 64, 0, 240, 1, 0]), Buffer.alloc(16)]))
      // Answered after all of it was read.
      const before = viewer.updates
      viewer.requestUpdate({ isIncremental: false })
      await eventually('it sees on', () => viewer.updates > before)
      assert.deepEqual(viewer.resizes, [])
      await viewer.close()
    }
    const upload = readOnly.body.url.replace('/live?', '/live/files?name=x&')
    assert.equal((await fetch(upload, { method: 'POST', body: 'x' })).status, 403)
    assert.equal(
      (
        await fetch(upload.replace(/jwt=.*/, `jwt=${new URL(url).searchParams.get('jwt')}&ro=1`), {
          method: 'POST',
          body: 'x',
        })
      ).status,
      403,
    )

    // The same from a viewer with control, to prove that the test would notice.
    const able = await RfbClient.overWebSocket(screenUrl(url))
    able.click(200, 340)
    await eventually('a click comes through', async () => {
      return (await remote.page.evaluate<string[]>('seen')).includes('click 0 #button')
    })
    await able.close()
    assert.deepEqual(await seen(remote.page), ['mousedown 0 #button', 'mouseup 0 #button', 'click 0 #button'])
    assert.equal(await remote.page.inputValue('#input'), '')
    const clipboard = await send<{ text: string }>(
      server,
      'POST',
      `/browsers/${remote.session.session_id}/computer/clipboard/read`,
    )
    assert.doesNotMatch(clipboard.body.text, /from a viewer/)
  })

  test('does not send the clipboard to read-only viewers', async () => {
    const [watching, using] = [
      await RfbClient.overWebSocket(screenUrl(url, '&readOnly=true'), { encodings: [7] }),
      await RfbClient.overWebSocket(screenUrl(url), { encodings: [7] }),
    ]
    await eventually('both see', () => watching.updates > 0 && using.updates > 0)
    await send(server, 'POST', `/browsers/${remote.session.session_id}/computer/clipboard/write`, {
      text: 'a secret of the session',
    })
    await eventually('who uses it is told', () => using.cutTexts.includes('a secret of the session'))
    const inHex = Buffer.from('secret').toString('hex')
    assert.ok(!watching.cutTexts.some((text) => text.includes('secret') || text.includes(inHex)))
    await Promise.all([watching.close(), using.close()])
  })

  test('can be watched by several viewers, up to the limit', async () => {
    const all = await Promise.all(
      Array.from({ length: MAX_VIEWERS }, () => RfbClient.overWebSocket(screenUrl(url))),
    )
    await eventually('all see', () => all.every(({ updates }) => updates > 0))
    await assert.rejects(RfbClient.overWebSocket(screenUrl(url)), { status: 429 })
    const view = await openView(url)
    await view.waitForSelector('text=Too many people are watching')
    await picture(view, 'too-many')
    await all[0]!.close()
    await connected(view)
    await closeView(view)
    await Promise.all(all.slice(1).map((viewer) => viewer.close()))
  })

  test('keeps its size while it is watched, unless forced', async () => {
    const path = `/browsers/${remote.session.session_id}`
    const view = await connected(await openView(url))
    const viewport = { width: 800, height: 600 }
    const refused = await send(server, 'PATCH', path, { viewport })
    assert.equal(refused.status, 409)
    assert.match(refused.body.message!, /live view is open/)
    assert.equal((await send(server, 'PATCH', path, { viewport: SIZE })).status, 200)
    assert.equal((await send(server, 'PATCH', path, { viewport: { ...viewport, force: true } })).status, 200)
    const size = '(({ width, height }) => `${width}x${height}`)(document.querySelector("#screen canvas"))'
    await eventually('the page shows it', async () => (await view.evaluate(size)) === '800x600')
    await closeView(view)
    await eventually('nobody is left', async () => {
      return (await send(server, 'PATCH', path, { viewport: SIZE })).status === 200
    })
  })

  test('costs almost nothing while it is still', async () => {
    await remote.page.evaluate('document.activeElement.blur()')
    const viewer = await RfbClient.overWebSocket(screenUrl(url), { isContinuous: true })
    await eventually('it sees', () => viewer.updates > 0)
    let before = -1
    await eventually('all is shown', async () => {
      const isStill = viewer.bytes === before
      before = viewer.bytes
      await pause(300)
      return isStill
    })
    await pause(2_000)
    assert.ok(viewer.bytes - before < 2_048, `${viewer.bytes - before} bytes in two seconds`)
    await viewer.close()
  })
})

test('a headless session can be watched and used only by a link', async () => {
  const remote = await watched({ headless: true, kiosk_mode: false })
  assert.equal(remote.session.browser_live_view_url, undefined)
  const link = (body: object) =>
    send<{ url: string; expires_at: string; mode: string }>(
      server,
      'POST',
      `/browsers/${remote.session.session_id}/live_view_links`,
      body,
    )
  const { body: control } = await link({ mode: 'control', expires_in_seconds: 120 })
  const lifeMs = Date.parse(control.expires_at) - Date.now()
  assert.ok(lifeMs > 110_000 && lifeMs <= 120_000, control.expires_at)
  const view = await connected(await openView(control.url))
  await showsColour(view, [34, 102, 204])
  await picture(view, 'headless')
  await clickAt(view, 200, 340)
  await eventually('the click is seen', async () => (await remote.page.evaluate('seen.length')) === 3)
  assert.deepEqual(await seen(remote.page), ['mousedown 0 #button', 'mouseup 0 #button', 'click 0 #button'])
  await clickAt(view, 200, 220)
  await view.keyboard.type('Ahoy, Berth!')
  const value = () => remote.page.inputValue('#input')
  await eventually('the text is there', async () => (await value()) === 'Ahoy, Berth!')
  const at = await place(view, 700, 600)
  await view.mouse.move(at.x, at.y)
  await view.mouse.wheel(0, 600)
  await eventually('the page is scrolled', async () => {
    return (await remote.page.evaluate<number>('scrollY')) > 100
  })

  // Another tab comes to the front, and into view.
  const second = await remote.browser.contexts()[0]!.newPage()
  await second.setContent('<style>html { background: #118833 }</style>')
  await second.bringToFront()
  await showsColour(view, [17, 136, 51])
  await second.close()

  const { body: watching } = await link({})
  assert.equal(watching.mode, 'read_only')
  await remote.page.evaluate('seen.length = 0')
  const viewer = await RfbClient.overWebSocket(screenUrl(watching.url))
  await eventually('it sees', () => viewer.updates > 0)
  viewer.click(200, 340)
  viewer.key(0x61)
  const before = viewer.updates
  viewer.requestUpdate({ isIncremental: false })
  await eventually('it sees on', () => viewer.updates > before)
  await viewer.close()
  await clickAt(view, 200, 340)
  await eventually('the other click is seen', async () => (await remote.page.evaluate('seen.length')) === 3)
  await closeView(view)
  await end(remote)
})

test('a link is valid for its time, and then disconnects its viewers', async () => {
  const remote = await watched()
  const { body } = await send<{ url: string; expires_at: string }>(
    server,
    'POST',
    `/browsers/${remote.session.session_id}/live_view_links`,
    { expires_in_seconds: 10 },
  )
  const view = await connected(await openView(body.url))
  const viewer = await RfbClient.overWebSocket(screenUrl(body.url))
  const closing = await viewer.closed
  assert.deepEqual(closing, { code: 4006, reason: 'link expired' })
  assert.ok(Math.abs(Date.now() - Date.parse(body.expires_at)) < 1_500)
  await view.waitForSelector('text=This link has expired')
  await picture(view, 'expired')
  await assert.rejects(RfbClient.overWebSocket(screenUrl(body.url)), { status: 401 })
  await closeView(view)
  const again = await openView(body.url)
  await again.waitForSelector('text=This link does not work')
  await closeView(again)
  await end(remote)
})

test('the page shows the end of the session, and reconnects when the server returns', async () => {
  const remote = await watched({ timeout_seconds: 300 })
  const url = remote.session.browser_live_view_url!
  const view = await connected(await openView(url))
  await remote.browser.close()
  await server.stop('SIGTERM')
  await view.waitForSelector('text=Reconnecting')
  await picture(view, 'reconnecting')
  server = await startServer(fileOwner, { hasRealInstances: true, dataDir, env })
  await connected(view)
  await showsColour(view, [34, 102, 204])

  await send(server, 'DELETE', `/browsers/${remote.session.session_id}`)
  await view.waitForSelector('text=The session has ended')
  assert.match((await view.textContent('#notice-text'))!, /deleted/)
  await picture(view, 'ended')
  await view.reload()
  await view.waitForSelector('text=The session has ended')
  await closeView(view)
})

test('any other page can embed it', async () => {
  const remote = await watched()
  const answer = await fetch(remote.session.browser_live_view_url!, {
    headers: { accept: 'text/html' },
  })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
  assert.doesNotMatch(answer.headers.get('content-security-policy')!, /frame-ancestors/)
  assert.equal(answer.headers.get('x-frame-options'), null)
  const context = await viewerBrowser.newContext({ viewport: { width: 1000, height: 700 } })
  const page = await context.newPage()
  const url = fromSession(`${remote.session.browser_live_view_url!}&readOnly=true`)
  await page.setContent(
    `<style>body{margin:40px;background:#eee}</style><iframe width="900" height="560" src="${url}"></iframe>`,
  )
  const frame = page.frameLocator('iframe')
  await frame.locator('body[data-state="connected"]').waitFor({ state: 'attached', timeout: 15_000 })
  await picture(page, 'embedded')
  await context.close()
  await end(remote)
})

test('no token is in the log', async () => {
  const log = server.output()
  assert.doesNotMatch(log, /eyJ[\w-]+\.[\w-]+\.[\w-]{20}/)
})
