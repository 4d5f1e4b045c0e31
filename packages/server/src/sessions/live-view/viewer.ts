// One viewer: a websocket to the page and an RFB stream to the screen. Bytes from the screen pass unchanged at the pace
// of the viewer; messages of the viewer pass through input.ts first.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RfbError } from '@berth/codecs/rfb/client-messages'
import { closeFrame, frameHead, opcodes, pingFrame, pongFrame } from '@berth/codecs/websocket/frames'
import { endSoon, type Pipe, type PipeOptions } from '../gateway/splice.ts'
import { ClientFrames, FrameError, type Piece } from '@berth/codecs/websocket/client-frames'
import { Input } from './input.ts'

/** The end reason may arrive this long after the screen's connection ends. */
const LAST_WORDS_MS = 250
const KEEP_ALIVE_MS = 30_000
/** RFC 6455 code for a viewer that sends malformed messages. */
const POLICY_VIOLATION = 1008

export interface ViewerOptions extends PipeOptions {
  readonly isReadOnly: boolean
  readonly isLoginStuck?: (() => boolean) | undefined
}

export class Viewer implements Pipe {
  readonly #client: Socket
  readonly #screen: Duplex
  readonly #graceMs: number
  readonly #onTraffic: () => void
  readonly #onEnd: () => void
  readonly #frames = new ClientFrames()
  readonly #input: Input
  #messages = 0
  #isCloseSent = false
  #isScreenOver = false
  #isOver = false
  /** Reasons to pause the client: the screen is slow, or the client sent too much. */
  #isScreenFull = false
  #pauseTimer: NodeJS.Timeout | undefined
  #closeTimer: NodeJS.Timeout | undefined
  #lastWordsTimer: NodeJS.Timeout | undefined
  #pingedAt = performance.now()
  /** Since when the client has not reacted; 0 when it is responsive. */
  #waitingSince = 0

  constructor({ client, upstream, graceMs, isReadOnly, isLoginStuck, onTraffic, onEnd }: ViewerOptions) {
    this.#client = client
    this.#screen = upstream
    this.#graceMs = graceMs
    this.#onTraffic = onTraffic
    this.#onEnd = onEnd
    this.#input = new Input({ isReadOnly, isLoginStuck, pass: (bytes) => this.#pass(bytes) })
  }

  get messages(): number {
    return this.#messages
  }

  start(): void {
    const client = this.#client
    const screen = this.#screen
    client.setTimeout(0)
    client.setNoDelay(true)
    client.setKeepAlive(true, KEEP_ALIVE_MS)
    client.on('data', (chunk: Buffer) => this.#onClientData(chunk))
    client.on('drain', () => {
      this.#waitingSince = 0
      if (!this.#isOver) screen.resume()
    })
    for (const event of ['end', 'error', 'close']) client.on(event, () => this.#finish())
    screen.on('data', (chunk: Buffer) => this.#onScreenData(chunk))
    screen.on('drain', () => {
      this.#isScreenFull = false
      this.#readOn()
    })
    for (const event of ['end', 'error', 'close']) screen.on(event, () => this.#onScreenOver())
    client.resume()
    screen.resume()
    // A stream that has already ended emits no more events.
    if (screen.destroyed || screen.readableEnded) this.#onScreenOver()
    if (client.destroyed || client.readableEnded) this.#finish()
  }

  /** The first reason counts. */
  close(code: number, reason: string): void {
    if (this.#isCloseSent || this.#isOver) return
    this.#isCloseSent = true
    this.#client.write(closeFrame(code, reason))
    this.#input.close()
    endSoon(this.#screen, this.#graceMs)
    clearTimeout(this.#pauseTimer)
    // Resume, to receive the client's answer.
    this.#client.resume()
    this.#closeTimer = setTimeout(() => this.#finish(), this.#graceMs)
  }

  tick(now: number, { pingMs, silentMs }: { pingMs: number; silentMs: number }): void {
    if (this.#isCloseSent || this.#isOver) return
    const isHeldUp = this.#isScreenFull || this.#pauseTimer !== undefined
    if (isHeldUp) this.#waitingSince = 0
    else if (this.#client.writableNeedDrain) this.#waitingSince ||= now
    if (this.#waitingSince > 0 && now - this.#waitingSince > silentMs) {
      this.#client.destroy()
      return this.#finish()
    }
    if (now - this.#pingedAt < pingMs || this.#client.writableNeedDrain) return
    this.#pingedAt = now
    this.#client.write(pingFrame)
    this.#waitingSince ||= now
  }

  #onScreenData(chunk: Buffer): void {
    if (this.#isCloseSent || this.#isOver) return
    this.#onTraffic()
    this.#messages++
    const client = this.#client
    client.cork()
    client.write(frameHead(opcodes.binary, chunk.length))
    client.write(chunk)
    client.uncork()
    if (client.writableNeedDrain) this.#screen.pause()
  }

  #onClientData(chunk: Buffer): void {
    if (this.#isOver) return
    this.#waitingSince = 0
    try {
      for (const piece of this.#frames.take(chunk)) this.#hear(piece)
    } catch (error) {
      if (error instanceof FrameError) this.close(error.code, error.message)
      else if (error instanceof RfbError) this.close(POLICY_VIOLATION, error.message)
      else throw error
      // Frame boundaries are lost, so the answer to the close frame cannot be recognised.
      this.#finish()
    }
  }

  #hear({ opcode, bytes }: Piece): void {
    if (opcode === opcodes.close) {
      this.close(1000, '')
      return this.#finish()
    }
    if (this.#isCloseSent || this.#isOver || opcode === opcodes.pong) return
    if (opcode === opcodes.ping) {
      if (!this.#client.writableNeedDrain) this.#client.write(pongFrame(bytes))
      return
    }
    const waitMs = this.#input.take(bytes)
    if (waitMs <= 0) return
    this.#client.pause()
    clearTimeout(this.#pauseTimer)
    this.#pauseTimer = setTimeout(() => {
      this.#pauseTimer = undefined
      this.#readOn()
    }, waitMs)
  }

  #pass(bytes: Buffer): void {
    if (this.#isScreenOver || this.#isCloseSent || this.#isOver) return
    this.#onTraffic()
    this.#messages++
    if (this.#screen.write(bytes)) return
    this.#isScreenFull = true
    this.#client.pause()
  }

  #readOn(): void {
    if (!this.#isScreenFull && this.#pauseTimer === undefined) this.#client.resume()
  }

  #onScreenOver(): void {
    if (this.#isScreenOver || this.#isOver) return
    this.#isScreenOver = true
    this.#isScreenFull = false
    this.#readOn()
    this.#lastWordsTimer = setTimeout(() => this.close(1001, 'screen closed the connection'), LAST_WORDS_MS)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#input.close()
    for (const timer of [this.#closeTimer, this.#lastWordsTimer, this.#pauseTimer]) clearTimeout(timer)
    endSoon(this.#client, this.#graceMs)
    endSoon(this.#screen, this.#graceMs)
    this.#onEnd()
  }
}
