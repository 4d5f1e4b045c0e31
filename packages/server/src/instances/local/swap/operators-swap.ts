// Swap devices that the operator named. Berth makes none and turns none off; whether they are encrypted is the operator's
// business.
import { realpathSync } from 'node:fs'
import type { SwapRoom } from '../../driver/driver.ts'
import { readSwapDevices, type SwapDevice } from './swap-devices.ts'
import type { SwapKind } from './swap-kind.ts'

export class OperatorsSwap implements SwapKind {
  readonly #allowed: readonly string[]
  readonly #read: () => readonly SwapDevice[]

  constructor(allowed: readonly string[], read: () => readonly SwapDevice[] = readSwapDevices) {
    this.#allowed = allowed
    this.#read = read
  }

  get place(): string {
    return `swap of the operator: ${this.#allowed.join(', ')}`
  }

  whyNot(): string | undefined {
    if (this.usable(this.#read()).length > 0) return undefined
    return `none of ${this.#allowed.join(', ')} is in use: run swapon, or name another in BERTH_DEEP_STANDBY_SWAP`
  }

  usable(devices: readonly SwapDevice[]): readonly SwapDevice[] {
    const allowed = new Set(this.#allowed.flatMap((path) => [path, real(path)]))
    return devices.filter(({ path }) => allowed.has(path) || allowed.has(real(path)))
  }

  async make(): Promise<void> {
    throw new Error(this.whyNot() ?? 'it is in use already')
  }

  room(devices: readonly SwapDevice[]): SwapRoom {
    const usable = this.usable(devices)
    const sum = (of: (device: SwapDevice) => number) => usable.reduce((total, each) => total + of(each), 0)
    const totalBytes = sum(({ sizeBytes }) => sizeBytes)
    return { totalBytes, freeBytes: totalBytes - sum(({ usedBytes }) => usedBytes) }
  }

  async remove(): Promise<void> {}
}

/** Names such as /dev/disk/by-uuid/… lead to the device. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
