import type * as contract from '@berth/contracts/computer'
import type { Device } from '../device/device.ts'
import { keysymsOf, keysymsOfText } from '../keys/keysyms.ts'
import { holding, holdingKeys } from './hold-keys.ts'
import { inRhythm } from './rhythm.ts'
import { checkDuration, wait } from './wait.ts'

export async function typeText(
  device: Device,
  { text, delay = 0, smooth = false, typo_chance = 0 }: contract.TypeText,
  signal: AbortSignal,
): Promise<void> {
  if (smooth) {
    const strokes = inRhythm(text, typo_chance)
    checkDuration(
      'type this text smoothly',
      strokes.reduce((sum, { waitMs }) => sum + waitMs, 0),
    )
    let next = 0
    const between = () => wait(device, strokes[next++]!.waitMs, signal)
    await device.type(
      strokes.map(({ keysym }) => keysym),
      { between, signal },
    )
  } else {
    const keysyms = keysymsOfText(text)
    checkDuration(
      `type ${keysyms.length} characters with a delay of ${delay} ms`,
      (keysyms.length - 1) * delay,
    )
    const between = delay === 0 ? undefined : () => wait(device, delay, signal)
    await device.type(keysyms, { between, signal })
  }
  await device.done()
}

export async function pressKey(
  device: Device,
  { keys, duration = 0, hold_keys }: contract.PressKey,
  signal: AbortSignal,
): Promise<void> {
  const combinations = keys.map((key) => keysymsOf(key))
  await holdingKeys(device, hold_keys, async () => {
    if (duration > 0) return holding(device, combinations.flat(), () => wait(device, duration, signal))
    for (const keysyms of combinations) {
      signal.throwIfAborted()
      await holding(device, keysyms, () => {})
    }
  })
  await device.done()
}
