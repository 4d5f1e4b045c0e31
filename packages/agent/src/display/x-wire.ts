// The frame of the X protocol: requests go out in a row, replies come back in the order of what was
// asked, and errors and events come in between. https://www.x.org/releases/current/doc/xproto/x11protocol.html
import { connect, type Socket } from 'node:net'

const ERROR = 0
const REPLY = 1
const GENERIC_EVENT = 35
/** Set on events that a client made up. */
const SENT = 0x80
const HEAD_BYTES = 32
const BUFFER_BYTES = 64 * 1024
/** A screen of 7680x4320 pixels. */
const MOST_REPLY_BYTES = 160 * 1024 * 1024
const ANSWER_MS = 5_000

interface Asked {
  readonly sequence: number
  readonly resolve: (reply: Buffer) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
  readonly room: Buffer | undefined
}

export interface XWireEvents {
  /** `code` without the mark of made-up events, which `isSent` tells. */
  readonly onEvent: (event: { code: number; isSent: boolean; bytes: Buffer }) => void
  readonly onClose: () => void
}

export class XError extends Error {
  readonly code: number

  constructor(code: number, { major, minor }: { major: number; minor: number }) {
    super(`The display refused request ${major}.${minor} with error ${code}`)
    this.code = code
  }
}

export class XWire {
  readonly #socket: Socket
  readonly #events: XWireEvents
  readonly #asked: Asked[] = []
  #outbox: Buffer[] = []
  #sequence = 0
  #isOver = false

  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #start = 0
  #end = 0
  /** A message too long for the buffer is read straight into its own. */
  #large: Buffer | undefined
  #largeEnd = 0
  /** The answer to the connection setup has a head of its own. */
  #whenSetUp: ((answer: Buffer) => void) | undefined

  private constructor(path: string, events: XWireEvents) {
    this.#events = events
    this.#socket = connect({
      path,
      onread: {
        buffer: () => this.#room(),
        callback: (length) => {
          this.#take(length)
          return true
        },
      },
    })
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => this.#close())
  }

  /** Resolves with the answer to the setup, when the display took us. */
  static async open(path: string, events: XWireEvents): Promise<{ wire: XWire; setup: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const refuse = () => reject(new Error('Cannot talk to the display: it hung up'))
    const wire = new XWire(path, { ...events, onClose: () => (refuse(), events.onClose()) })
    const timer = setTimeout(() => wire.destroy(), ANSWER_MS)
    wire.#whenSetUp = resolve
    const littleEndian = 0x6c
    wire.#socket.write(Buffer.from([littleEndian, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
    try {
      const setup = await promise
      if (setup[0] !== 1) throw new Error('Cannot talk to the display: it refused')
      return { wire, setup }
    } catch (error) {
      wire.destroy()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  get isOpen(): boolean {
    return !this.#isOver
  }

  /** Of a request that has no reply; it leaves with the next flush. */
  post(request: Buffer): void {
    this.#sequence++
    this.#outbox.push(request)
  }

  flush(): void {
    if (this.#outbox.length === 0) return
    const bytes = this.#outbox.length === 1 ? this.#outbox[0]! : Buffer.concat(this.#outbox)
    this.#outbox = []
    if (!this.#isOver) this.#socket.write(bytes)
  }

  /** Of a request that has a reply. A long one is read into the room, if it is given some and fits. */
  ask(request: Buffer, room?: Buffer): Promise<Buffer> {
    this.post(request)
    this.flush()
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    if (this.#isOver) reject(new Error('Cannot talk to the display: it hung up'))
    else {
      const timer = setTimeout(() => this.destroy(), ANSWER_MS)
      this.#asked.push({ sequence: this.#sequence & 0xffff, resolve, reject, timer, room })
    }
    return promise
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #close(): void {
    this.#isOver = true
    for (const { reject, timer } of this.#asked.splice(0)) {
      clearTimeout(timer)
      reject(new Error('Cannot talk to the display: it hung up'))
    }
    this.#events.onClose()
  }

  #room(): Buffer {
    if (this.#large) return this.#large.subarray(this.#largeEnd)
    return this.#buffer.subarray(this.#end)
  }

  #take(length: number): void {
    if (this.#large) {
      this.#largeEnd += length
      if (this.#largeEnd < this.#large.length) return
      const message = this.#large
      this.#large = undefined
      return this.#handle(message)
    }
    this.#end += length
    while (this.#takeOne()) {
      // Goes on until the rest is no whole message.
    }
  }

  #takeOne(): boolean {
    const available = this.#end - this.#start
    const length = this.#nextLength(available)
    if (length > MOST_REPLY_BYTES) {
      this.destroy()
      return false
    }
    if (available >= length) {
      // Copied, as the buffer is used again.
      const message = Buffer.from(this.#buffer.subarray(this.#start, this.#start + length))
      this.#start += length
      if (this.#start === this.#end) this.#start = this.#end = 0
      this.#handle(message)
      return this.#start < this.#end
    }
    if (length > BUFFER_BYTES) {
      this.#large = this.#roomFor(length)
      this.#buffer.copy(this.#large, 0, this.#start, this.#end)
      this.#largeEnd = available
      this.#start = this.#end = 0
    } else if (this.#start + length > BUFFER_BYTES) {
      this.#buffer.copyWithin(0, this.#start, this.#end)
      this.#end = available
      this.#start = 0
    }
    return false
  }

  #roomFor(length: number): Buffer {
    const room = this.#asked[0]?.room
    return room && room.length >= length ? room.subarray(0, length) : Buffer.allocUnsafeSlow(length)
  }

  #nextLength(available: number): number {
    const { [this.#start]: kind } = this.#buffer
    if (this.#whenSetUp) {
      return available < 8 ? 8 : 8 + this.#buffer.readUInt16LE(this.#start + 6) * 4
    }
    if (available < HEAD_BYTES || (kind !== REPLY && (kind! & ~SENT) !== GENERIC_EVENT)) return HEAD_BYTES
    return HEAD_BYTES + this.#buffer.readUInt32LE(this.#start + 4) * 4
  }

  #handle(message: Buffer): void {
    const kind = message[0]!
    if (this.#whenSetUp) {
      const resolve = this.#whenSetUp
      this.#whenSetUp = undefined
      resolve(message)
    } else if (kind === REPLY) {
      const asked = this.#answered(message.readUInt16LE(2))
      asked?.resolve(message)
    } else if (kind === ERROR) {
      // An error of a request without a reply has nobody to tell: it asked for a window that is gone.
      const [code = 0, minor, major = 0] = [message[1], message.readUInt16LE(8), message[10]]
      this.#answered(message.readUInt16LE(2))?.reject(new XError(code, { major, minor }))
    } else {
      this.#events.onEvent({ code: kind & ~SENT, isSent: (kind & SENT) !== 0, bytes: message })
    }
  }

  #answered(sequence: number): Asked | undefined {
    if (this.#asked[0]?.sequence !== sequence) return undefined
    const asked = this.#asked.shift()!
    clearTimeout(asked.timer)
    return asked
  }
}
