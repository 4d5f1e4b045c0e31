// The bytes of one object. After a cut connection they go on where they stopped. A reader that pauses for long holds no
// connection: the client closes it when it is silent, and the next read opens another one.
import { Readable } from 'node:stream'
import type { ObjectClient, OpenObject, Wait } from '../s3/object-client.ts'
import { BlobMissing } from './store.ts'

/** Connections in a row that brought nothing. */
const MAX_FRUITLESS = 5

export interface S3ReadingOptions {
  readonly id: string
  readonly key: string
  readonly first: OpenObject
  /** Where the first answer begins. */
  readonly start: number
  readonly wait: Wait
  readonly failure: (error: unknown) => Error
}

export class S3BlobReading extends Readable {
  readonly #client: ObjectClient
  readonly #options: S3ReadingOptions
  readonly #end: number
  readonly #closing = new AbortController()
  #body: Readable | undefined
  #at: number
  #isOpening = false
  #fruitless = 0

  constructor(client: ObjectClient, options: S3ReadingOptions) {
    super()
    this.#client = client
    this.#options = options
    this.#at = options.start
    this.#end = options.start + options.first.length
    this.#attach(options.first.body)
  }

  override _read(): void {
    if (this.#body) this.#body.resume()
    else if (!this.#isOpening) void this.#open()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#closing.abort()
    this.#body?.destroy()
    done(error)
  }

  #attach(body: Readable): void {
    this.#body = body
    body.pause()
    body.on('data', (chunk: Buffer) => {
      this.#fruitless = 0
      this.#at += chunk.length
      if (this.#at > this.#end) {
        this.destroy(this.#options.failure(new Error('the store has sent more than it said')))
      } else if (!this.push(chunk)) body.pause()
    })
    // Without a listener, an error would end the process.
    body.on('error', (error) => this.#lost(body, error))
    body.on('close', () => this.#lost(body, new Error('the connection was cut')))
    body.on('end', () => this.#lost(body, new Error('the connection was cut')))
  }

  #lost(body: Readable, error: Error): void {
    if (this.#body !== body || this.destroyed) return
    if (this.#at === this.#end) {
      this.#body = undefined
      this.push(null)
      return
    }
    this.#body = undefined
    body.destroy()
    if (++this.#fruitless > MAX_FRUITLESS) this.destroy(this.#options.failure(error))
    // Otherwise the next read opens another one; somebody who waits for bytes has asked already.
    else if (this.readableLength < this.readableHighWaterMark) void this.#open()
  }

  async #open(): Promise<void> {
    const { id, key, first, wait, failure } = this.#options
    this.#isOpening = true
    try {
      const range = { start: this.#at, end: this.#end - 1 }
      const from = { range, ...(first.etag !== undefined && { etag: first.etag }) }
      const signal = AbortSignal.any([wait.signal, this.#closing.signal])
      const opened = await this.#client.get(key, from, { ...wait, signal })
      if (!opened) throw new BlobMissing(id)
      if (this.destroyed || opened.length !== this.#end - this.#at) {
        opened.body.destroy()
        throw new Error('the object has changed')
      }
      this.#isOpening = false
      this.#attach(opened.body)
      this.#body!.resume()
    } catch (error) {
      this.#isOpening = false
      this.destroy(error instanceof BlobMissing ? error : failure(error))
    }
  }
}
