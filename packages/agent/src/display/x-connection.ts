// As much of the X protocol as it takes to find windows and to move them. Chromium does not follow
// when the screen is resized, and without a window manager nobody else tells it to.
import { connect, type Socket } from 'node:net'
import { ByteReader } from './byte-reader.ts'

const CONFIGURE_WINDOW = 12
const GET_ATTRIBUTES = 3
const GET_GEOMETRY = 14
const QUERY_TREE = 15
const GET_INPUT_FOCUS = 43
const X_Y_WIDTH_HEIGHT = 0b1111
const VIEWABLE = 2
const ERROR = 0
const REPLY = 1
const ANSWER_MS = 5_000

export interface Bounds {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export interface XWindow extends Bounds {
  readonly id: number
}

export class XConnection {
  readonly #socket: Socket
  readonly #reader: ByteReader
  readonly #timer: NodeJS.Timeout
  #root = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#reader = new ByteReader(socket)
    this.#timer = setTimeout(() => socket.destroy(), ANSWER_MS)
  }

  static async open(display: number): Promise<XConnection> {
    // The abstract name: it is there even where the directory of the other cannot be made.
    const connection = new XConnection(connect(`\0/tmp/.X11-unix/X${display}`))
    try {
      await connection.#setUp()
      return connection
    } catch (error) {
      connection[Symbol.dispose]()
      throw error
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#socket.destroy()
  }

  /** Windows of programs on the screen, without menus and the like. */
  async visibleWindows(): Promise<XWindow[]> {
    const tree = await this.#ask(QUERY_TREE, this.#root)
    const windows: XWindow[] = []
    for (let index = 0; index < tree.readUInt16LE(16); index++) {
      const id = tree.readUInt32LE(32 + index * 4)
      const attributes = await this.#ask(GET_ATTRIBUTES, id).catch(() => undefined)
      const overridesRedirect = attributes?.[27] === 1
      if (attributes?.[26] !== VIEWABLE || overridesRedirect) continue
      const geometry = await this.#ask(GET_GEOMETRY, id).catch(() => undefined)
      if (!geometry) continue
      windows.push({
        id,
        left: geometry.readInt16LE(12),
        top: geometry.readInt16LE(14),
        width: geometry.readUInt16LE(16),
        height: geometry.readUInt16LE(18),
      })
    }
    return windows
  }

  /** Resolves when the window has been told. */
  async configure(id: number, { left, top, width, height }: Bounds): Promise<void> {
    const request = Buffer.alloc(28)
    request[0] = CONFIGURE_WINDOW
    request.writeUInt16LE(7, 2)
    request.writeUInt32LE(id, 4)
    request.writeUInt16LE(X_Y_WIDTH_HEIGHT, 8)
    for (const [index, value] of [left, top, width, height].entries()) {
      request.writeInt32LE(value, 12 + index * 4)
    }
    this.#socket.write(request)
    await this.#ask(GET_INPUT_FOCUS)
  }

  async #setUp(): Promise<void> {
    const littleEndian = 0x6c
    this.#socket.write(Buffer.from([littleEndian, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
    const head = await this.#reader.read(8)
    const body = await this.#reader.read(head.readUInt16LE(6) * 4)
    if (head[0] !== 1) throw new Error('Cannot talk to the display: it refused')
    const vendorLength = Math.ceil(body.readUInt16LE(16) / 4) * 4
    const formats = body[21]!
    this.#root = body.readUInt32LE(32 + vendorLength + formats * 8)
  }

  /** For the requests that have no argument but a window. */
  async #ask(opcode: number, window?: number): Promise<Buffer> {
    const request = Buffer.alloc(window === undefined ? 4 : 8)
    request[0] = opcode
    request.writeUInt16LE(request.length / 4, 2)
    if (window !== undefined) request.writeUInt32LE(window, 4)
    this.#socket.write(request)
    for (;;) {
      const head = await this.#reader.read(32)
      if (head[0] === ERROR) throw new Error(`Cannot talk to the display: error ${head[1]}`)
      if (head[0] !== REPLY) continue
      return Buffer.concat([head, await this.#reader.read(head.readUInt32LE(4) * 4)])
    }
  }
}
