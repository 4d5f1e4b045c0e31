// Simulates a mouse and a keyboard: https://www.x.org/releases/current/doc/xextproto/xtest.html
import type { XConnection } from '../../../display/x-connection.ts'
import { halves, xRequest } from '@berth/codecs/x11/request'

const FAKE_INPUT = 2
const KEY_PRESS = 2
const KEY_RELEASE = 3
const BUTTON_PRESS = 4
const BUTTON_RELEASE = 5
const MOTION = 6

/** Requests are sent with the next flush. */
export class XTest {
  readonly #x: XConnection
  readonly #opcode: number

  private constructor(x: XConnection, opcode: number) {
    this.#x = x
    this.#opcode = opcode
  }

  static async open(x: XConnection): Promise<XTest> {
    const { opcode } = await x.extension('XTEST')
    return new XTest(x, opcode)
  }

  key(keycode: number, isDown: boolean): void {
    this.#fake(isDown ? KEY_PRESS : KEY_RELEASE, keycode)
  }

  button(number: number, isDown: boolean): void {
    this.#fake(isDown ? BUTTON_PRESS : BUTTON_RELEASE, number)
  }

  moveTo(x: number, y: number): void {
    this.#fake(MOTION, 0, halves(x, y))
  }

  #fake(type: number, detail: number, position = 0): void {
    this.#x.post(xRequest(this.#opcode, FAKE_INPUT, (detail << 8) | type, 0, 0, 0, 0, position, 0, 0))
  }
}
