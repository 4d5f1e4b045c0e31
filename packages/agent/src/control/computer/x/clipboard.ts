// On a display, a program claims the clipboard, and others ask that program for the contents:
// https://x.org/releases/X11R7.6/doc/xorg-docs/specs/ICCCM/icccm.html#peer_to_peer_communication_by_means_of_selections
import { ControlError } from '../../calls/operation.ts'
import type { XConnection } from '../../../display/x-connection.ts'
import { halves, xRequest, xRequestWith } from '@berth/codecs/x11/request'

const CREATE_WINDOW = 1
const CHANGE_PROPERTY = 18
const GET_PROPERTY = 20
const SET_SELECTION_OWNER = 22
const GET_SELECTION_OWNER = 23
const CONVERT_SELECTION = 24
const SEND_EVENT = 25

const PROPERTY_NOTIFY = 28
const SELECTION_CLEAR = 29
const SELECTION_REQUEST = 30
const SELECTION_NOTIFY = 31

const INPUT_OUTPUT = 1
const EVENT_MASK = 1 << 11
const PROPERTY_CHANGE = 1 << 22
const NEW_VALUE = 0
const DELETED = 1
const NOW = 0
const NONE = 0
const ANY_TYPE = 0
const ATOM = 4

/** Longer text is transferred in parts; a request with a 16-bit length can hold this much. */
const PART_BYTES = 128 * 1024
const MAX_BYTES = 4 * 1024 * 1024
const MAX_TRANSFERS = 16
/** Timeout for the clipboard's owner to answer, and for each part. */
const ANSWER_MS = 2_000

const TEXT_TARGETS = ['UTF8_STRING', 'text/plain;charset=utf-8', 'text/plain', 'TEXT'] as const

interface Atoms {
  readonly clipboard: number
  readonly targets: number
  readonly utf8: number
  readonly incr: number
  readonly property: number
  /** The text types that the agent offers. */
  readonly texts: readonly number[]
}

/** A text that another program reads in parts. */
interface Transfer {
  readonly type: number
  rest: Buffer
}

export class XClipboard {
  readonly #x: XConnection
  readonly #window: number
  readonly #atoms: Atoms
  #owned: string | undefined
  readonly #transfers = new Map<string, Transfer>()

  private constructor(x: XConnection, atoms: Atoms) {
    this.#x = x
    this.#atoms = atoms
    this.#window = x.newId()
    const [size, frame] = [halves(1, 1), halves(0, INPUT_OUTPUT)]
    x.post(xRequest(CREATE_WINDOW, 0, this.#window, x.root, 0, size, frame, 0, EVENT_MASK, PROPERTY_CHANGE))
    x.on(SELECTION_CLEAR, (event) => {
      if (event.readUInt32LE(12) === atoms.clipboard) this.#owned = undefined
    })
    x.on(SELECTION_REQUEST, (event) => this.#give(event))
    x.on(PROPERTY_NOTIFY, (event) => this.#giveNext(event))
  }

  static async open(x: XConnection): Promise<XClipboard> {
    const [clipboard, targets, incr, property, ...texts] = await Promise.all(
      ['CLIPBOARD', 'TARGETS', 'INCR', 'BERTH_CLIPBOARD', ...TEXT_TARGETS].map((name) => x.atom(name)),
    )
    return new XClipboard(x, {
      clipboard: clipboard!,
      targets: targets!,
      incr: incr!,
      property: property!,
      utf8: texts[0]!,
      texts,
    })
  }

  async write(text: string): Promise<void> {
    this.#owned = text
    this.#x.post(xRequest(SET_SELECTION_OWNER, 0, this.#window, this.#atoms.clipboard, NOW))
    await this.#x.sync()
  }

  /** Empty when nobody owns the clipboard, or it holds no text. */
  async read(): Promise<string> {
    const { clipboard, utf8, property } = this.#atoms
    const owner = (await this.#x.ask(xRequest(GET_SELECTION_OWNER, 0, clipboard))).readUInt32LE(8)
    if (owner === this.#window) return this.#owned ?? ''
    if (owner === NONE) return ''
    using notices = this.#listen()
    this.#x.post(xRequest(CONVERT_SELECTION, 0, this.#window, clipboard, utf8, property, NOW))
    this.#x.flush()
    const isGiven = await notices.next((event) => {
      if (event[0] !== (SELECTION_NOTIFY | 0x80) || event.readUInt32LE(8) !== this.#window) return undefined
      return event.readUInt32LE(20) !== NONE
    })
    if (!isGiven) return ''
    const first = await this.#takeProperty()
    if (first.type !== this.#atoms.incr) return first.value.toString()
    return this.#readParts(notices)
  }

  async #readParts(notices: Notices): Promise<string> {
    const parts: Buffer[] = []
    let length = 0
    for (;;) {
      await notices.next((event) => {
        const isOurs = (event[0]! & 0x7f) === PROPERTY_NOTIFY && event.readUInt32LE(4) === this.#window
        const isWritten = isOurs && event.readUInt32LE(8) === this.#atoms.property && event[16] === NEW_VALUE
        return isWritten ? true : undefined
      })
      const { value } = await this.#takeProperty()
      if (value.length === 0) return Buffer.concat(parts).toString()
      length += value.length
      if (length > MAX_BYTES) throw tooLarge()
      parts.push(value)
    }
  }

  /** Deleting the property requests the next part. */
  async #takeProperty(): Promise<{ type: number; value: Buffer }> {
    const { property } = this.#atoms
    const isDeleted = 1
    const request = xRequest(GET_PROPERTY, isDeleted, this.#window, property, ANY_TYPE, 0, MAX_BYTES / 4)
    const reply = await this.#x.ask(request)
    if (reply.readUInt32LE(12) > 0) throw tooLarge()
    const bytes = reply.readUInt32LE(16) * (reply[1]! / 8)
    return { type: reply.readUInt32LE(8), value: reply.subarray(32, 32 + bytes) }
  }

  #listen(): Notices {
    const notices = new Notices()
    notices.stopWith(this.#x.on(SELECTION_NOTIFY, (event) => notices.take(event)))
    notices.stopWith(this.#x.on(PROPERTY_NOTIFY, (event) => notices.take(event)))
    return notices
  }

  /** Another program asks for the agent's text. */
  #give(event: Buffer): void {
    const [time, , requestor, selection, target, given] = [4, 8, 12, 16, 20, 24].map((at) =>
      event.readUInt32LE(at),
    ) as [number, number, number, number, number, number]
    // Obsolete clients name no property; the target is used instead.
    const property = given === NONE ? target : given
    const isGiven = this.#owned !== undefined && this.#putTarget(requestor, target, property)
    const answer = Buffer.alloc(32)
    answer[0] = SELECTION_NOTIFY
    for (const [index, word] of [time, requestor, selection, target, isGiven ? property : NONE].entries()) {
      answer.writeUInt32LE(word, 4 + index * 4)
    }
    this.#x.post(xRequestWith(answer, SEND_EVENT, 0, requestor, 0))
    this.#x.flush()
  }

  #putTarget(requestor: number, target: number, property: number): boolean {
    const { targets, texts, utf8, incr } = this.#atoms
    if (target === targets) {
      const words = Buffer.alloc((texts.length + 1) * 4)
      for (const [index, atom] of [targets, ...texts].entries()) words.writeUInt32LE(atom, index * 4)
      this.#putProperty(requestor, { property, type: ATOM, format: 32, value: words })
      return true
    }
    if (!texts.includes(target)) return false
    const value = Buffer.from(this.#owned!)
    const type = target === texts.at(-1) ? utf8 : target
    if (value.length <= PART_BYTES) {
      this.#putProperty(requestor, { property, type, format: 8, value })
      return true
    }
    const oldest = this.#transfers.keys().next()
    if (this.#transfers.size >= MAX_TRANSFERS && !oldest.done) this.#transfers.delete(oldest.value)
    this.#transfers.set(`${requestor}.${property}`, { type, rest: value })
    this.#x.listenTo(requestor, PROPERTY_CHANGE)
    const size = Buffer.alloc(4)
    size.writeUInt32LE(value.length)
    this.#putProperty(requestor, { property, type: incr, format: 32, value: size })
    return true
  }

  /** The previous part was read. */
  #giveNext(event: Buffer): void {
    if (event[16] !== DELETED) return
    const [requestor, property] = [event.readUInt32LE(4), event.readUInt32LE(8)]
    const transfer = this.#transfers.get(`${requestor}.${property}`)
    if (!transfer) return
    const part = transfer.rest.subarray(0, PART_BYTES)
    transfer.rest = transfer.rest.subarray(part.length)
    // An empty part marks the end.
    if (part.length === 0) this.#transfers.delete(`${requestor}.${property}`)
    this.#putProperty(requestor, { property, type: transfer.type, format: 8, value: part })
    this.#x.flush()
  }

  #putProperty(
    window: number,
    { property, type, format, value }: { property: number; type: number; format: 8 | 32; value: Buffer },
  ): void {
    const replace = 0
    const count = value.length / (format / 8)
    this.#x.post(xRequestWith(value, CHANGE_PROPERTY, replace, window, property, type, format, count))
  }
}

function tooLarge(): ControlError {
  const limit = MAX_BYTES / 1024 / 1024
  return new ControlError('conflict', `Cannot read the clipboard: it holds more than ${limit} MiB of text`)
}

/** Queues events until a caller waits for one of their kind. */
class Notices {
  readonly #kept: Buffer[] = []
  readonly #listeners: Disposable[] = []
  #wake: (() => void) | undefined

  stopWith(listener: Disposable): void {
    this.#listeners.push(listener)
  }

  take(event: Buffer): void {
    this.#kept.push(event)
    this.#wake?.()
  }

  /** The first defined result of `read` over the events. */
  async next<T>(read: (event: Buffer) => T | undefined): Promise<T> {
    const deadline = performance.now() + ANSWER_MS
    for (;;) {
      for (let event = this.#kept.shift(); event; event = this.#kept.shift()) {
        const value = read(event)
        if (value !== undefined) return value
      }
      const left = deadline - performance.now()
      if (left <= 0) {
        throw new ControlError(
          'conflict',
          'Cannot read the clipboard: the program that has it does not answer',
        )
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, left)
      this.#wake = resolve
      await promise
      clearTimeout(timer)
    }
  }

  [Symbol.dispose](): void {
    for (const listener of this.#listeners) listener[Symbol.dispose]()
  }
}
