// Passes a viewer's input to a headless Chromium, through the same mouse, keyboard and queue as the API. Events
// that arrive while others run are batched.
import type { Computer } from '../control/computer/computer.ts'
import type { Button, Device, Point } from '../control/computer/device/device.ts'
import { log } from '../log/log.ts'

/** The first bits of the mask; the next four are the wheel. */
const buttons: readonly Button[] = ['left', 'middle', 'right']
const wheel = ['up', 'down', 'left', 'right'] as const
const FIRST_WHEEL_BIT = 3
/** Limit of queued events; beyond it the viewer's messages are not read. */
const MAX_WAITING = 500

type Step = (device: Device) => void | Promise<void>

export interface HeadlessInputOptions {
  readonly onFull: (isFull: boolean) => void
  /** Maps a point of the picture to the page. */
  readonly toPoint: (x: number, y: number) => Point
}

export class HeadlessInput {
  readonly #computer: Computer
  readonly #options: HeadlessInputOptions
  readonly #closing = new AbortController()
  #steps: { readonly step: Step; readonly isMove: boolean }[] = []
  #isWorking = false
  #mask = 0
  readonly #heldKeys = new Set<number>()

  constructor(computer: Computer, options: HeadlessInputOptions) {
    this.#computer = computer
    this.#options = options
  }

  pointer(mask: number, x: number, y: number): void {
    const before = this.#mask
    this.#mask = mask
    const step: Step = (device) => {
      const { width, height } = device.size
      const point = this.#options.toPoint(x, y)
      device.moveTo({ x: Math.min(point.x, width - 1), y: Math.min(point.y, height - 1) })
      for (const [bit, button] of buttons.entries()) {
        const isDown = (mask >> bit) & 1
        if (isDown === ((before >> bit) & 1)) continue
        if (isDown) device.press(button)
        else device.release(button)
      }
      for (const [index, direction] of wheel.entries()) {
        const bit = FIRST_WHEEL_BIT + index
        if ((mask >> bit) & 1 && !((before >> bit) & 1)) device.turnWheel(direction)
      }
    }
    this.#add(step, mask === before)
  }

  key(keysym: number, isDown: boolean): void {
    this.#add(async (device) => {
      await device.provideKeys([keysym])
      if (isDown) {
        this.#heldKeys.add(keysym)
        device.pressKey(keysym)
      } else if (this.#heldKeys.delete(keysym)) device.releaseKey(keysym)
    })
  }

  clipboard(text: string): void {
    this.#add((device) => device.writeClipboard(text))
  }

  /** Releases held buttons and keys. */
  close(): void {
    const mask = this.#mask
    const keys = [...this.#heldKeys]
    this.#closing.abort()
    this.#steps = []
    if ((mask & 0b111) === 0 && keys.length === 0) return
    const letGo = async (device: Device) => {
      for (const [bit, button] of buttons.entries()) if ((mask >> bit) & 1) device.release(button)
      for (const keysym of keys) device.releaseKey(keysym)
      await device.done()
    }
    this.#computer.inTurn(AbortSignal.timeout(10_000), letGo).catch(() => {})
  }

  #add(step: Step, isMove = false): void {
    if (this.#closing.signal.aborted) return
    // Only the last of consecutive moves matters.
    if (isMove && this.#steps.at(-1)?.isMove) this.#steps.pop()
    this.#steps.push({ step, isMove })
    if (this.#steps.length === MAX_WAITING) this.#options.onFull(true)
    if (!this.#isWorking) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    while (this.#steps.length > 0 && !this.#closing.signal.aborted) {
      const steps = this.#steps
      this.#steps = []
      if (steps.length >= MAX_WAITING) this.#options.onFull(false)
      await this.#computer
        .inTurn(this.#closing.signal, async (device) => {
          for (const { step } of steps) {
            // An unsupported key must not stop the rest.
            await (async () => step(device))().catch(() => {})
          }
          await device.done()
        })
        .catch((error: unknown) => {
          if (!this.#closing.signal.aborted) log('Cannot pass on the input of a viewer', error)
        })
    }
    this.#isWorking = false
  }
}
