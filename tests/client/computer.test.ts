// The resource `computer` in each version of the published client, on real sessions.
// packages/agent/src/control/computer tests the details that a page sees.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { decodePng } from '../fixtures/decode-png.ts'
import { withCdp, type CdpClient } from '../fixtures/cdp.ts'
import { eventually } from '../fixtures/host.ts'
import { startServer } from '../fixtures/server.ts'
import { client55, client70, client84 } from './versions.ts'

const PAGE = `<!doctype html><title>Field</title><style>body { margin: 0; height: 4000px; background: #0a64c8 }
  textarea { position: absolute; left: 100px; top: 100px; width: 500px; height: 200px }</style>
  <textarea></textarea><script>
    const field = document.querySelector('textarea')
    window.seen = []
    for (const kind of ['mousedown', 'mouseup', 'wheel', 'keydown']) addEventListener(kind, (event) => seen.push(
      [kind, event.clientX ?? event.key, event.shiftKey, event.isTrusted].join()), true)
  </script>`

const server = await startServer({ after }, { hasRealInstances: true })
const versions = { '0.55.0': client55, '0.70.0': client70, '0.84.0': client84 }
const { browsers } = client84(server)
const sessions = {
  headful: await browsers.create({ viewport: { width: 1280, height: 720 }, timeout_seconds: 600 }),
  headless: await browsers.create({
    headless: true,
    viewport: { width: 1280, height: 720 },
    timeout_seconds: 600,
  }),
}

for (const [kind, session] of Object.entries(sessions)) {
  const id = session.session_id
  const onPage = <T>(work: (cdp: CdpClient) => Promise<T>) => withCdp(session.cdp_ws_url, work)

  /** Where the page begins on the screen. */
  async function openPage(): Promise<{ left: number; top: number }> {
    return onPage(async (cdp) => {
      await cdp.callPage('Page.navigate', { url: `data:text/html;charset=utf-8,${encodeURIComponent(PAGE)}` })
      await becomes(cdp, 'document.title + document.readyState', 'Fieldcomplete')
      // Chromium sends input to the visible page, which may still be the previous one.
      const isOnScreen = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'
      await cdp.callPage('Runtime.evaluate', { expression: isOnScreen, awaitPromise: true })
      return cdp.evaluate('({ left: outerWidth - innerWidth, top: outerHeight - innerHeight })')
    })
  }

  for (const [version, newClient] of Object.entries(versions)) {
    describe(`client ${version} on a ${kind} session`, () => {
      const { computer } = newClient(server).browsers

      test('uses mouse, keyboard, screen and clipboard', async () => {
        const { left, top } = await openPage()
        const at = (x: number, y: number) => ({ x: left + x, y: top + y })
        await computer.clickMouse(id, { ...at(300, 200), hold_keys: ['shift'] })
        await computer.typeText(id, { text: 'Ahoi, 世界 👋', delay: 0 })
        await computer.pressKey(id, { keys: ['ctrl+a', 'ctrl+c'] })
        // The browser copies asynchronously; the answer only says that the keys were pressed.
        await eventually(
          'it is copied',
          async () => (await computer.readClipboard(id)).text === 'Ahoi, 世界 👋',
        )
        await computer.writeClipboard(id, { text: 'Grüße' })
        await computer.pressKey(id, { keys: ['Ctrl+v'] })
        await onPage((cdp) => becomes(cdp, 'field.value', 'Grüße'))

        await computer.moveMouse(id, { ...at(700, 400), duration_ms: 60 })
        assert.deepEqual(await computer.getMousePosition(id), at(700, 400))
        const path = [Object.values(at(700, 400)), Object.values(at(800, 450))]
        await computer.dragMouse(id, { path, smooth: false, step_delay_ms: 1 })
        await onPage((cdp) => becomes(cdp, `seen.includes('mouseup,800,false,true')`, true))
        await computer.scroll(id, { ...at(700, 400), delta_y: 2 })
        await onPage((cdp) => becomes(cdp, 'scrollY > 100', true))
        assert.deepEqual(await computer.setCursorVisibility(id, { hidden: true }), { ok: true })

        const picture = decodePng(await bytesOf(computer.captureScreenshot(id)))
        assert.deepEqual([picture.width, picture.height], [1280, 720])
        assert.equal(picture.at(left + 900, top + 500), 0x0a64c8)
        const region = { ...at(900, 500), width: 20, height: 10 }
        const part = decodePng(await bytesOf(computer.captureScreenshot(id, { region })))
        assert.deepEqual([part.width, part.height, part.at(19, 9)], [20, 10, 0x0a64c8])
      })

      test('runs a batch, and reports where it failed', async () => {
        const { left, top } = await openPage()
        await computer.batch(id, {
          actions: [
            { type: 'click_mouse', click_mouse: { x: left + 300, y: top + 200 } },
            { type: 'type_text', type_text: { text: 'one' } },
            { type: 'sleep', sleep: { duration_ms: 10 } },
            { type: 'press_key', press_key: { keys: ['Return'] } },
            { type: 'type_text', type_text: { text: 'two' } },
            { type: 'set_cursor', set_cursor: { hidden: false } },
          ],
        })
        await onPage((cdp) => becomes(cdp, 'field.value', 'one\ntwo'))
        const failing = computer.batch(id, {
          actions: [
            { type: 'press_key', press_key: { keys: ['x'] } },
            { type: 'scroll', scroll: { x: 5_000, y: 1, delta_y: 1 } },
          ],
        })
        const message = 'actions[1] (scroll): coordinates exceed screen bounds (max: 1280x720)'
        await assert.rejects(failing, { status: 400, message: `400 ${message}` })
        await onPage((cdp) => becomes(cdp, 'field.value', 'one\ntwox'))
      })
    })
  }
}

test('the session token is enough below base_url', async () => {
  const { base_url, cdp_ws_url } = sessions.headless
  const jwt = new URL(cdp_ws_url).searchParams.get('jwt')!
  const answer = await fetch(`${base_url}/computer/get_mouse_position?jwt=${jwt}`, { method: 'POST' })
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys((await answer.json()) as object), ['x', 'y'])
})

async function becomes(cdp: CdpClient, expression: string, wanted: unknown): Promise<void> {
  const deadline = performance.now() + 10_000
  let value: unknown
  do value = await cdp.evaluate(expression).catch(() => undefined)
  while (value !== wanted && performance.now() < deadline)
  assert.equal(value, wanted, expression)
}

async function bytesOf(answer: Promise<{ arrayBuffer(): Promise<ArrayBuffer> }>): Promise<Buffer> {
  return Buffer.from(await (await answer).arrayBuffer())
}
