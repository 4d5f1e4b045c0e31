// The work of each operation, run in turn.
import { checked, type Check } from '../../checks/check.ts'
import type { Chromium } from '../../chromium/chromium.ts'
import type { ControlAnswer, ControlCall } from '../calls/operation.ts'
import { doBatch } from './actions/batch.ts'
import { pressKey, typeText } from './actions/keyboard.ts'
import { clickMouse, dragMouse, moveMouse, scroll } from './actions/mouse.ts'
import { regionOn } from './actions/screen.ts'
import { checks } from './computer.checks.ts'
import { computerOf } from './computer.ts'
import type { Device } from './device/device.ts'
import { checkWellFormed } from './keys/keysyms.ts'
import type { ComputerPath } from './operations.ts'

type Handler = (call: ControlCall) => Promise<ControlAnswer>
export type ComputerHandlers = Readonly<Record<ComputerPath, Handler>>

type Work<Body> = (device: Device, body: Body, signal: AbortSignal) => Promise<ControlAnswer>

export function computerHandlers(chromium: Chromium): ComputerHandlers {
  const computer = computerOf(chromium)
  const inTurn =
    <Body>(check: Check<Body>, work: Work<Body>): Handler =>
    async ({ body: given, signal }) => {
      const body = checked(check, given)
      return computer.inTurn(signal, (device) => work(device, body, signal))
    }
  const withoutBody =
    (work: (device: Device) => Promise<ControlAnswer>): Handler =>
    ({ signal }) =>
      computer.inTurn(signal, work)
  const screenshot = inTurn(checks.captureScreenshot, async (device, { region }) => {
    const png = await device.capture(regionOn(device, region))
    return { bytes: png, length: png.length }
  })
  return {
    click_mouse: inTurn(checks.clickMouse, clickMouse),
    move_mouse: inTurn(checks.moveMouse, moveMouse),
    type: inTurn(checks.typeText, typeText),
    press_key: inTurn(checks.pressKey, pressKey),
    scroll: inTurn(checks.scroll, scroll),
    drag_mouse: inTurn(checks.dragMouse, dragMouse),
    batch: inTurn(checks.batchComputerActions, (device, { actions }, signal) =>
      doBatch(device, actions, signal),
    ),
    screenshot: ({ body = {}, ...call }) => screenshot({ ...call, body }),
    cursor: inTurn(checks.setCursorVisibility, async (device, { hidden }) => {
      await device.setCursorHidden(hidden)
      return { ok: true }
    }),
    get_mouse_position: withoutBody((device) => device.position()),
    'clipboard/read': withoutBody(async (device) => ({ text: await device.readClipboard() })),
    'clipboard/write': inTurn(checks.writeClipboard, (device, { text }) => {
      checkWellFormed(text)
      return device.writeClipboard(text)
    }),
  }
}
