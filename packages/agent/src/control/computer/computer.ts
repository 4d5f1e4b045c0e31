// The mouse, keyboard, screen and clipboard of this instance: one queue, so that nothing comes between the
// steps of an action or the actions of a batch.
import type { Chromium } from '../../chromium/chromium.ts'
import type { XConnection } from '../../display/x-connection.ts'
import { ControlError } from '../operation.ts'
import { CdpDevice } from './cdp/device.ts'
import type { Device } from './device.ts'
import { XDevice } from './x/device.ts'

/** Calls that wait for their turn; each that takes its time holds up the others. */
const MAX_WAITING = 64

const computers = new WeakMap<Chromium, Computer>()

/** The one of this Chromium, for all who use it. */
export function computerOf(chromium: Chromium): Computer {
  const computer = computers.get(chromium) ?? new Computer(chromium)
  computers.set(chromium, computer)
  return computer
}

export class Computer {
  readonly #chromium: Chromium
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #display: { readonly connection: XConnection; readonly device: XDevice } | undefined
  #headless: CdpDevice | undefined

  constructor(chromium: Chromium) {
    this.#chromium = chromium
  }

  /** Does some work when all that came before is done. */
  async inTurn<T>(signal: AbortSignal, work: (device: Device) => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ControlError(
        'too_many_requests',
        `Cannot do this: ${MAX_WAITING} calls wait for their turn already`,
      )
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#turn
    this.#turn = promise
    this.#waiting++
    try {
      await before
      signal.throwIfAborted()
      const device = await this.#device()
      await device.begin()
      return await work(device)
    } finally {
      this.#waiting--
      resolve()
    }
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
