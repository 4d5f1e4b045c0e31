// A websocket client just large enough for Chromium's debugging port: text messages, no extensions.
// Node's own client takes many times the memory, and every instance pays for it.
import { connect, type Socket } from 'node:net'
import { frameHead, opcodes } from '@berth/codecs/websocket/frames'
import { MessageError, MessageReader, type Message } from '@berth/codecs/websocket/messages'

/** The same as Chromium's own limit for messages it receives. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024
const MAX_HEAD_BYTES = 16 * 1024
/** Usually random, to detect caching proxies; there is none on this path. */
const KEY = 'AAAAAAAAAAAAAAAAAAAAAA=='
const OPEN_TIMEOUT_MS = 10_000

export interface WebSocketEvents {
  /** How long to pause reading after each read, so that messages arrive in batches. */
  readonly gatherMs?: number | undefined
  readonly onMessage: (text: string) => void
  readonly onClose: () => void
}

export class SmallWebSocket {
  readonly #socket: Socket
  readonly #events: WebSocketEvents
  readonly #messages = new MessageReader({ maxBytes: MAX_MESSAGE_BYTES })
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
    this.#write(opcodes.text, Buffer.from(text))
  }

  /** Messages sent before still arrive. */
  close(): void {
    this.#write(opcodes.close, Buffer.from([0x03, 0xe8]))
    this.#socket.destroySoon()
  }

  /** Reads nothing more for now; what was read is still handed over. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  #gather(ms: number): void {
    this.#socket.pause()
    this.#gathering = setTimeout(() => this.#socket.resume(), ms)
  }

  #write(opcode: number, payload: Buffer): void {
    if (!this.#socket.writable) return
    this.#socket.write(Buffer.concat([frameHead(opcode, payload.length, { isMasked: true }), payload]))
  }

  #take(chunk: Buffer): void {
    try {
      for (const message of this.#messages.take(chunk)) this.#handle(message)
    } catch (error) {
      if (!(error instanceof MessageError)) throw error
      this.#socket.destroy()
    }
  }

  #handle({ opcode, payload }: Message): void {
    if (opcode === opcodes.ping) return this.#write(opcodes.pong, payload)
    if (opcode === opcodes.close) return this.#socket.destroySoon()
    if (opcode === opcodes.text || opcode === opcodes.binary) this.#events.onMessage(payload.toString())
  }
}

/** Resolves with the bytes after the response head. */
async function shakeHands(socket: Socket, { port, path }: { port: number; path: string }): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = (why: string) => reject(new Error(`Cannot open a websocket to Chromium: ${why}`))
  let head = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) {
      if (head.length > MAX_HEAD_BYTES) fail('its answer is too long')
      return
    }
    const [statusLine = ''] = head.toString('latin1', 0, end).split('\r\n')
    if (statusLine.startsWith('HTTP/1.1 101 ')) resolve(head.subarray(end + 4))
    else fail(`it answered "${statusLine}"`)
  }
  const timer = setTimeout(() => fail(`no answer for ${OPEN_TIMEOUT_MS / 1000} s`), OPEN_TIMEOUT_MS)
  socket.on('error', (error) => fail(error.message))
  socket.once('close', () => fail('it closed the connection'))
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
