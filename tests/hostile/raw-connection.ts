// Raw bytes on a socket, for requests that no client library would send.
import { connect, type Socket } from 'node:net'
import type { Answer } from '../conformance/http-exchange.ts'

const ANSWER_MS = 5_000
const CLOSE_MS = 3_000

export class RawConnection {
  readonly socket: Socket
  #received = ''
  #isClosed = false
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#changed(() => (this.#received += chunk.toString('latin1'))))
    // A reset is a normal end; only the answer before it counts.
    socket.on('error', () => {})
    socket.on('close', () => this.#changed(() => (this.#isClosed = true)))
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const connection = new RawConnection(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return connection
  }

  write(bytes: string | Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The next complete answer; undefined if the server closes without one. */
  async answer(options: { hasBody?: boolean } = {}): Promise<Answer | undefined> {
    await this.#until(() => this.#answerLength(options) !== undefined || this.#isClosed, ANSWER_MS, 'answer')
    const length = this.#answerLength(options)
    if (length === undefined) return undefined
    const text = this.#received.slice(0, length)
    this.#received = this.#received.slice(length)
    return parseAnswer(text)
  }

  async closed(): Promise<void> {
    await this.#until(() => this.#isClosed, CLOSE_MS, 'close the connection')
  }

  destroy(): void {
    this.socket.destroy()
  }

  #changed(change: () => void): void {
    change()
    this.#wake()
  }

  #answerLength({ hasBody = true }: { hasBody?: boolean }): number | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const bodyLength = /\r\ncontent-length: *(\d+)/i.exec(this.#received.slice(0, headEnd))?.[1] ?? '0'
    const length = headEnd + 4 + (hasBody ? Number(bodyLength) : 0)
    return this.#received.length >= length ? length : undefined
  }

  async #until(isTrue: () => boolean, limitMs: number, what: string): Promise<void> {
    const deadline = performance.now() + limitMs
    while (!isTrue()) {
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`The server did not ${what} within ${limitMs} ms: ${this.#received}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}

function parseAnswer(text: string): Answer {
  const headEnd = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const body = text.slice(headEnd + 4)
  return { status: Number(statusLine.split(' ')[1]), headers, text: body, json: parseJson(body) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
