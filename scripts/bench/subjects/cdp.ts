// A minimal DevTools client, so that its own cost does not distort the measurement.
import { once } from 'node:events'
import { WebSocket, type RawData } from 'ws'

interface Answer {
  readonly id: number
  readonly result: unknown
  readonly error?: { readonly message: string }
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

export class Cdp {
  readonly socket: WebSocket
  /** While set, receives all raw messages: under load, parsing would be the largest cost. */
  onMessage: ((data: Buffer) => void) | undefined
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: RawData) => {
      // SAFETY: binaryType is the default one.
      const message = data as Buffer
      if (this.onMessage) this.onMessage(message)
      else this.#hear(message)
    })
    socket.on('error', () => {})
    socket.on('close', (code, reason) => {
      const error = new Error(`The connection was closed with ${code} ${reason.toString()}`)
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    })
  }

  static async open(url: string): Promise<Cdp> {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 })
    const cdp = new Cdp(socket)
    await once(socket, 'open')
    return cdp
  }

  call<Result>(method: string, params: object = {}, sessionId?: string): Promise<Result> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject })
      this.socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))
    })
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return
    const closed = once(this.socket, 'close')
    this.socket.close()
    await closed
  }

  #hear(data: Buffer): void {
    const { id, result, error } = JSON.parse(data.toString()) as Answer
    const waiting = this.#waiting.get(id)
    // Events have no id.
    if (!waiting) return
    this.#waiting.delete(id)
    if (error) waiting.reject(new Error(error.message))
    else waiting.resolve(result)
  }
}
