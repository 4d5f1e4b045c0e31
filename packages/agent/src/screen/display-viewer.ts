// One viewer of a display. It gets RFB from the X server. While much of the screen moves, a viewer that can decode
// H.264 gets video instead: the agent asks the X server for one pixel only, so that it still reports cursor, clipboard
// and size, and inserts video frames between its messages. After that, the X server sends the whole screen again.
import type { Socket } from 'node:net'
import {
  readEncodings,
  RfbClientMessages,
  rfbMessages,
  setEncodings,
} from '@berth/codecs/rfb/client-messages'
import { canFollow, rfbEncodings, RfbScreenMessages } from '@berth/codecs/rfb/screen-messages'
import type { Display } from '../display/display.ts'
import { log } from '../log/log.ts'
import { ENCODER } from '../recording/pictures/encoder.ts'
import { Motion, type Audience } from './motion/motion.ts'
import type { MotionPicture } from './motion/stream.ts'
import { Movement } from './movement.ts'
import { fence, isAnswer, updateOf, updatesOf, wholeOf, type Region } from '@berth/codecs/rfb/viewer-messages'
import type { SoundOutput } from '../sound/sound-output.ts'
import { pathExists } from '../user/path-exists.ts'
import { ViewerSound } from './viewer-sound.ts'

/** With this many unanswered pictures, a viewer gets no more until it answers. */
const MANY_UNDER_WAY = 8
/**
 * Other viewers may be faster and still get pictures. A viewer with this many unanswered pictures, or without an answer
 * for SILENCE_TIMEOUT_MS, goes back to the X server, which only sends what there is room for.
 */
const MAX_UNDER_WAY = 12
/** How much unread data is kept for a viewer, whatever it answers. */
const MAX_HELD_BYTES = 1024 * 1024
/**
 * An X server sends an update in small pieces, about forty for a picture. Viewers cannot show a part of an update, and
 * each piece would wake every process on the way, so the pieces are collected. More than this is sent anyway.
 */
const MAX_GATHERED_BYTES = 32 * 1024
const SILENCE_TIMEOUT_MS = 2_000
const LOOK_MS = 200
/** How long a viewer stays with the X server after video has ended, by the reason. */
const REST_MS = { still: 1_000, failed: 10_000 }
const ONE_PIXEL: Region = { x: 0, y: 0, width: 1, height: 1 }
const TRUE_COLOUR = { bits: 32, depth: 24 }

const motions = new WeakMap<Display, Motion>()

export function watchDisplay(
  link: Socket,
  screen: Socket,
  { display, sound }: { display: Display; sound: SoundOutput },
): void {
  const motion = motions.get(display) ?? new Motion(display)
  motions.set(display, motion)
  new DisplayViewer(link, screen, { motion, sound }).start()
}

class DisplayViewer implements Audience {
  readonly #link: Socket
  readonly #screen: Socket
  readonly #motion: Motion
  readonly #sound: ViewerSound
  readonly #movement = new Movement()
  readonly #fromViewer = new RfbClientMessages()
  /** Undefined after the X server sent something that we cannot parse. */
  #fromScreen: RfbScreenMessages | undefined
  #opened = 0
  #hasTrueColour = false
  #takesVideo = false
  /** The region for which the viewer wants continuous updates. */
  #region: Region | undefined
  #isMember = false
  #isVideo = false
  /** The pieces of an incomplete update; with `#hasWhole`, a complete update is before them. */
  #gathered: Buffer[] = []
  #gatheredBytes = 0
  #hasWhole = false
  #waiting: MotionPicture[] = []
  #underWay = 0
  #answeredAt = 0
  #restUntil = 0
  #timer: NodeJS.Timeout | undefined

  constructor(link: Socket, screen: Socket, { motion, sound }: { motion: Motion; sound: SoundOutput }) {
    this.#link = link
    this.#screen = screen
    this.#motion = motion
    this.#sound = new ViewerSound(link, sound, () => this.#fromScreen?.isBetween ?? false)
    this.#fromScreen = new RfbScreenMessages({
      onUpdate: (pixels) => this.#onUpdate(pixels),
      onResize: () => this.#onResize(),
    })
  }

  start(): void {
    const [link, screen] = [this.#link, this.#screen]
    if (link.destroyed || screen.destroyed) return void [link, screen].map((end) => end.destroy())
    link.on('data', (chunk: Buffer) => this.#fromLink(chunk))
    screen.on('data', (chunk: Buffer) => this.#toLink(chunk))
    link.on('drain', () => {
      screen.resume()
      this.#motion.wanted()
    })
    screen.on('drain', () => link.resume())
    screen.once('end', () => this.#passOn())
    for (const [one, other] of [
      [link, screen],
      [screen, link],
    ] as const) {
      one.on('error', () => other.destroy())
      one.once('end', () => other.end())
      // Data that is already written still arrives.
      one.once('close', () => {
        this.#leave()
        other.end(() => other.destroy())
      })
    }
    link.resume()
    screen.resume()
  }

  get isBehind(): boolean {
    return this.#underWay + this.#waiting.length >= MANY_UNDER_WAY || this.#link.writableNeedDrain
  }

  get #hasTooMany(): boolean {
    return (
      this.#underWay + this.#waiting.length >= MAX_UNDER_WAY || this.#link.writableLength > MAX_HELD_BYTES
    )
  }

  show(picture: MotionPicture): void {
    // A recording keeps the size that it began with, so its pictures may have another size.
    if (!this.#region || !isOf(picture, this.#region)) return this.#rest('failed')
    if (!this.#isVideo) {
      if (!picture.isKey) return
      this.#begin()
    } else if (this.#hasTooMany) return this.#rest('failed')
    this.#waiting.push(picture)
    this.#send()
  }

  moved(share: number): void {
    if (this.#isVideo) this.#movement.add(share)
  }

  over(why: 'still' | 'failed'): void {
    this.#isMember = false
    this.#rest(why)
  }

  #fromLink(chunk: Buffer): void {
    let messages: Buffer[]
    try {
      messages = this.#fromViewer.split(chunk)
    } catch (error) {
      log('A viewer sent a malformed message', error)
      return void this.#link.destroy()
    }
    const passed = messages.flatMap((message) => this.#hear(message) ?? [])
    if (passed.length > 0 && !this.#screen.write(Buffer.concat(passed))) this.#link.pause()
  }

  /** Returns the message to pass on to the X server, if any. */
  #hear(message: Buffer): Buffer | undefined {
    if (this.#opened < 3) {
      this.#opened++
      return message
    }
    if (this.#sound.hear(message)) return undefined
    switch (message[0]) {
      case rfbMessages.setPixelFormat:
        this.#hasTrueColour = message[4] === TRUE_COLOUR.bits && message[5] === TRUE_COLOUR.depth
        this.#passOn()
        return message
      case rfbMessages.setEncodings:
        return this.#choose(message)
      case rfbMessages.continuousUpdates:
        this.#leave()
        this.#region = message[1] === 1 ? regionOf(message) : undefined
        return message
      case rfbMessages.fence:
        if (!isAnswer(message)) return message
        this.#underWay = Math.max(0, this.#underWay - 1)
        this.#answeredAt = performance.now()
        this.#motion.wanted()
        return undefined
      default:
        return message
    }
  }

  #choose(message: Buffer): Buffer {
    const encodings = readEncodings(message)
    const { h264, tight, fence: fences, continuousUpdates } = rfbEncodings
    const needed = [h264, tight, fences, continuousUpdates]
    this.#takesVideo = needed.every((each) => encodings.includes(each)) && pathExists(ENCODER)
    if (!this.#takesVideo) this.#leave()
    // Sound, too, goes between messages, so they must be followed. An X server takes Tight if it may.
    if (!encodings.includes(tight)) return message
    return setEncodings(encodings.filter(canFollow))
  }

  #toLink(chunk: Buffer): void {
    this.#gathered.push(chunk)
    this.#gatheredBytes += chunk.length
    try {
      this.#fromScreen?.take(chunk)
    } catch (error) {
      log('Cannot follow the messages of the X server', error)
      this.#leave()
      this.#fromScreen = undefined
    }
    // With another pixel format, lengths differ, and the end of an update is unknown.
    const mayWait = this.#hasTrueColour && this.#fromScreen?.isInUpdate && !this.#hasWhole
    if (!mayWait || this.#gatheredBytes >= MAX_GATHERED_BYTES) this.#passOn()
    this.#send()
  }

  #passOn(): void {
    if (this.#gatheredBytes === 0) return
    this.#link.cork()
    const hasRoom = this.#gathered.map((piece) => this.#link.write(piece)).every(Boolean)
    this.#link.uncork()
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#hasWhole = false
    if (!hasRoom) this.#screen.pause()
  }

  #onUpdate(pixels: number): void {
    this.#hasWhole = true
    if (this.#isVideo || !this.#region || !this.#takesVideo || !this.#hasTrueColour) return
    this.#movement.add(pixels / (this.#region.width * this.#region.height))
    if (this.#isMember || !this.#movement.isMuch || performance.now() < this.#restUntil) return
    this.#isMember = true
    this.#answeredAt = performance.now()
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS)
    this.#motion.join(this)
  }

  #onResize(): void {
    // Pictures of the old size are useless.
    if (this.#isMember) this.#motion.end('still')
  }

  #begin(): void {
    this.#isVideo = true
    this.#screen.write(updatesOf(ONE_PIXEL))
  }

  /** Pictures go between the messages of the X server. */
  #send(): void {
    if (this.#fromScreen?.isBetween) this.#sound.send()
    while (this.#waiting.length > 0 && this.#fromScreen?.isBetween) {
      const picture = this.#waiting.shift()!
      this.#underWay++
      this.#link.cork()
      this.#link.write(updateOf(picture))
      this.#link.write(picture.bytes)
      this.#link.write(fence())
      this.#link.uncork()
    }
  }

  #look(): void {
    if (!this.#isVideo) {
      if (this.#movement.isLittle) this.#rest('still')
      return
    }
    const isSilent = this.#underWay > 0 && performance.now() - this.#answeredAt > SILENCE_TIMEOUT_MS
    if (isSilent) this.#rest('failed')
    else if (this.#movement.isLittle) this.#rest('still')
  }

  #rest(why: 'still' | 'failed'): void {
    this.#restUntil = performance.now() + REST_MS[why]
    this.#leave()
  }

  #leave(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#isMember) this.#motion.leave(this)
    this.#isMember = false
    this.#waiting = []
    this.#movement.clear()
    if (!this.#isVideo) return
    this.#isVideo = false
    if (this.#region && this.#screen.writable)
      this.#screen.write(Buffer.concat([updatesOf(this.#region), wholeOf(this.#region)]))
  }
}

const isOf = ({ size }: MotionPicture, { width, height }: Region) =>
  size.width === (width & ~1) && size.height === (height & ~1)

function regionOf(message: Buffer): Region {
  const [x, y, width, height] = [2, 4, 6, 8].map((at) => message.readUInt16BE(at)) as [
    number,
    number,
    number,
    number,
  ]
  return { x, y, width, height }
}
