// A websocket client just large enough for Chromium's debugging port: text messages, no extensions.
// Node's own is many times the memory, and the agent is paid for in every instance.
import { connect, type Socket } from 'node:net'

const TEXT = 0x1
const CLOSE = 0x8
const PING = 0x9
const PONG = 0xa
const FIN = 0x80
const MASKED = 0x80
/** As Chromium's own limit for what it takes. */
const MOST_MESSAGE_BYTES = 256 * 1024 * 1024
const MOST_HEAD_BYTES = 16 * 1024
/** Random elsewhere, to tell a server from a cache in between; there is nothing in between here. */
const KEY = 'AAAAAAAAAAAAAAAAAAAAAA=='
const OPEN_MS = 10_000

export interface WebSocketEvents {
  /** How long it does not read after it has read something. What comes meanwhile is read at once after that. */
  readonly gatherMs?: number | undefined
  readonly onMessage: (text: string) => void
  readonly onClose: () => void
}

export class SmallWebSocket {
  readonly #socket: Socket
  readonly #events: WebSocketEvents
  /** Joined only when a whole frame is there, or a long one would be copied with every piece of it. */
  #pieces: Buffer[] = []
  #length = 0
  #needed = 2
  #message: Buffer[] = []
  #messageBytes = 0
  #gathering: NodeJS.Timeout | undefined

  private constructor(socket: Socket, events: WebSocketEvents) {
    this.#socket = socket
    this.#events = events
    socket.on('data', (chunk: Buffer) => {
      this.#take(chunk)
      if (events.gatherMs !== undefined) this.#gather(events.gatherMs)
    })
    socket.once('close', () => {
      clearTimeout(this.#gathering)
      events.onClose()
    })
  }

  static async open(port: number, path: string, events: WebSocketEvents): Promise<SmallWebSocket> {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    try {
      const rest = await shakeHands(socket, { port, path })
      const webSocket = new SmallWebSocket(socket, events)
      webSocket.#take(rest)
      return webSocket
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  send(text: string): void {
    this.#write(TEXT, Buffer.from(text))
  }

  /** What was sent before still arrives. */
  close(): void {
    this.#write(CLOSE, Buffer.from([0x03, 0xe8]))
    this.#socket.destroySoon()
  }

  #gather(ms: number): void {
    this.#socket.pause()
    this.#gathering = setTimeout(() => this.#socket.resume(), ms)
  }

  // Masks protect proxies from pages that choose their bytes; here there is neither, so the mask is 0.
  #write(opcode: number, payload: Buffer): void {
    if (!this.#socket.writable) return
    const length = payload.length
    const head = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14)
    head[0] = FIN | opcode
    if (length < 126) head[1] = MASKED | length
    else if (length < 65_536) {
      head[1] = MASKED | 126
      head.writeUInt16BE(length, 2)
    } else {
      head[1] = MASKED | 127
      head.writeBigUInt64BE(BigInt(length), 2)
    }
    this.#socket.write(Buffer.concat([head, payload]))
  }

  #take(chunk: Buffer): void {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#needed) return
    let bytes: Buffer = this.#pieces.length === 1 ? chunk : Buffer.concat(this.#pieces)
    for (;;) {
      const frame = readFrame(bytes)
      if (frame === 'too-large') {
        this.#socket.destroy()
        return
      }
      if (typeof frame === 'number') {
        this.#needed = frame
        break
      }
      bytes = bytes.subarray(frame.end)
      this.#handle(frame)
    }
    this.#pieces = [bytes]
    this.#length = bytes.length
  }

  #handle({ opcode, isFinal, payload }: Frame): void {
    if (opcode === PING) return this.#write(PONG, payload)
    if (opcode === CLOSE) return this.#socket.destroySoon()
    if (opcode === PONG) return
    this.#message.push(payload)
    this.#messageBytes += payload.length
    if (this.#messageBytes > MOST_MESSAGE_BYTES) return void this.#socket.destroy()
    if (!isFinal) return
    const text = Buffer.concat(this.#message).toString()
    this.#message = []
    this.#messageBytes = 0
    this.#events.onMessage(text)
  }
}

interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Buffer
  readonly end: number
}

/** Or how many bytes it takes to know more. */
function readFrame(bytes: Buffer): Frame | 'too-large' | number {
  if (bytes.length < 2) return 2
  let length = bytes[1]! & 0x7f
  let start = 2
  if (length === 126) {
    if (bytes.length < 4) return 4
    length = bytes.readUInt16BE(2)
    start = 4
  } else if (length === 127) {
    if (bytes.length < 10) return 10
    length = Number(bytes.readBigUInt64BE(2))
    start = 10
  }
  if (length > MOST_MESSAGE_BYTES) return 'too-large'
  const end = start + length
  if (bytes.length < end) return end
  const first = bytes[0]!
  return { opcode: first & 0x0f, isFinal: (first & FIN) !== 0, payload: bytes.subarray(start, end), end }
}

/** Resolves with what came after the head. */
async function shakeHands(socket: Socket, { port, path }: { port: number; path: string }): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = (why: string) => reject(new Error(`Cannot open a websocket to Chromium: ${why}`))
  let head = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) {
      if (head.length > MOST_HEAD_BYTES) fail('its answer is too long')
      return
    }
    const [statusLine = ''] = head.toString('latin1', 0, end).split('\r\n')
    if (statusLine.startsWith('HTTP/1.1 101 ')) resolve(head.subarray(end + 4))
    else fail(`it answered "${statusLine}"`)
  }
  const timer = setTimeout(() => fail(`no answer for ${OPEN_MS / 1000} s`), OPEN_MS)
  socket.on('error', (error) => fail(error.message))
  socket.once('close', () => fail('it hung up'))
  socket.on('data', onData)
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`,
  )
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.off('data', onData)
  }
}
