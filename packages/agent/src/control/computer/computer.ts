// The mouse, keyboard, screen and clipboard of this instance. All calls go through one queue, so that nothing
// comes between the steps of an action or the actions of a batch.
import { SerialQueue } from '@berth/kit/serial-queue'
import type { Chromium } from '../../chromium/chromium.ts'
import type { XConnection } from '../../display/x-connection.ts'
import { ControlError } from '../calls/operation.ts'
import { CdpDevice } from './cdp/device.ts'
import type { Device } from './device/device.ts'
import { XDevice } from './x/device.ts'

/** Limit of queued calls; each slow call delays all others. */
const MAX_WAITING = 64

const computers = new WeakMap<Chromium, Computer>()

/** The computer of this Chromium, shared by all callers. */
export function computerOf(chromium: Chromium): Computer {
  const computer = computers.get(chromium) ?? new Computer(chromium)
  computers.set(chromium, computer)
  return computer
}

export class Computer {
  readonly #chromium: Chromium
  readonly #turns = new SerialQueue()
  #display: { readonly connection: XConnection; readonly device: XDevice } | undefined
  #headless: CdpDevice | undefined

  constructor(chromium: Chromium) {
    this.#chromium = chromium
  }

  /** Runs the work after all earlier calls. */
  async inTurn<T>(signal: AbortSignal, work: (device: Device) => Promise<T>): Promise<T> {
    if (this.#turns.size >= MAX_WAITING) {
      throw new ControlError(
        'too_many_requests',
        `Cannot do this: ${MAX_WAITING} calls wait for their turn already`,
      )
    }
    return this.#turns.run(async () => {
      signal.throwIfAborted()
      const device = await this.#device()
      await device.begin()
      return await work(device)
    })
  }

  async #device(): Promise<Device> {
    const { looks } = this.#chromium
    if (!looks) throw new ControlError('conflict', 'Cannot do this: there is no browser yet')
    if (looks.headless) return (this.#headless ??= new CdpDevice(this.#chromium))
    const connection = await this.#chromium.display.connection()
    if (this.#display?.connection !== connection) {
      this.#display = { connection, device: await XDevice.open(connection) }
    }
    return this.#display.device
  }
}
