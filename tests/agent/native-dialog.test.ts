// A native file dialog: it is on the screen but in no page, so CDP cannot reach it.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { XConnection, type XWindow } from '../../packages/agent/src/display/x-connection.ts'
import { AgentUnderTest, HEADFUL } from '../fixtures/agent/agent-under-test.ts'
import { decodePng } from '../fixtures/decode-png.ts'
import { EventPage } from '../fixtures/agent/event-page.ts'

const WAIT_MS = 15_000
/** Distances from the right and bottom edges of the dialog to the middle of its button "Open". */
const OPEN_BUTTON = { right: 51, bottom: 24 }
const FILE = '/etc/os-release'

test('mouse and keyboard can choose a file in the file dialog', async (t) => {
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
  /** Reads its current place each time, because it still changes shortly after it opens. */
  const findDialog = async () => (await windowsAre(2)).find(({ id }) => id !== browser!.id)!
  const isPainted = async () => {
    const { left, top, width, height } = await findDialog()
    return (await capture()).at(Math.round(left + width / 2), Math.round(top + height / 2)) !== 0x0a64c8
  }
  const deadline = performance.now() + WAIT_MS
  while (!(await isPainted())) {
    assert.ok(performance.now() < deadline, 'the dialog was not painted in time')
  }

  await act('type', { text: FILE, delay: 20 })
  const dialog = await findDialog()
  await act('click_mouse', {
    x: dialog.left + dialog.width - OPEN_BUTTON.right,
    y: dialog.top + dialog.height - OPEN_BUTTON.bottom,
  })
  await windowsAre(1)
  await page.until(`file.files[0]?.name === 'os-release'`)

  // Some time after the dialog closes, the page gets mouse and keyboard again.
  while ((await page.evaluate('document.activeElement.id')) !== 'text') {
    assert.ok(performance.now() < deadline + WAIT_MS, 'the page did not get the mouse again in time')
    await act('click_mouse', page.at(30, 310))
  }
  await act('type', { text: 'после диалога' })
  await page.until(`text.value === 'после диалога'`)
})
