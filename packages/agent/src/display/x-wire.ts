// A connection to the display. Replies come in the order of the requests, with errors and events in between.
import { connect, type Socket } from 'node:net'
import { readXMessage, XMessageReader } from '@berth/codecs/x11/messages'

const ANSWER_MS = 5_000

interface Asked {
  readonly sequence: number
  readonly resolve: (reply: Buffer) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
  readonly room: Buffer | undefined
}

export interface XWireEvents {
  /** `code` has no flag for synthetic events; `isSent` has it. */
  readonly onEvent: (event: { code: number; isSent: boolean; bytes: Buffer }) => void
  readonly onClose: () => void
}

export class XError extends Error {
  readonly code: number

  constructor({ code, major, minor }: { code: number; major: number; minor: number }) {
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

  readonly #messages = new XMessageReader({
    onMessage: (message) => this.#handle(message),
    roomFor: (length) => this.#roomFor(length),
  })
  /** The first message is the answer to the connection setup. */
  #whenSetUp: ((answer: Buffer) => void) | undefined

  private constructor(path: string, events: XWireEvents) {
    this.#events = events
    this.#socket = connect({
      path,
      onread: {
        buffer: () => this.#messages.room(),
        callback: (length) => {
          if (!this.#messages.take(length)) this.destroy()
          return true
        },
      },
    })
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => this.#close())
  }

  /** Resolves with the setup answer once the display accepts the connection. */
  static async open(path: string, events: XWireEvents): Promise<{ wire: XWire; setup: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const refuse = () => reject(new Error('Cannot talk to the display: it closed the connection'))
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

  /** Queues a request that has no reply; sent with the next flush. */
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

  /** Sends a request that has a reply. A long reply is read into `room`, if given and large enough. */
  ask(request: Buffer, room?: Buffer): Promise<Buffer> {
    this.post(request)
    this.flush()
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    if (this.#isOver) reject(new Error('Cannot talk to the display: it closed the connection'))
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
      reject(new Error('Cannot talk to the display: it closed the connection'))
    }
    this.#events.onClose()
  }

  #roomFor(length: number): Buffer | undefined {
    const room = this.#asked[0]?.room
    return room && room.length >= length ? room.subarray(0, length) : undefined
  }

  #handle(bytes: Buffer): void {
    if (this.#whenSetUp) {
      const resolve = this.#whenSetUp
      this.#whenSetUp = undefined
      return resolve(bytes)
    }
    const message = readXMessage(bytes)
    if (message.kind === 'reply') this.#answered(message.sequence)?.resolve(bytes)
    // Errors of requests without a reply are ignored: they named a window that is gone.
    else if (message.kind === 'error') this.#answered(message.sequence)?.reject(new XError(message))
    else this.#events.onEvent({ code: message.code, isSent: message.isSent, bytes })
  }

  #answered(sequence: number): Asked | undefined {
    if (this.#asked[0]?.sequence !== sequence) return undefined
    const asked = this.#asked.shift()!
    clearTimeout(asked.timer)
    return asked
  }
}
