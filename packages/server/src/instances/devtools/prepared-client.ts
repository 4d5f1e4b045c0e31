// A websocket to Chromium's whole browser that is opened before its client comes: the way into the instance's network and
// the handshake take longer than the rest of what a client of a warm browser waits for.
import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Instance } from '../driver/driver.ts'
import { openWebsocket } from './websocket-handshake.ts'

const OPEN_TIMEOUT_MS = 10_000
const KEY_BYTES = 16

export class PreparedClient {
  /** Of the browser; each start of Chromium has another. */
  readonly path: string
  readonly #stream: Duplex
  /** Chromium says nothing before its client does, so this means that it has closed the connection. */
  readonly #onReadable = () => void this.#stream.destroy()

  private constructor(path: string, stream: Duplex) {
    this.path = path
    this.#stream = stream
    stream.on('readable', this.#onReadable)
  }

  /** Undefined when it cannot be opened: then the first client waits for it. */
  static async open(
    instance: Pick<Instance, 'connect'>,
    path: string,
    closing: AbortSignal,
  ): Promise<PreparedClient | undefined> {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(OPEN_TIMEOUT_MS)])
    try {
      const stream = await instance.connect('cdp', signal)
      const key = randomBytes(KEY_BYTES).toString('base64')
      await openWebsocket(stream, { path, key, signal })
      return new PreparedClient(path, stream)
    } catch {
      return undefined
    }
  }

  /** A paused stream, before its first frame. Undefined when the connection is gone. Call it once. */
  take(): Duplex | undefined {
    this.#stream.off('readable', this.#onReadable)
    return this.#stream.destroyed ? undefined : this.#stream.pause()
  }

  close(): undefined {
    this.#stream.destroy()
  }
}
