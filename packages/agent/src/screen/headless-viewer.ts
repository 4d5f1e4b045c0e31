// One viewer of a headless Chromium: an RFB server for one client, whose screen is the page in front. Each
// picture is one JPEG, sent when the client asks for it.
import type { Socket } from 'node:net'
import { readEncodings, RFB_VERSION, RfbClientMessages, rfbMessages } from '@berth/codecs/rfb/client-messages'
import type { Chromium } from '../chromium/chromium.ts'
import { computerOf } from '../control/computer/computer.ts'
import { log } from '../log/log.ts'
import type { SoundOutput } from '../sound/sound-output.ts'
import { HeadlessInput } from './headless-input.ts'
import { ViewerSound } from './viewer-sound.ts'
import { Screencast, type Audience, type Picture } from './screencast.ts'

const NO_SECURITY = 1
const NAME = 'Berth'
const TIGHT = 7
const TIGHT_JPEG = 0x90
const DESKTOP_SIZE = -223
/** The largest length that the encoding can express. */
const MAX_JPEG_BYTES = 2 ** 22 - 1

const screencasts = new WeakMap<Chromium, Screencast>()

export function watchHeadless(
  link: Socket,
  { chromium, sound }: { chromium: Chromium; sound: SoundOutput },
): void {
  const screencast = screencasts.get(chromium) ?? new Screencast(chromium)
  screencasts.set(chromium, screencast)
  new HeadlessViewer(link, { chromium, screencast, sound }).start()
}

class HeadlessViewer implements Audience {
  readonly #link: Socket
  readonly #chromium: Chromium
  readonly #screencast: Screencast
  readonly #input: HeadlessInput
  readonly #sound: ViewerSound
  readonly #messages = new RfbClientMessages()
  #opened = 0
  #takesTight = false
  #isAsked = false
  #size: { width: number; height: number }
  #shown: Picture | undefined

  constructor(
    link: Socket,
    { chromium, screencast, sound }: { chromium: Chromium; screencast: Screencast; sound: SoundOutput },
  ) {
    this.#sound = new ViewerSound(link, sound, () => true)
    this.#link = link
    this.#chromium = chromium
    this.#screencast = screencast
    this.#size = chromium.looks!
    this.#input = new HeadlessInput(computerOf(chromium), {
      onFull: (isFull) => (isFull ? link.pause() : link.resume()),
      toPoint: (x, y) => this.#pointAt(x, y),
    })
  }

  start(): void {
    this.#link.setNoDelay(true)
    this.#link.on('data', (chunk: Buffer) => {
      try {
        for (const message of this.#messages.split(chunk)) this.#take(message)
      } catch (error) {
        log('A viewer sent a malformed message', error)
        this.#link.destroy()
      }
    })
    this.#link.on('drain', () => {
      if (this.isWaiting) this.#update()
    })
    this.#link.once('end', () => this.#link.destroy())
    this.#link.once('close', () => {
      this.#screencast.leave(this)
      this.#input.close()
    })
    this.#link.resume()
    this.#link.write(RFB_VERSION)
    if (this.#link.destroyed) return
    this.#screencast.join(this)
  }

  get isWaiting(): boolean {
    return this.#isAsked && !this.#link.writableNeedDrain
  }

  show(): void {
    if (this.isWaiting) this.#update()
  }

  over(): void {
    this.#link.destroy()
  }

  #take(message: Buffer): void {
    if (this.#opened < 3) return this.#open()
    if (this.#sound.hear(message)) return
    switch (message[0]) {
      case rfbMessages.setEncodings:
        this.#takesTight ||= readEncodings(message).includes(TIGHT)
        break
      case rfbMessages.updateRequest: {
        const isIncremental = message[1] === 1
        if (!isIncremental) this.#shown = undefined
        this.#isAsked = true
        this.#update()
        this.#screencast.wanted()
        break
      }
      case rfbMessages.key:
        this.#input.key(message.readUInt32BE(4), message[1] === 1)
        break
      case rfbMessages.pointer:
        this.#input.pointer(message[1]!, message.readUInt16BE(2), message.readUInt16BE(4))
        break
      case rfbMessages.cutText: {
        const length = message.readInt32BE(4)
        // The extended form is not offered.
        if (length >= 0) this.#input.clipboard(message.toString('latin1', 8))
        break
      }
      default:
    }
  }

  #open(): void {
    this.#opened++
    const answers = [Buffer.from([1, NO_SECURITY]), Buffer.alloc(4), serverInit(this.#size)]
    this.#link.write(answers[this.#opened - 1]!)
  }

  #update(): void {
    const picture = this.#screencast.last
    if (!picture || picture === this.#shown || !this.isWaiting || !this.#takesTight) return
    if (picture.jpeg.length > MAX_JPEG_BYTES) return
    this.#isAsked = false
    this.#shown = picture
    const { width, height, jpeg } = picture
    const isResized = width !== this.#size.width || height !== this.#size.height
    this.#size = { width, height }
    const head = Buffer.alloc(4)
    head.writeUInt16BE(isResized ? 2 : 1, 2)
    this.#link.write(
      Buffer.concat([
        head,
        ...(isResized ? [rectangle(this.#size, DESKTOP_SIZE)] : []),
        rectangle(this.#size, TIGHT),
        Buffer.from([TIGHT_JPEG, ...compactLength(jpeg.length)]),
        jpeg,
      ]),
    )
  }

  #pointAt(x: number, y: number): { x: number; y: number } {
    const { width, height } = this.#screencast.last?.page ?? this.#chromium.looks!
    return {
      x: Math.round((x * width) / this.#size.width),
      y: Math.round((y * height) / this.#size.height),
    }
  }
}

function serverInit({ width, height }: { width: number; height: number }): Buffer {
  const name = Buffer.from(NAME)
  const init = Buffer.alloc(24)
  init.writeUInt16BE(width, 0)
  init.writeUInt16BE(height, 2)
  // 32 bits per pixel, 24 of them colour, in the byte order of X servers.
  init.set([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0], 4)
  init.writeUInt32BE(name.length, 20)
  return Buffer.concat([init, name])
}

function rectangle({ width, height }: { width: number; height: number }, encoding: number): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(width, 4)
  head.writeUInt16BE(height, 6)
  head.writeInt32BE(encoding, 8)
  return head
}

/** Tight's length encoding: seven bits per byte, eight in the last. */
function compactLength(length: number): number[] {
  if (length < 0x80) return [length]
  if (length < 0x4000) return [(length & 0x7f) | 0x80, length >> 7]
  return [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14]
}
