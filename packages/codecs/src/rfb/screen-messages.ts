// Follows what a screen sends in the remote framebuffer protocol: where each message ends, and how much of the screen an
// update paints. Keeps nothing else.
import { ByteQueue } from '../bytes/byte-queue.ts'
import { RfbError } from './client-messages.ts'

export const rfbEncodings = {
  raw: 0,
  copy: 1,
  tight: 7,
  h264: 50,
  desktopSize: -223,
  lastRectangle: -224,
  cursor: -239,
  physicalKeys: -258,
  lights: -261,
  name: -307,
  desktopSizeByParts: -308,
  fence: -312,
  continuousUpdates: -313,
  softCursor: 0x574d5664,
} as const

const TIGHT_WITH_PNG = -260
/** Encodings that can be followed. A client must request no other picture encodings. */
const followed: ReadonlySet<number> = new Set(Object.values(rfbEncodings))
export const canFollow = (encoding: number): boolean =>
  followed.has(encoding) || (encoding < 0 && encoding !== TIGHT_WITH_PNG)

const FINAL_COMPACT_SHIFT = 14
/** Tight sends shorter data uncompressed and without a length. */
const MIN_COMPRESSED = 12
const TIGHT_FILL = 8
const TIGHT_JPEG = 9
const TIGHT_HAS_FILTER = 4
const TIGHT_PALETTE = 1

const NOTHING = Buffer.alloc(0)

export interface RfbScreenEvents {
  /** An update is complete; it painted that many pixels. */
  readonly onUpdate: (pixels: number) => void
  /** The size of the screen changes here. */
  readonly onResize: () => void
}

/** For 32 bits per pixel, which Tight sends as three bytes. */
export class RfbScreenMessages {
  readonly #events: RfbScreenEvents
  readonly #steps: Generator<number, never, Buffer>
  #isBetween = false
  #isInUpdate = false
  /** Number of bytes to read next; negative: number of bytes to skip. */
  #wanted: number
  readonly #queue = new ByteQueue()

  constructor(events: RfbScreenEvents) {
    this.#events = events
    this.#steps = this.#follow()
    this.#wanted = this.#steps.next().value
  }

  /** Whether the handshake is over and no message is incomplete. */
  get isBetween(): boolean {
    return this.#isBetween
  }

  /** Whether an update is incomplete, so that it cannot be shown yet. */
  get isInUpdate(): boolean {
    return this.#isInUpdate
  }

  /** Throws an RfbError for an unknown message; the stream cannot be followed after that. */
  take(chunk: Buffer): void {
    const queue = this.#queue
    queue.push(chunk)
    for (;;) {
      if (this.#wanted < 0) {
        this.#wanted += queue.skip(-this.#wanted)
        if (this.#wanted < 0) return
        this.#go(NOTHING)
      } else {
        if (queue.length < this.#wanted) break
        this.#go(queue.take(this.#wanted))
      }
    }
    // Keeps the few bytes of an incomplete head, but not the chunk that they came in.
    queue.compact()
  }

  #go(bytes: Buffer): void {
    this.#wanted = this.#steps.next(bytes).value
    while (this.#wanted === 0) this.#wanted = this.#steps.next(NOTHING).value
  }

  *#follow(): Generator<number, never, Buffer> {
    yield* opening()
    for (;;) {
      this.#isBetween = true
      const [type] = yield 1
      this.#isBetween = false
      switch (type) {
        case 0:
          yield* this.#update()
          break
        case 2: // a bell
        case 150: // updates come without requests
          break
        case 3: // copied text; the length is negative in its extended form
          yield -Math.abs((yield 7).readInt32BE(3))
          break
        case 248: // a fence
          yield -(yield 8)[7]!
          break
        default:
          throw new RfbError(`message ${type} of the screen is unknown`)
      }
    }
  }

  *#update(): Generator<number, void, Buffer> {
    this.#isInUpdate = true
    const count = (yield 3).readUInt16BE(1)
    let pixels = 0
    for (let index = 0; index < count; index++) {
      const head = yield 12
      const [width, height] = [head.readUInt16BE(4), head.readUInt16BE(6)]
      const encoding = head.readInt32BE(8)
      if (encoding === rfbEncodings.lastRectangle) break
      const isPicture = yield* this.#rectangle(encoding, { width, height })
      if (isPicture) pixels += width * height
    }
    this.#isInUpdate = false
    this.#events.onUpdate(pixels)
  }

  *#rectangle(
    encoding: number,
    { width, height }: { width: number; height: number },
  ): Generator<number, boolean, Buffer> {
    const pixels = width * height
    switch (encoding) {
      case rfbEncodings.raw:
        yield -(pixels * 4)
        return true
      case rfbEncodings.copy:
        yield -4
        return true
      case rfbEncodings.tight:
        yield* tight({ width, height })
        return true
      case rfbEncodings.desktopSize:
        this.#events.onResize()
        return false
      case rfbEncodings.desktopSizeByParts:
        yield -((yield 4)[0]! * 16)
        this.#events.onResize()
        return false
      case rfbEncodings.cursor:
        yield -(pixels * 4 + Math.ceil(width / 8) * height)
        return false
      case rfbEncodings.softCursor: {
        const hasOpacity = (yield 2)[0] === 1
        yield -(hasOpacity ? pixels * 4 : pixels * 8)
        return false
      }
      case rfbEncodings.lights:
        yield -1
        return false
      case rfbEncodings.name:
        yield -(yield 4).readUInt32BE(0)
        return false
      case rfbEncodings.physicalKeys:
        return false
      default:
        throw new RfbError(`encoding ${encoding} is unknown`)
    }
  }
}

/** Version, kinds of security, result of the security check, and the screen with its name. */
function* opening(): Generator<number, void, Buffer> {
  yield -12
  yield -(yield 1)[0]!
  yield -4
  yield -(yield 24).readUInt32BE(20)
}

function* tight({ width, height }: { width: number; height: number }): Generator<number, void, Buffer> {
  const kind = (yield 1)[0]! >> 4
  if (kind === TIGHT_FILL) return void (yield -3)
  if (kind === TIGHT_JPEG) return void (yield -(yield* compactLength()))
  if (kind > TIGHT_JPEG) throw new RfbError(`Tight has no ${kind}`)
  let bytes = width * height * 3
  if (kind & TIGHT_HAS_FILTER && (yield 1)[0] === TIGHT_PALETTE) {
    const colours = (yield 1)[0]! + 1
    yield -(colours * 3)
    bytes = (colours === 2 ? Math.ceil(width / 8) : width) * height
  }
  yield -(bytes < MIN_COMPRESSED ? bytes : yield* compactLength())
}

/** A number with seven bits per byte; the last byte has eight. */
function* compactLength(): Generator<number, number, Buffer> {
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = (yield 1)[0]!
    const isLast = shift === FINAL_COMPACT_SHIFT
    length |= (isLast ? byte : byte & 0x7f) << shift
    if (isLast || byte < 0x80) return length
  }
}
