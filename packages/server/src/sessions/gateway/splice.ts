// Joins two websocket connections: bytes pass unchanged at the pace of the slower side and are buffered only in the
// sockets. It tracks frame boundaries, to insert pings and a close frame between frames towards the client. It answers
// pings of the client itself, because a busy or frozen browser would not and would look dead.
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { closeFrame, FrameReader, opcodes, pingFrame, pongTo } from '@berth/codecs/websocket/frames'

/** The end reason may arrive this long after the browser's connection ends: some are polled every 250 ms. */
const LAST_WORDS_MS = 750
const KEEP_ALIVE_MS = 30_000

export interface PipeOptions {
  readonly client: Socket
  readonly upstream: Duplex
  /** How long a client has to answer a close frame, and a stream to end. */
  readonly graceMs: number
  /** Called often, for all traffic between client and browser. */
  readonly onTraffic: () => void
  /** Called once, when no more bytes pass. */
  readonly onEnd: () => void
}

/** Who ended the connection; `broken` means that the browser sent malformed frames. */
export type EndedBy = 'client' | 'browser' | 'broken' | 'us'

/** Relays bytes between a client and an instance until one of them ends. */
export interface Pipe {
  /** Number of relayed messages, for the log. */
  readonly messages: number
  /** Of one that has ended, or is about to. */
  readonly endedBy?: EndedBy
  start(): void
  /** Sends a close frame to the client and ends. The first reason counts. */
  close(code: number, reason: string): void
  /** Called regularly, to notice clients that are gone. */
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
  /** Whether the current frame is a ping or pong for the gateway, and its bytes so far. */
  #isOurs = false
  #ours: Buffer | undefined
  /** To be sent to the client between two frames. */
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
  /** Since when the client has not reacted; 0 when it is responsive. */
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
    // A stream that has already ended emits no more events.
    if (upstream.destroyed || upstream.readableEnded) this.#onUpstreamOver()
    if (client.destroyed || client.readableEnded) this.#onClientGone()
  }

  /** Sends a close frame at the next frame boundary and ends. The first reason counts. */
  close(code: number, reason: string): void {
    if (this.#lastWord || this.#isCloseSent || this.#isOver) return
    this.#endedBy ??= 'us'
    this.#lastWord = closeFrame(code, reason)
    this.#endInTime()
    if (this.#toClient.isBetween) this.#speak()
    else if (this.#isUpstreamOver) this.#finish()
  }

  /** Ends without a close frame, for a client that does not read. */
  destroy(): void {
    this.#client.destroy()
    this.#upstream.destroy()
    this.#finish()
  }

  /** Pings when it is time, and disconnects an unresponsive client. */
  tick(now: number, { pingMs, silentMs }: { pingMs: number; silentMs: number }): void {
    if (this.#lastWord || this.#isCloseSent || this.#isOver) return
    // While the browser keeps a client waiting, the client is not read and its pongs are not seen.
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

  /** The browser closes, or confirms a close. */
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
    // The browser has the close frame now and should answer it.
    this.#endInTime()
  }

  #onClientGone(): void {
    this.#endedBy ??= 'client'
    this.#finish()
  }

  #onClientBroken(): void {
    this.#endedBy ??= 'client'
    this.close(1002, 'not a masked websocket frame')
    // Frame boundaries are lost, so the answer to the close frame cannot be recognised.
    this.#isCloseHeard = true
    if (this.#isCloseSent) this.#finish()
  }

  #onUpstreamOver(): void {
    if (this.#isUpstreamOver || this.#isOver) return
    this.#isUpstreamOver = true
    this.#resumeClient()
    if (this.#isCloseSent) return
    // Half a frame was sent, so a close frame cannot follow.
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

/** Flushes written bytes. Keeps reading, because unread bytes would turn the end into a reset. */
export function endSoon(stream: Duplex, graceMs: number): void {
  if (stream.destroyed || stream.writableEnded) return
  stream.end()
  stream.resume()
  const timer = setTimeout(() => stream.destroy(), graceMs)
  stream.once('close', () => clearTimeout(timer))
}
