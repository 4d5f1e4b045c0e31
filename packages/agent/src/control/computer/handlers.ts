// The work of each operation, run in turn.
import type * as contract from '@berth/contracts/computer'
import type { Chromium } from '../../chromium/chromium.ts'
import type { ControlAnswer, ControlCall } from '../calls/operation.ts'
import { doBatch } from './actions/batch.ts'
import { pressKey, typeText } from './actions/keyboard.ts'
import { clickMouse, dragMouse, moveMouse, scroll } from './actions/mouse.ts'
import { regionOn } from './actions/screen.ts'
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
    <Body>(work: Work<Body>): Handler =>
    ({ body, signal }) =>
      // SAFETY: the server validates it against the contract.
      computer.inTurn(signal, (device) => work(device, (body ?? {}) as Body, signal))
  return {
    click_mouse: inTurn<contract.ClickMouse>(clickMouse),
    move_mouse: inTurn<contract.MoveMouse>(moveMouse),
    type: inTurn<contract.TypeText>(typeText),
    press_key: inTurn<contract.PressKey>(pressKey),
    scroll: inTurn<contract.Scroll>(scroll),
    drag_mouse: inTurn<contract.DragMouse>(dragMouse),
    batch: inTurn<contract.Batch>((device, { actions }, signal) => doBatch(device, actions, signal)),
    screenshot: inTurn<contract.Screenshot>(async (device, { region }) => {
      const png = await device.capture(regionOn(device, region))
      return { bytes: png, length: png.length }
    }),
    cursor: inTurn<contract.SetCursor>(async (device, { hidden }) => {
      await device.setCursorHidden(hidden)
      return { ok: true }
    }),
    get_mouse_position: inTurn((device) => device.position()),
    'clipboard/read': inTurn(async (device) => ({ text: await device.readClipboard() })),
    'clipboard/write': inTurn<contract.Clipboard>((device, { text }) => {
      checkWellFormed(text)
      return device.writeClipboard(text)
    }),
  }
}
