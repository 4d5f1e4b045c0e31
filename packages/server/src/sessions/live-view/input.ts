// What a viewer may say to the screen. Bytes from the screen are passed on as they are; these are looked at,
// message by message: who only watches changes nothing, and a flood becomes a trickle.
import {
  readEncodings,
  RFB_VERSION,
  RfbClientMessages,
  RfbError,
  rfbMessages,
  setEncodings,
} from '@berth/codecs/rfb/client-messages'

const NO_SECURITY = 1
const SHARED = 1
/** A pointer that moves is told no more often than a screen could show it. */
const MOVES_MS = 8
/** Of everything else: so many at once, and so many a second. Who has used them up is read again later. */
const MAX_AT_ONCE = 2_000
const PER_SECOND = 500
/** And no later than that: while it is not read, nobody hears that it leaves. */
const MAX_WAIT_SECONDS = 5
/** A whole picture is the most that a message can ask for, and a long text is many keys. */
const WHOLE_PICTURE_COST = 20
const BYTES_PER_COST = 256

const EXTENDED_CLIPBOARD = 0xc0a1e5ce | 0

/**
 * Encodings and extensions that a viewer may ask for. Others could make messages mean something else than we
 * read in them, such as a pointer of seven bytes.
 */
const known = new Set([
  0, // raw
  1, // copied from elsewhere on the screen
  2, // RRE
  5, // Hextile
  6, // zlib
  7, // Tight
  16, // ZRLE
  21, // JPEG
  50, // H.264
  -223, // another size of the screen
  -224, // the last rectangle
  -239, // the cursor
  -258, // keys by their place on the keyboard
  -260, // Tight with PNG
  -261, // lights of the keyboard
  -307, // the name
  -308, // another size of the screen, by parts
  -312, // fences
  -313, // updates without requests
  0x574d5664, // the cursor, half transparent
  EXTENDED_CLIPBOARD,
])
const isKnown = (encoding: number) =>
  known.has(encoding) || (encoding >= -32 && encoding <= -23) || (encoding >= -256 && encoding <= -247)

/** Of the extended clipboard: we take news of text, and none of the text itself. */
const NO_CLIPBOARD = cutTextOf({ flags: (1 << 24) | (1 << 27) | 1, sizes: [0] })

const inputs: ReadonlySet<number> = new Set([
  rfbMessages.key,
  rfbMessages.pointer,
  rfbMessages.cutText,
  rfbMessages.qemu,
])
/** The size of the screen is for the API to change, and its power for nobody. */
const forNobody: ReadonlySet<number> = new Set([rfbMessages.setDesktopSize, rfbMessages.power])

export interface InputOptions {
  readonly isReadOnly: boolean
  /** Gets what is to reach the screen. */
  readonly pass: (bytes: Buffer) => void
}

export class Input {
  readonly #isReadOnly: boolean
  readonly #pass: InputOptions['pass']
  readonly #messages = new RfbClientMessages()
  #opened = 0
  #out: Buffer[] = []
  #buttons = 0
  /** Where the pointer has moved to, not told yet. */
  #move: Buffer | undefined
  #movedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #allowance = MAX_AT_ONCE
  #allowedAt = performance.now()

  constructor({ isReadOnly, pass }: InputOptions) {
    this.#isReadOnly = isReadOnly
    this.#pass = pass
  }

  /** Returns for how many milliseconds no more is to be read. Throws an RfbError for what is not RFB. */
  take(chunk: Buffer): number {
    for (const message of this.#messages.split(chunk)) {
      if (this.#opened < 3) this.#open(message)
      else this.#judge(message)
    }
    const now = performance.now()
    if (this.#move && now - this.#movedAt >= MOVES_MS) this.#tellMove(now)
    this.#send()
    if (this.#move) this.#timer ??= setTimeout(() => this.#onTimer(), MOVES_MS)
    return this.#allowance >= 0 ? 0 : (-this.#allowance / PER_SECOND) * 1000
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#move = undefined
  }

  /** Nothing but what every viewer of ours says. */
  #open(step: Buffer): void {
    const isRight = [
      () => step.toString('latin1') === RFB_VERSION,
      () => step[0] === NO_SECURITY,
      () => true,
    ][this.#opened]!()
    if (!isRight) throw new RfbError('the opening is not that of a viewer')
    this.#opened++
    // Whoever comes throws nobody out.
    this.#out.push(this.#opened === 3 ? Buffer.from([SHARED]) : step)
  }

  #judge(message: Buffer): void {
    const type = message[0]!
    if (forNobody.has(type) || (this.#isReadOnly && inputs.has(type))) return this.#spend(1)
    if (type === rfbMessages.pointer) return this.#point(message)
    this.#tellMove(this.#movedAt)
    if (type === rfbMessages.setEncodings) {
      this.#spend(1)
      return void this.#out.push(this.#encodings(message))
    }
    const isWholePicture = type === rfbMessages.updateRequest && message[1] === 0
    this.#spend(isWholePicture ? WHOLE_PICTURE_COST : 1 + Math.floor(message.length / BYTES_PER_COST))
    this.#out.push(message)
  }

  /** Only the last of many moves counts, but every press and release does, where it happened. */
  #point(message: Buffer): void {
    const buttons = message[1]!
    if (buttons === this.#buttons) {
      this.#move = message
      return
    }
    this.#tellMove(this.#movedAt)
    this.#buttons = buttons
    this.#spend(1)
    this.#out.push(message)
  }

  #tellMove(now: number): void {
    if (!this.#move) return
    this.#out.push(this.#move)
    this.#move = undefined
    this.#movedAt = now
  }

  #onTimer(): void {
    this.#timer = undefined
    this.#tellMove(performance.now())
    this.#send()
  }

  #send(): void {
    if (this.#out.length === 0) return
    const bytes = this.#out.length === 1 ? this.#out[0]! : Buffer.concat(this.#out)
    this.#out = []
    this.#pass(bytes)
  }

  #encodings(message: Buffer): Buffer {
    const kept = readEncodings(message).filter(isKnown)
    // The screen sends what is copied there to everybody, unless somebody says that it should not.
    if (this.#isReadOnly && !kept.includes(EXTENDED_CLIPBOARD)) kept.push(EXTENDED_CLIPBOARD)
    const bytes = setEncodings(kept)
    return this.#isReadOnly ? Buffer.concat([bytes, NO_CLIPBOARD]) : bytes
  }

  #spend(cost: number): void {
    const now = performance.now()
    const earned = ((now - this.#allowedAt) / 1000) * PER_SECOND
    this.#allowedAt = now
    const left = Math.min(MAX_AT_ONCE, this.#allowance + earned) - cost
    this.#allowance = Math.max(left, -PER_SECOND * MAX_WAIT_SECONDS)
  }
}

function cutTextOf({ flags, sizes }: { flags: number; sizes: readonly number[] }): Buffer {
  const bytes = Buffer.alloc(12 + sizes.length * 4)
  bytes[0] = rfbMessages.cutText
  bytes.writeInt32BE(-(4 + sizes.length * 4), 4)
  bytes.writeUInt32BE(flags >>> 0, 8)
  for (const [index, size] of sizes.entries()) bytes.writeUInt32BE(size, 12 + index * 4)
  return bytes
}
