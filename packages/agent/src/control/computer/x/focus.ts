// The program that has the keyboard: what it is told, and whether it has taken all that was sent so far.
import type { XConnection } from '../../../display/x-connection.ts'
import { xRequest, xRequestWith } from '@berth/codecs/x11/request'

const QUERY_TREE = 15
const GET_PROPERTY = 20
const SEND_EVENT = 25
const QUERY_POINTER = 38
const GET_INPUT_FOCUS = 43
const CLIENT_MESSAGE = 33
const ATOM = 4
const FORMAT_32 = 32
const MAX_PROTOCOLS = 64
/** Focus on nothing, or on what is under the pointer. */
const POINTER_ROOT = 1
const NEW_KEYBOARD_NOTIFY = 0
const ALL_NEW = 0b111
const PONG_MS = 5_000
/** A program that does not know the message has had time enough by then. */
const BLIND_MS = 50

export class Focus {
  readonly #x: XConnection
  #serial = 0

  constructor(x: XConnection) {
    this.#x = x
  }

  /**
   * Resolves when the program has read all that was sent to it. Window managers ask so for programs that
   * hang: a message to the window, which comes back to the root when it was read, and everything before it
   * was read, too. https://specifications.freedesktop.org/wm-spec/latest/#_NET_WM_PING
   */
  async hasTakenAll(): Promise<void> {
    const window = await this.#answeringWindow()
    if (window === undefined) await new Promise((resolve) => setTimeout(resolve, BLIND_MS))
    else await this.#ping(window)
  }

  /**
   * Resolves when the program knows of a change of the keyboard. Chromium looks at its keyboard again only
   * when it is told that it has another one, so it is. Its toolkit hears of the change by itself, over a
   * connection of its own: the first answer says that the one has looked, and by the second the other has.
   */
  async hasNewKeyboard(): Promise<void> {
    const { firstEvent } = await this.#x.extension('XKEYBOARD')
    const window = await this.#answeringWindow()
    if (window === undefined) {
      await new Promise((resolve) => setTimeout(resolve, BLIND_MS))
      return
    }
    const { first, last } = this.#x.keycodes
    const event = Buffer.alloc(32)
    event.set([firstEvent, NEW_KEYBOARD_NOTIFY], 0)
    event.set([first, last, first, last], 10)
    event.writeUInt16LE(ALL_NEW, 16)
    this.#x.post(xRequestWith(event, SEND_EVENT, 0, window, 0))
    await this.#ping(window)
    await this.#ping(window)
  }

  async #ping(window: number): Promise<void> {
    const [protocols, ping] = await this.#pingAtoms()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#serial = (this.#serial + 1) >>> 0
    const serial = this.#serial
    const timer = setTimeout(() => reject(new Error('The window does not take its keys')), PONG_MS)
    const listening = this.#x.on(CLIENT_MESSAGE, (event) => {
      const isPong = event.readUInt32LE(8) === protocols && event.readUInt32LE(12) === ping
      if (isPong && event.readUInt32LE(16) === serial) resolve()
    })
    const event = Buffer.alloc(32)
    event[0] = CLIENT_MESSAGE
    event[1] = FORMAT_32
    for (const [index, word] of [window, protocols, ping, serial, window].entries()) {
      event.writeUInt32LE(word, 4 + index * 4)
    }
    this.#x.post(xRequestWith(event, SEND_EVENT, 0, window, 0))
    this.#x.flush()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      listening[Symbol.dispose]()
    }
  }

  async #pingAtoms(): Promise<readonly [protocols: number, ping: number]> {
    return Promise.all([this.#x.atom('WM_PROTOCOLS'), this.#x.atom('_NET_WM_PING')])
  }

  /** The window with the keyboard, or the one around it that answers. */
  async #answeringWindow(): Promise<number | undefined> {
    const [protocols, ping] = await this.#pingAtoms()
    let window = (await this.#x.ask(xRequest(GET_INPUT_FOCUS, 0))).readUInt32LE(8)
    if (window <= POINTER_ROOT || window === this.#x.root) {
      window = (await this.#x.ask(xRequest(QUERY_POINTER, 0, this.#x.root))).readUInt32LE(12)
    }
    try {
      while (window !== 0 && window !== this.#x.root) {
        const reply = await this.#x.ask(xRequest(GET_PROPERTY, 0, window, protocols, ATOM, 0, MAX_PROTOCOLS))
        for (let index = 0; index < reply.readUInt32LE(16); index++) {
          if (reply.readUInt32LE(32 + index * 4) === ping) return window
        }
        window = (await this.#x.ask(xRequest(QUERY_TREE, 0, window))).readUInt32LE(12)
      }
    } catch {
      // It closed meanwhile.
    }
    return undefined
  }
}
