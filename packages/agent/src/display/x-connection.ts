// A client of the display: its screen, windows, atoms and extensions.
import { xRequest, xRequestWith, halves } from '@berth/codecs/x11/request'
import { XWire } from './x-wire.ts'

const CHANGE_WINDOW_ATTRIBUTES = 2
const GET_WINDOW_ATTRIBUTES = 3
const CONFIGURE_WINDOW = 12
const GET_GEOMETRY = 14
const QUERY_TREE = 15
const INTERN_ATOM = 16
const GET_INPUT_FOCUS = 43
const QUERY_EXTENSION = 98

const X_Y_WIDTH_HEIGHT = 0b1111
const EVENT_MASK = 1 << 11
const VIEWABLE = 2
const CONFIGURE_NOTIFY = 22
/** Root window events: screen resizes, and messages to window managers. */
const STRUCTURE_AND_SUBSTRUCTURE_NOTIFY = (1 << 17) | (1 << 19)

export interface Bounds {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export interface XWindow extends Bounds {
  readonly id: number
}

export interface XExtension {
  readonly opcode: number
  readonly firstEvent: number
}

type EventHandler = (bytes: Buffer) => void

export class XConnection {
  readonly root: number
  readonly keycodes: { readonly first: number; readonly last: number }
  readonly #wire: XWire
  readonly #handlers: Map<number, Set<EventHandler>>
  readonly #atoms = new Map<string, Promise<number>>()
  readonly #extensions = new Map<string, Promise<XExtension>>()
  #size: { width: number; height: number }
  #nextId: number

  private constructor(wire: XWire, setup: Buffer, handlers: Map<number, Set<EventHandler>>) {
    this.#wire = wire
    this.#handlers = handlers
    this.#nextId = setup.readUInt32LE(12)
    this.keycodes = { first: setup[34]!, last: setup[35]! }
    const vendorBytes = Math.ceil(setup.readUInt16LE(24) / 4) * 4
    const screen = 40 + vendorBytes + setup[29]! * 8
    this.root = setup.readUInt32LE(screen)
    this.#size = { width: setup.readUInt16LE(screen + 20), height: setup.readUInt16LE(screen + 22) }
    this.on(CONFIGURE_NOTIFY, (bytes) => {
      if (bytes.readUInt32LE(8) !== this.root) return
      this.#size = { width: bytes.readUInt16LE(20), height: bytes.readUInt16LE(22) }
    })
    this.listenTo(this.root, STRUCTURE_AND_SUBSTRUCTURE_NOTIFY)
  }

  static async open(display: number, onClose: () => void = () => {}): Promise<XConnection> {
    const handlers = new Map<number, Set<EventHandler>>()
    // The abstract socket works even where the socket directory cannot be created.
    const { wire, setup } = await XWire.open(`\0/tmp/.X11-unix/X${display}`, {
      onEvent: ({ code, bytes }) => handlers.get(code)?.forEach((handle) => handle(bytes)),
      onClose,
    })
    const connection = new XConnection(wire, setup, handlers)
    await connection.sync()
    return connection
  }

  get isOpen(): boolean {
    return this.#wire.isOpen
  }

  /** The screen's size, as last reported by the display. */
  get size(): { width: number; height: number } {
    return this.#size
  }

  destroy(): void {
    this.#wire.destroy()
  }

  /** Queues a request without a reply; sent with the next flush. */
  post(request: Buffer): void {
    this.#wire.post(request)
  }

  flush(): void {
    this.#wire.flush()
  }

  /** A long reply is read into `room`, if given. */
  ask(request: Buffer, room?: Buffer): Promise<Buffer> {
    return this.#wire.ask(request, room)
  }

  /** Resolves when the display has handled all posted requests. */
  async sync(): Promise<void> {
    await this.#wire.ask(xRequest(GET_INPUT_FOCUS, 0))
  }

  on(code: number, handle: EventHandler): Disposable {
    const handlers = this.#handlers.get(code) ?? new Set()
    this.#handlers.set(code, handlers.add(handle))
    return { [Symbol.dispose]: () => handlers.delete(handle) }
  }

  listenTo(window: number, eventMask: number): void {
    this.post(xRequest(CHANGE_WINDOW_ATTRIBUTES, 0, window, EVENT_MASK, eventMask))
  }

  newId(): number {
    return this.#nextId++
  }

  atom(name: string): Promise<number> {
    let atom = this.#atoms.get(name)
    if (!atom) {
      const bytes = Buffer.from(name)
      const asked = this.ask(xRequestWith(bytes, INTERN_ATOM, 0, halves(bytes.length, 0)))
      atom = asked.then((reply) => reply.readUInt32LE(8))
      this.#atoms.set(name, atom)
    }
    return atom
  }

  extension(name: string): Promise<XExtension> {
    let extension = this.#extensions.get(name)
    if (!extension) {
      const bytes = Buffer.from(name)
      const asked = this.ask(xRequestWith(bytes, QUERY_EXTENSION, 0, halves(bytes.length, 0)))
      extension = asked.then((reply) => {
        if (reply[8] !== 1) throw new Error(`Cannot use the display: it has no ${name}`)
        return { opcode: reply[9]!, firstEvent: reply[10]! }
      })
      this.#extensions.set(name, extension)
    }
    return extension
  }

  /** Windows of programs on the screen, without menus and the like. */
  async visibleWindows(): Promise<XWindow[]> {
    const tree = await this.ask(xRequest(QUERY_TREE, 0, this.root))
    const windows: XWindow[] = []
    for (let index = 0; index < tree.readUInt16LE(16); index++) {
      const id = tree.readUInt32LE(32 + index * 4)
      const attributes = await this.ask(xRequest(GET_WINDOW_ATTRIBUTES, 0, id)).catch(() => undefined)
      const overridesRedirect = attributes?.[27] === 1
      if (attributes?.[26] !== VIEWABLE || overridesRedirect) continue
      const geometry = await this.ask(xRequest(GET_GEOMETRY, 0, id)).catch(() => undefined)
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

  /** Resolves when the display has handled the request. */
  async configure(id: number, { left, top, width, height }: Bounds): Promise<void> {
    this.post(xRequest(CONFIGURE_WINDOW, 0, id, X_Y_WIDTH_HEIGHT, left, top, width, height))
    await this.sync()
  }
}
