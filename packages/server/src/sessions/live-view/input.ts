// Filters what a viewer sends to the screen, message by message: read-only viewers change nothing, and floods are
// slowed down. Bytes from the screen are not filtered.
import {
  readEncodings,
  RFB_VERSION,
  RfbClientMessages,
  RfbError,
  rfbMessages,
  setEncodings,
} from '@berth/codecs/rfb/client-messages'
import { wantsSound } from '@berth/codecs/rfb/sound-messages'
import { LoginKeys } from './login-keys.ts'

const NO_SECURITY = 1
const SHARED = 1
/** Pointer moves are sent no more often than a screen could show them. */
const MOVES_MS = 8
/** Limits all other messages: a burst and a rate per second. A viewer above them is paused. */
const MAX_AT_ONCE = 2_000
const PER_SECOND = 500
/** The longest pause, because a paused viewer that leaves is not noticed. */
const MAX_WAIT_SECONDS = 5
/** A full picture is the most expensive request; a long text counts as many keys. */
const WHOLE_PICTURE_COST = 20
const BYTES_PER_COST = 256

const EXTENDED_CLIPBOARD = 0xc0a1e5ce | 0

/**
 * Encodings and extensions that a viewer may request. Others could change the format of messages, such as a pointer
 * event of seven bytes, so that this filter would misread them.
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

/** Extended clipboard: accept notifications about text, but no text. */
const NO_CLIPBOARD = cutTextOf({ flags: (1 << 24) | (1 << 27) | 1, sizes: [0] })

const inputs: ReadonlySet<number> = new Set([
  rfbMessages.key,
  rfbMessages.pointer,
  rfbMessages.cutText,
  rfbMessages.qemu,
])
/** Only the API may resize the screen, and nobody may control its power. */
const forNobody: ReadonlySet<number> = new Set([rfbMessages.setDesktopSize, rfbMessages.power])

/** A key that is pressed or released: its symbol. */
const KEYSYM_AT = 4
/** The place of a key, by which the screen would take another key than the one that was judged. */
const KEYS_BY_PLACE = -258
const LEFT_BUTTON = 1
/** Left button and the wheel: the others open menus and tabs, or go back. */
const LOGIN_BUTTONS = LEFT_BUTTON | 0b1111000
/** In its topmost rows a full-screen Chromium offers its own controls. */
const LOGIN_TOP = 8

export interface InputOptions {
  readonly isReadOnly: boolean
  /** Set for the link of one login: whether its flow waits for the person now. */
  readonly isLoginStuck?: (() => boolean) | undefined
  /** Sends bytes to the screen. */
  readonly pass: (bytes: Buffer) => void
}

export class Input {
  readonly #isReadOnly: boolean
  readonly #isLoginStuck: (() => boolean) | undefined
  readonly #loginKeys = new LoginKeys()
  readonly #pass: InputOptions['pass']
  readonly #messages = new RfbClientMessages()
  #opened = 0
  #out: Buffer[] = []
  #buttons = 0
  /** The last pointer move, not sent yet. */
  #move: Buffer | undefined
  #movedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #allowance = MAX_AT_ONCE
  #allowedAt = performance.now()

  constructor({ isReadOnly, isLoginStuck, pass }: InputOptions) {
    this.#isReadOnly = isReadOnly
    this.#isLoginStuck = isLoginStuck
    this.#pass = pass
  }

  /** Returns for how many milliseconds to pause reading. Throws an RfbError for malformed RFB. */
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

  /** Accepts only the opening that our own page sends. */
  #open(step: Buffer): void {
    const isRight = [
      () => step.toString('latin1') === RFB_VERSION,
      () => step[0] === NO_SECURITY,
      () => true,
    ][this.#opened]!()
    if (!isRight) throw new RfbError('the opening is not valid')
    this.#opened++
    // A new viewer must not disconnect the others.
    this.#out.push(this.#opened === 3 ? Buffer.from([SHARED]) : step)
  }

  #judge(message: Buffer): void {
    const type = message[0]!
    // Whoever may watch may listen.
    if (wantsSound(message) !== undefined) {
      this.#spend(1)
      return void this.#out.push(message)
    }
    if (this.#isLoginStuck && inputs.has(type) && !this.#isForLogin(message)) return this.#spend(1)
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

  /** Narrows the message to what a login needs; false for one that must not pass. */
  #isForLogin(message: Buffer): boolean {
    const type = message[0]!
    const isKey = type === rfbMessages.key
    const isRelease = isKey && message[1] === 0
    // What was pressed is released in any case.
    if (!this.#isLoginStuck!() && !isRelease) {
      if (type !== rfbMessages.pointer || this.#buttons === 0) return false
      message[1] = 0
    }
    if (type === rfbMessages.pointer) {
      const isShortcut = this.#loginKeys.isControlHeld || this.#loginKeys.isShiftHeld
      message[1]! &= isShortcut ? LOGIN_BUTTONS & ~LEFT_BUTTON : LOGIN_BUTTONS
      message.writeUInt16BE(Math.max(LOGIN_TOP, message.readUInt16BE(4)), 4)
      return true
    }
    return isKey
      ? this.#loginKeys.take(message.readUInt32BE(KEYSYM_AT), !isRelease)
      : type === rfbMessages.cutText
  }

  /** Keeps only the last of many moves, but every press and release with its position. */
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
    const kept = readEncodings(message)
      .filter(isKnown)
      .filter((encoding) => !this.#isLoginStuck || encoding !== KEYS_BY_PLACE)
    // The screen sends copied text to every viewer that does not opt out.
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
