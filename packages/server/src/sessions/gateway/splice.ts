// Two websocket connections that are one: bytes go through as they come, at the pace of the slower
// side, and nothing is kept but what the sockets hold. Frame boundaries are followed so that pings and
// a last word can be put between frames towards the client. Pings of the client are answered here: a
// busy or frozen browser would not, and its client would take it for dead.
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { closeFrame, FrameReader, opcodes, pingFrame, pongTo } from '@berth/codecs/websocket/frames'

/** How long the reason may come after the connection to a browser that ended: some are looked for every 250 ms. */
const LAST_WORDS_MS = 750
const KEEP_ALIVE_MS = 30_000

export interface PipeOptions {
  readonly client: Socket
  readonly upstream: Duplex
  /** How long a client has to answer a close frame, and a stream to end. */
  readonly graceMs: number
  /** Called for what passes between client and browser, often. */
  readonly onTraffic: () => void
  /** Called once, when no more bytes pass. */
  readonly onEnd: () => void
}

/** Who brought it about. broken: the browser sent what are no frames. */
export type EndedBy = 'client' | 'browser' | 'broken' | 'us'

/** What carries bytes between a client and an instance until either is over. */
export interface Pipe {
  /** How many passed, for the log. */
  readonly messages: number
  /** Of one that has ended, or is about to. */
  readonly endedBy?: EndedBy
  start(): void
  /** Says so to the client, and ends. The first reason counts. */
  close(code: number, reason: string): void
  /** Called every now and then, to notice clients that are gone. */
  tick(now: number, limits: { pingMs: number; silentMs: number }): void
}

export class Splice implements Pipe {
  readonly #client: Socket
  readonly #upstream: Duplex
  readonly #graceMs: number
  readonly #onTraffic: () => void
  readonly #onEnd: () => void
  readonly #toClient = new FrameReader({ isMasked: false })
  readonly #fromClient = new FrameReader({ isMasked: true })
  /** Whether the frame under way is between the client and us, and what there is of it. */
  #isOurs = false
  #ours: Buffer | undefined
  /** What is to be said to the client between two frames. */
  #pong: Buffer | undefined
  #isPingDue = false
  #lastWord: Buffer | undefined
  #isCloseSent = false
  #isCloseHeard = false
  #isUpstreamOver = false
  #isOver = false
  #isHeldUp = false
  #closeTimer: NodeJS.Timeout | undefined
  #lastWordsTimer: NodeJS.Timeout | undefined
  #pingedAt = performance.now()
  /** Since when nothing came of what should make the client move; 0: it does. */
  #waitingSince = 0
  #endedBy: EndedBy | undefined

  constructor({ client, upstream, graceMs, onTraffic, onEnd }: PipeOptions) {
    this.#client = client
    this.#upstream = upstream
    this.#graceMs = graceMs
    this.#onTraffic = onTraffic
    this.#onEnd = onEnd
  }

  /** Messages that passed in both directions. */
  get messages(): number {
    return this.#toClient.messages + this.#fromClient.messages
  }

  /** Of one that has ended, or is about to. */
  get endedBy(): EndedBy {
    return this.#endedBy ?? 'us'
  }

  start(): void {
    const client = this.#client
    const upstream = this.#upstream
    client.setTimeout(0)
    client.setNoDelay(true)
    client.setKeepAlive(true, KEEP_ALIVE_MS)
    client.on('data', (chunk: Buffer) => this.#onClientData(chunk))
    client.on('drain', () => this.#onClientDrain())
    for (const event of ['end', 'error', 'close']) client.on(event, () => this.#onClientGone())
    upstream.on('data', (chunk: Buffer) => this.#onUpstreamData(chunk))
    upstream.on('drain', () => this.#resumeClient())
    upstream.on('end', () => this.#onUpstreamOver())
    upstream.on('error', () => this.#onUpstreamOver())
    upstream.on('close', () => this.#onUpstreamOver())
    client.resume()
    upstream.resume()
    // What ended before anyone listened says so no more.
    if (upstream.destroyed || upstream.readableEnded) this.#onUpstreamOver()
    if (client.destroyed || client.readableEnded) this.#onClientGone()
  }

  /** Says so to the client at the next frame boundary, and ends. The first reason counts. */
  close(code: number, reason: string): void {
    if (this.#lastWord || this.#isCloseSent || this.#isOver) return
    this.#endedBy ??= 'us'
    this.#lastWord = closeFrame(code, reason)
    this.#endInTime()
    if (this.#toClient.isBetween) this.#speak()
    else if (this.#isUpstreamOver) this.#finish()
  }

  /** Without a word, for a client that does not listen. */
  destroy(): void {
    this.#client.destroy()
    this.#upstream.destroy()
    this.#finish()
  }

  /** Pings when it is time to, and lets go of a client that gives no sign of life. */
  tick(now: number, { pingMs, silentMs }: { pingMs: number; silentMs: number }): void {
    if (this.#lastWord || this.#isCloseSent || this.#isOver) return
    // A client that is kept waiting by the browser is not read, so it cannot be heard.
    if (this.#isHeldUp) this.#waitingSince = 0
    else if (this.#client.writableNeedDrain) this.#waitingSince ||= now
    if (this.#waitingSince > 0 && now - this.#waitingSince > silentMs) {
      this.#endedBy ??= 'client'
      return this.destroy()
    }
    if (now - this.#pingedAt < pingMs) return
    this.#pingedAt = now
    this.#isPingDue = true
    if (!this.#client.writableNeedDrain) this.#speak()
  }

  #onUpstreamData(chunk: Buffer): void {
    // Nothing may follow a close frame.
    if (this.#isCloseSent || this.#isOver) return
    this.#onTraffic()
    const frames = this.#toClient
    let at = 0
    let from = 0
    while (at < chunk.length) {
      at = frames.next(chunk, at)
      if (frames.isBroken) {
        this.#endedBy ??= 'broken'
        return this.destroy()
      }
      if (!frames.isBetween) break
      const isClose = frames.opcode === opcodes.close
      if (!isClose && !this.#hasWords) continue
      this.#client.write(chunk.subarray(from, at))
      from = at
      if (isClose) return this.#onUpstreamClose()
      this.#speak()
      if (this.#isCloseSent) return
    }
    if (from < chunk.length) this.#client.write(from === 0 ? chunk : chunk.subarray(from))
    if (this.#client.writableNeedDrain) this.#upstream.pause()
  }

  #onClientData(chunk: Buffer): void {
    if (this.#isOver) return
    this.#waitingSince = 0
    const frames = this.#fromClient
    let at = 0
    let from = 0
    while (at < chunk.length) {
      if (frames.isBetween) this.#isOurs = isPingOrPong(chunk[at]!)
      const end = frames.next(chunk, at)
      if (frames.isBroken) return this.#onClientBroken()
      if (this.#isOurs) {
        this.#forward(chunk.subarray(from, at))
        this.#hear(chunk.subarray(at, end))
        from = end
      } else if (frames.isBetween && frames.opcode === opcodes.close) {
        this.#forward(chunk.subarray(from, end))
        return this.#onClientClose()
      }
      at = end
    }
    this.#forward(from === 0 ? chunk : chunk.subarray(from))
  }

  #forward(bytes: Buffer): void {
    if (bytes.length === 0 || this.#isUpstreamOver || this.#isCloseSent || this.#isCloseHeard) return
    this.#onTraffic()
    if (this.#upstream.write(bytes)) return
    this.#isHeldUp = true
    this.#client.pause()
  }

  #resumeClient(): void {
    this.#isHeldUp = false
    this.#client.resume()
  }

  #onClientDrain(): void {
    this.#waitingSince = 0
    if (this.#isOver) return
    this.#speak()
    this.#upstream.resume()
  }

  /** Collects a ping or pong of the client; only the answer to the latest ping matters. */
  #hear(part: Buffer): void {
    this.#ours = this.#ours ? Buffer.concat([this.#ours, part]) : part
    if (!this.#fromClient.isBetween) return
    if (this.#fromClient.opcode === opcodes.ping) {
      this.#pong = pongTo(this.#ours)
      if (!this.#client.writableNeedDrain) this.#speak()
    }
    this.#ours = undefined
  }

  get #hasWords(): boolean {
    return this.#lastWord !== undefined || this.#pong !== undefined || this.#isPingDue
  }

  #speak(): void {
    if (!this.#toClient.isBetween || this.#isCloseSent || this.#isOver) return
    if (this.#lastWord) {
      this.#client.write(this.#lastWord)
      this.#isCloseSent = true
      endSoon(this.#upstream, this.#graceMs)
      if (this.#isCloseHeard) this.#finish()
      else this.#resumeClient()
      return
    }
    if (this.#pong) this.#client.write(this.#pong)
    this.#pong = undefined
    if (!this.#isPingDue) return
    this.#client.write(pingFrame)
    this.#isPingDue = false
    this.#waitingSince ||= performance.now()
  }

  /** The browser closes by itself, or agrees to. */
  #onUpstreamClose(): void {
    this.#endedBy ??= 'browser'
    this.#isCloseSent = true
    if (this.#isCloseHeard) return this.#finish()
    this.#endInTime()
  }

  #onClientClose(): void {
    this.#endedBy ??= 'client'
    this.#isCloseHeard = true
    if (this.#isCloseSent) return this.#finish()
    if (this.#isUpstreamOver) return this.close(1000, '')
    // The browser has the close frame now; it is up to it to answer.
    this.#endInTime()
  }

  #onClientGone(): void {
    this.#endedBy ??= 'client'
    this.#finish()
  }

  #onClientBroken(): void {
    this.#endedBy ??= 'client'
    this.close(1002, 'not a masked websocket frame')
    // Where its frames begin is lost, and with it the answer to the close frame.
    this.#isCloseHeard = true
    if (this.#isCloseSent) this.#finish()
  }

  #onUpstreamOver(): void {
    if (this.#isUpstreamOver || this.#isOver) return
    this.#isUpstreamOver = true
    this.#resumeClient()
    if (this.#isCloseSent) return
    // Half a frame went out: there is no place for a close frame any more.
    if (!this.#toClient.isBetween) {
      this.#endedBy ??= 'browser'
      return this.#finish()
    }
    if (this.#isCloseHeard) return this.close(1000, '')
    this.#lastWordsTimer = setTimeout(() => {
      this.#endedBy ??= 'browser'
      this.close(1001, 'browser closed the connection')
    }, LAST_WORDS_MS)
  }

  #endInTime(): void {
    this.#closeTimer ??= setTimeout(() => {
      if (this.#isCloseHeard) this.close(1000, '')
      this.#finish()
    }, this.#graceMs)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#closeTimer)
    clearTimeout(this.#lastWordsTimer)
    endSoon(this.#client, this.#graceMs)
    endSoon(this.#upstream, this.#graceMs)
    this.#onEnd()
  }
}

function isPingOrPong(first: number): boolean {
  const opcode = first & 0x0f
  return opcode === opcodes.ping || opcode === opcodes.pong
}

/** Lets what was written arrive. Reads on, as unread bytes would turn the end into a reset. */
export function endSoon(stream: Duplex, graceMs: number): void {
  if (stream.destroyed || stream.writableEnded) return
  stream.end()
  stream.resume()
  const timer = setTimeout(() => stream.destroy(), graceMs)
  stream.once('close', () => clearTimeout(timer))
}
