// A way to have swap for deep standby.
import type { SwapRoom } from '../../driver/driver.ts'
import type { SwapDevice } from './swap-devices.ts'

export interface SwapKind {
  /** In words, for the operator. */
  readonly place: string
  /** Why this machine does not have it, and what to do; undefined where it does. Changes nothing on the machine. */
  whyNot(): string | undefined
  /** Those of the machine's devices that may be used. */
  usable(devices: readonly SwapDevice[]): readonly SwapDevice[]
  /** Makes the device. Another server of this machine may have done so already. */
  make(): Promise<void>
  room(devices: readonly SwapDevice[]): SwapRoom
  /** Turns off what make() made. Nothing of it may be in use that cannot go back to memory. */
  remove(): Promise<void>
}
