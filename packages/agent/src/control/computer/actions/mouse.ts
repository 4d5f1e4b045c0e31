import type * as contract from '@berth/contracts/computer'
import { ControlError } from '../../calls/operation.ts'
import type { Button, Device, Point } from '../device/device.ts'
import { holdingKeys } from './hold-keys.ts'
import { curvedPath, curvedPathThrough, type Step } from './curves.ts'
import { checkOnScreen } from './screen.ts'
import { checkDuration, wait } from './wait.ts'

/** Chromium would count presses in the same millisecond as one. */
const BETWEEN_CLICKS_MS = 10

export async function clickMouse(
  device: Device,
  { x, y, button = 'left', click_type = 'click', num_clicks = 1, hold_keys }: contract.ClickMouse,
  signal: AbortSignal,
): Promise<void> {
  checkOnScreen(device, { x, y })
  await holdingKeys(device, hold_keys, async () => {
    device.moveTo({ x, y })
    if (click_type === 'down') return device.press(button)
    if (click_type === 'up') return device.release(button)
    for (let count = 0; count < num_clicks; count++) {
      if (count > 0) await wait(device, BETWEEN_CLICKS_MS, signal)
      device.press(button)
      device.release(button)
    }
  })
  await device.done()
}

export async function moveMouse(
  device: Device,
  { x, y, smooth = true, duration_ms, hold_keys }: contract.MoveMouse,
  signal: AbortSignal,
): Promise<void> {
  checkOnScreen(device, { x, y })
  await holdingKeys(device, hold_keys, async () => {
    if (!smooth) return device.moveTo({ x, y })
    const from = await device.position()
    await follow(device, curvedPath(from, { x, y }, { durationMs: duration_ms, within: device.size }), signal)
  })
  await device.done()
}

export async function scroll(
  device: Device,
  { x, y, delta_x = 0, delta_y = 0, hold_keys }: contract.Scroll,
): Promise<void> {
  checkOnScreen(device, { x, y })
  if (delta_x === 0 && delta_y === 0) {
    throw new ControlError('bad_request', 'Cannot scroll: delta_x and delta_y are both 0')
  }
  await holdingKeys(device, hold_keys, async () => {
    device.moveTo({ x, y })
    for (let tick = 0; tick < Math.abs(delta_y); tick++) device.turnWheel(delta_y > 0 ? 'down' : 'up')
    for (let tick = 0; tick < Math.abs(delta_x); tick++) device.turnWheel(delta_x > 0 ? 'right' : 'left')
  })
  await device.done()
}

export async function dragMouse(
  device: Device,
  drag: contract.DragMouse,
  signal: AbortSignal,
): Promise<void> {
  const points = drag.path.map(([x, y]) => ({ x: x!, y: y! }))
  for (const point of points) checkOnScreen(device, point)
  const { button = 'left', delay = 0, smooth = true, hold_keys } = drag
  const steps = smooth
    ? curvedPathThrough(points, { durationMs: drag.duration_ms, within: device.size })
    : straightPath(points, drag)
  checkDuration('drag along this path', delay + steps.reduce((sum, step) => sum + step.waitMs, 0))
  await holdingKeys(device, hold_keys, () => {
    device.moveTo(points[0]!)
    return holdingButton(device, button, async () => {
      await wait(device, delay, signal)
      await follow(device, steps, signal)
    })
  })
  await device.done()
}

async function holdingButton(device: Device, button: Button, work: () => Promise<void>): Promise<void> {
  device.press(button)
  try {
    await work()
  } finally {
    device.release(button)
    device.flush()
  }
}

async function follow(device: Device, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  // Follows the clock, because every timer fires a little late.
  let due = performance.now()
  for (const { point, waitMs } of steps) {
    device.moveTo(point)
    due += waitMs
    await wait(device, due - performance.now(), signal)
  }
}

function straightPath(
  points: readonly Point[],
  { steps_per_segment: count = 10, step_delay_ms: waitMs = 50 }: contract.DragMouse,
): Step[] {
  return points.slice(1).flatMap((end, index) => {
    const start = points[index]!
    return Array.from({ length: count }, (_none, number) => {
      const share = (number + 1) / count
      const point = {
        x: Math.round(start.x + (end.x - start.x) * share),
        y: Math.round(start.y + (end.y - start.y) * share),
      }
      return { point, waitMs }
    })
  })
}
