// Mouse, keyboard, screen and clipboard of a display, over one connection that stays open.
import type { Region } from '@berth/contracts/computer'
import type { Size } from '../../../cdp/headless-size.ts'
import type { XConnection } from '../../../display/x-connection.ts'
import { halves, xRequest } from '@berth/codecs/x11/request'
import type { Button, Device, Point, TypeOptions } from '../device/device.ts'
import { PngEncoders } from './png-encoders.ts'
import { XClipboard } from './clipboard.ts'
import { XKeyboard } from './keyboard.ts'
import { XTest } from './xtest.ts'

const QUERY_POINTER = 38
const GET_IMAGE = 73
const Z_PIXMAP = 2
const ALL_PLANES = 0xffffffff
const REPLY_HEAD_BYTES = 32

const FIXES_QUERY_VERSION = 0
const FIXES_HIDE_CURSOR = 29
const FIXES_SHOW_CURSOR = 30
const FIXES_VERSION = 4

const buttons: Readonly<Record<Button, number>> = { left: 1, middle: 2, right: 3, back: 8, forward: 9 }
const wheel = { up: 4, down: 5, left: 6, right: 7 } as const

export class XDevice implements Device {
  readonly #x: XConnection
  readonly #xtest: XTest
  readonly #keyboard: XKeyboard
  readonly #encoders = new PngEncoders()
  #clipboard: XClipboard | undefined
  #isCursorHidden = false

  private constructor(x: XConnection, xtest: XTest, keyboard: XKeyboard) {
    this.#x = x
    this.#xtest = xtest
    this.#keyboard = keyboard
  }

  static async open(x: XConnection): Promise<XDevice> {
    const xtest = await XTest.open(x)
    return new XDevice(x, xtest, await XKeyboard.open(x, xtest))
  }

  get size(): Size {
    return this.#x.size
  }

  async begin(): Promise<void> {}

  flush(): void {
    this.#x.flush()
  }

  /** Does not wait: the display works in order, and waiting would let Chromium, which it wakes, run first. */
  async done(): Promise<void> {
    this.#x.flush()
  }

  async position(): Promise<Point> {
    const reply = await this.#x.ask(xRequest(QUERY_POINTER, 0, this.#x.root))
    return { x: reply.readInt16LE(16), y: reply.readInt16LE(18) }
  }

  moveTo({ x, y }: Point): void {
    this.#xtest.moveTo(x, y)
  }

  press(button: Button): void {
    this.#xtest.button(buttons[button], true)
  }

  release(button: Button): void {
    this.#xtest.button(buttons[button], false)
  }

  turnWheel(direction: keyof typeof wheel): void {
    this.#xtest.button(wheel[direction], true)
    this.#xtest.button(wheel[direction], false)
  }

  async provideKeys(keysyms: readonly number[]): Promise<void> {
    await this.#keyboard.provide(keysyms)
  }

  pressKey(keysym: number): void {
    this.#keyboard.press(keysym)
  }

  releaseKey(keysym: number): void {
    this.#keyboard.release(keysym)
  }

  async type(keysyms: readonly number[], options: TypeOptions): Promise<void> {
    await this.#keyboard.type(keysyms, options)
  }

  async capture({ x, y, width, height }: Region): Promise<Buffer> {
    const place = [halves(x, y), halves(width, height)]
    return this.#encoders.use({ width, height }, async (encoder) => {
      const room = encoder.room({ width, height }, { before: REPLY_HEAD_BYTES })
      const request = xRequest(GET_IMAGE, Z_PIXMAP, this.#x.root, ...place, ALL_PLANES)
      const image = await this.#x.ask(request, room)
      // A short reply comes in its own buffer.
      if (image.buffer !== room.buffer) image.copy(room)
      return encoder.encode({ width, height })
    })
  }

  async setCursorHidden(isHidden: boolean): Promise<void> {
    // The display counts hide requests, so each needs its own show request.
    if (isHidden === this.#isCursorHidden) return
    const { opcode } = await this.#x.extension('XFIXES')
    await this.#x.ask(xRequest(opcode, FIXES_QUERY_VERSION, FIXES_VERSION, 0))
    this.#x.post(xRequest(opcode, isHidden ? FIXES_HIDE_CURSOR : FIXES_SHOW_CURSOR, this.#x.root))
    await this.#x.sync()
    this.#isCursorHidden = isHidden
  }

  async readClipboard(): Promise<string> {
    return (await this.#openClipboard()).read()
  }

  async writeClipboard(text: string): Promise<void> {
    await (await this.#openClipboard()).write(text)
  }

  async #openClipboard(): Promise<XClipboard> {
    return (this.#clipboard ??= await XClipboard.open(this.#x))
  }
}
