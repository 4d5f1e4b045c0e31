// Runs several actions as one: nothing comes in between, and the first failure ends the batch.
import type { BatchAction } from '@berth/contracts/computer'
import { ControlError, isControlError } from '../../calls/operation.ts'
import type { Device } from '../device/device.ts'
import { pressKey, typeText } from './keyboard.ts'
import { clickMouse, dragMouse, moveMouse, scroll } from './mouse.ts'
import { checkDuration, wait } from './wait.ts'

type Act = (device: Device, signal: AbortSignal) => Promise<void>

export async function doBatch(
  device: Device,
  actions: readonly BatchAction[],
  signal: AbortSignal,
): Promise<void> {
  // A malformed batch is refused before any action runs.
  const acts = actions.map((action, index) => named(action, index, () => toAct(action)))
  const sleepMs = actions.reduce((sum, { sleep }) => sum + (sleep?.duration_ms ?? 0), 0)
  checkDuration('do this batch', sleepMs)
  for (const [index, act] of acts.entries()) {
    signal.throwIfAborted()
    await device.begin()
    await act(device, signal).catch((error: unknown) =>
      named(actions[index]!, index, () => {
        throw error
      }),
    )
  }
}

/** Adds the action's index and type to a refusal. */
function named<T>({ type }: BatchAction, index: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isControlError(error)) throw error
    throw new ControlError(error.code, `actions[${index}] (${type}): ${error.message}`, { cause: error })
  }
}

function toAct(action: BatchAction): Act {
  const given = Object.keys(action).filter((field) => field !== 'type')
  const extra = given.find((field) => field !== action.type)
  if (extra !== undefined) {
    throw new ControlError('bad_request', `"${extra}" does not belong to an action of this type`)
  }
  const missing = new ControlError('bad_request', `"${action.type}" with its parameters is missing`)
  const { click_mouse, move_mouse, type_text, press_key, drag_mouse, set_cursor, sleep } = action
  if (click_mouse) return (device, signal) => clickMouse(device, click_mouse, signal)
  if (move_mouse) return (device, signal) => moveMouse(device, move_mouse, signal)
  if (type_text) return (device, signal) => typeText(device, type_text, signal)
  if (press_key) return (device, signal) => pressKey(device, press_key, signal)
  if (action.scroll) return (device) => scroll(device, action.scroll!)
  if (drag_mouse) return (device, signal) => dragMouse(device, drag_mouse, signal)
  if (set_cursor) return (device) => device.setCursorHidden(set_cursor.hidden)
  if (sleep) return (device, signal) => wait(device, sleep.duration_ms, signal)
  throw missing
}
