// What CDP cannot reach: a dialog of the toolkit, which is on the screen and not in any page.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { XConnection, type XWindow } from '../../packages/agent/src/display/x-connection.ts'
import { AgentUnderTest, HEADFUL } from '../fixtures/agent/agent-under-test.ts'
import { decodePng } from '../fixtures/decode-png.ts'
import { EventPage } from '../fixtures/agent/event-page.ts'

const WAIT_MS = 15_000
/** From the right and the bottom edge of the dialog to the middle of its button "Open". */
const OPEN_BUTTON = { right: 51, bottom: 24 }
const FILE = '/etc/os-release'

test('a file is chosen in the file dialog, by mouse and keyboard', async (t) => {
  const agent = await AgentUnderTest.start(t, { browser: HEADFUL, hasOwnTmp: true })
  await agent.ready()
  const act = async (operation: string, body: object) => {
    const answer = await agent.call('POST', `/control/computer/${operation}`, body)
    assert.equal(answer.status, 204, JSON.stringify(answer.body))
  }
  const capture = async () => {
    const { bytes } = await agent.callForBytes('POST', '/control/computer/screenshot', {})
    return decodePng(bytes)
  }
  const page = await EventPage.open(await agent.openCdp(), HEADFUL)
  await page.evaluate(`document.body.style.background = '#0a64c8'
    document.body.innerHTML = '<input type="file" id="file"> <input id="text" style="position: absolute; left: 0; top: 300px">'`)

  const x = await XConnection.open(100 + (agent.ports.devtools % 10_000))
  t.after(() => x.destroy())
  const windowsAre = async (count: number): Promise<XWindow[]> => {
    const deadline = performance.now() + WAIT_MS
    for (;;) {
      const windows = await x.visibleWindows()
      if (windows.length === count) return windows
      assert.ok(performance.now() < deadline, `${windows.length} windows`)
      await delay(20)
    }
  }
  const [browser] = await windowsAre(1)
  await act('click_mouse', page.at(30, 15))
  /** Where it is now: it finds its size and place in the moments after it is opened. */
  const findDialog = async () => (await windowsAre(2)).find(({ id }) => id !== browser!.id)!
  const isPainted = async () => {
    const { left, top, width, height } = await findDialog()
    return (await capture()).at(Math.round(left + width / 2), Math.round(top + height / 2)) !== 0x0a64c8
  }
  const deadline = performance.now() + WAIT_MS
  while (!(await isPainted())) {
    assert.ok(performance.now() < deadline, 'the dialog is never in the picture')
  }

  await act('type', { text: FILE, delay: 20 })
  const dialog = await findDialog()
  await act('click_mouse', {
    x: dialog.left + dialog.width - OPEN_BUTTON.right,
    y: dialog.top + dialog.height - OPEN_BUTTON.bottom,
  })
  await windowsAre(1)
  await page.until(`file.files[0]?.name === 'os-release'`)

  // And the page has mouse and keyboard again, some time after the dialog is gone.
  while ((await page.evaluate('document.activeElement.id')) !== 'text') {
    assert.ok(performance.now() < deadline + WAIT_MS, 'the page does not take the mouse')
    await act('click_mouse', page.at(30, 310))
  }
  await act('type', { text: 'после диалога' })
  await page.until(`text.value === 'после диалога'`)
})
