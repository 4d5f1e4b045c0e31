import type { Device } from '../device/device.ts'
import { keysymsOf } from '../keys/keysyms.ts'

/** Holds keys during the work, and releases them even if it fails. */
export async function holdingKeys(
  device: Device,
  names: readonly string[] | undefined,
  work: () => Promise<void> | void,
): Promise<void> {
  const keysyms = (names ?? []).flatMap((name) => keysymsOf(name))
  await holding(device, keysyms, work)
}

export async function holding(
  device: Device,
  keysyms: readonly number[],
  work: () => Promise<void> | void,
): Promise<void> {
  if (keysyms.length === 0) return work()
  await device.provideKeys(keysyms)
  const held: number[] = []
  try {
    for (const keysym of keysyms) {
      device.pressKey(keysym)
      held.push(keysym)
    }
    await work()
  } finally {
    for (const keysym of held.toReversed()) device.releaseKey(keysym)
    device.flush()
  }
}
