// The part of the keyboard extension that reads and changes which key gives which keysym. The core protocol
// has one request for this, but it changes only adjacent keys and guesses the rest:
// https://www.x.org/releases/current/doc/kbproto/xkbproto.html
import type { XConnection } from '../../../display/x-connection.ts'
import { halves, xRequest, xRequestWith } from '@berth/codecs/x11/request'

const USE_EXTENSION = 0
const GET_STATE = 4
const LATCH_LOCK_STATE = 5
const GET_MAP = 8
const SET_MAP = 9
const CORE_KEYBOARD = 0x100
const KEY_SYMS = 1 << 1
const CAPS_LOCK = 1 << 1

/** Key types that every keyboard has; a type defines the levels and the modifiers that select them. */
export const ONE_LEVEL = 0
export const TWO_LEVEL = 1

/** The keysyms of one key. */
export interface KeyMap {
  /** One type per group; the lower half of `groups` is the number of groups. */
  readonly types: readonly number[]
  readonly groups: number
  readonly width: number
  readonly keysyms: readonly number[]
}

export class Xkb {
  readonly #x: XConnection
  readonly #opcode: number

  private constructor(x: XConnection, opcode: number) {
    this.#x = x
    this.#opcode = opcode
  }

  static async open(x: XConnection): Promise<Xkb> {
    const { opcode } = await x.extension('XKEYBOARD')
    const reply = await x.ask(xRequest(opcode, USE_EXTENSION, halves(1, 0)))
    if (reply[1] !== 1) throw new Error('Cannot use the display: unsupported XKB version')
    return new Xkb(x, opcode)
  }

  async isCapsLocked(): Promise<boolean> {
    const state = await this.#x.ask(xRequest(this.#opcode, GET_STATE, CORE_KEYBOARD))
    return (state[11]! & CAPS_LOCK) !== 0
  }

  /** Sent with the next flush. */
  setCapsLock(isLocked: boolean): void {
    const locks = halves(CORE_KEYBOARD, CAPS_LOCK | (isLocked ? CAPS_LOCK << 8 : 0))
    this.#x.post(xRequest(this.#opcode, LATCH_LOCK_STATE, locks, 0, 0))
  }

  /** Every key of the display by keycode. */
  async readMap(): Promise<Map<number, KeyMap>> {
    const { first, last } = this.#x.keycodes
    const request = Buffer.alloc(24)
    request.writeUInt16LE(CORE_KEYBOARD, 0)
    request.writeUInt16LE(KEY_SYMS, 4)
    request[8] = first
    request[9] = last - first + 1
    const reply = await this.#x.ask(xRequestWith(request, this.#opcode, GET_MAP))
    const maps = new Map<number, KeyMap>()
    let at = 40
    for (let index = 0; index < reply[20]!; index++) {
      const count = reply.readUInt16LE(at + 6)
      maps.set(reply[17]! + index, {
        types: [...reply.subarray(at, at + 4)],
        groups: reply[at + 4]!,
        width: reply[at + 5]!,
        keysyms: Array.from({ length: count }, (_none, number) => reply.readUInt32LE(at + 8 + number * 4)),
      })
      at += 8 + count * 4
    }
    return maps
  }

  /** Writes consecutive keys; sent with the next flush. */
  writeMap(firstKeycode: number, maps: readonly KeyMap[]): void {
    const { first, last } = this.#x.keycodes
    const total = maps.reduce((sum, { keysyms }) => sum + keysyms.length, 0)
    const request = Buffer.alloc(32 + maps.length * 8 + total * 4)
    request.writeUInt16LE(CORE_KEYBOARD, 0)
    request.writeUInt16LE(KEY_SYMS, 2)
    request[6] = first
    request[7] = last
    request[10] = firstKeycode
    request[11] = maps.length
    request.writeUInt16LE(total, 12)
    let at = 32
    for (const { types, groups, width, keysyms } of maps) {
      request.set(types, at)
      request[at + 4] = groups
      request[at + 5] = width
      request.writeUInt16LE(keysyms.length, at + 6)
      at += 8
      for (const keysym of keysyms) at = request.writeUInt32LE(keysym, at)
    }
    this.#x.post(xRequestWith(request, this.#opcode, SET_MAP))
  }
}
