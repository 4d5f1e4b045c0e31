// Talks to the program with the keyboard focus, and finds out whether it has read all input so far.
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
/** Values up to this mean no focus, or the window under the pointer. */
const POINTER_ROOT = 1
const NEW_KEYBOARD_NOTIFY = 0
const ALL_NEW = 0b111
const PONG_MS = 5_000
/** How long to wait for a program that does not support the message. */
const BLIND_MS = 50

export class Focus {
  readonly #x: XConnection
  #serial = 0

  constructor(x: XConnection) {
    this.#x = x
  }

  /**
   * Resolves when the program has read everything sent to it. Window managers detect hanging programs the same
   * way: the program returns a message to the root window once it has read it, and everything before it.
   * https://specifications.freedesktop.org/wm-spec/latest/#_NET_WM_PING
   */
  async hasTakenAll(): Promise<void> {
    const window = await this.#answeringWindow()
    if (window === undefined) await new Promise((resolve) => setTimeout(resolve, BLIND_MS))
    else await this.#ping(window)
  }

  /**
   * Resolves when the program knows about a changed keyboard. Chromium rereads its keyboard only after a
   * notification of a new one, so this sends one. Its toolkit learns of the change over its own connection:
   * the first answer shows that Chromium has reread it, and by the second the toolkit has too.
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

  /** The focused window, or its nearest parent that answers. */
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
      // The window has closed.
    }
    return undefined
  }
}
