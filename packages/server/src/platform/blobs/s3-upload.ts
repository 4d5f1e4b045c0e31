// One blob on its way into a bucket. A small one is one request. A large one is sent in parts, two at a time, while the
// next one is collected: four parts in memory at the most. Nothing is visible before the last request, which makes the
// object. Each object carries a random word, so that an answer that was lost can be told from somebody else's object.
import { createHash, hash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { randomText } from '@berth/kit/ids'
import { crashPoint } from '../errors/crash-point.ts'
import type { ObjectClient, SentPart, UploadPlace, Wait } from '../s3/object-client.ts'
import { BlobExists, BlobTooLarge, type StoredBlob } from './store.ts'

const PART_BYTES = 8 * 1024 * 1024
const MAX_PARTS = 10_000
const PARTS_AT_ONCE = 2
/** For each request. What waits for the store has a patience of its own, and this is shorter. */
const PATIENCE_MS = 60_000
const CLEAN_UP_MS = 10_000
const WORD = 'berth-upload'

export interface S3UploadOptions {
  readonly id: string
  readonly key: string
  readonly abilities: { readonly isConditional: boolean; readonly hasMd5Etags: boolean }
  readonly maxBytes: number
  /** Of the caller. */
  readonly signal: AbortSignal
  /** Of the store. */
  readonly deadline: AbortSignal
}

/** The content itself is broken, or too large; it is not the store's fault. */
class ContentFailure extends Error {}

export class S3Upload {
  readonly #client: ObjectClient
  readonly #options: S3UploadOptions
  readonly #word = randomText(24)
  readonly #hash = createHash('sha256')
  /** Fires when the rest of the parts need not be sent. */
  readonly #over = new AbortController()
  readonly #wait: Wait
  readonly #sending = new Set<Promise<void>>()
  readonly #parts: SentPart[] = []
  #count = 0
  #place: UploadPlace | undefined
  #sizeBytes = 0
  #mayBeVisible = false

  constructor(client: ObjectClient, options: S3UploadOptions) {
    this.#client = client
    this.#options = options
    const { signal, deadline } = options
    this.#wait = { patienceMs: PATIENCE_MS, signal: AbortSignal.any([this.#over.signal, signal, deadline]) }
  }

  async run(content: Readable, failure: (error: unknown) => Error): Promise<StoredBlob> {
    const { signal } = this.#options
    try {
      await this.#send(content)
    } catch (error) {
      content.destroy()
      await this.#cleanUp(error)
      if (signal.aborted) throw abortion(signal.reason)
      if (error instanceof ContentFailure) throw error.cause
      throw error instanceof BlobExists ? error : failure(error)
    }
    crashPoint('blob-named')
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex') }
  }

  async #send(content: Readable): Promise<void> {
    for await (const part of this.#partsOf(content)) {
      if (part.isLast && !this.#place) return this.#putWhole(part.body)
      if (part.body.length === 0) break
      if (!this.#place) await this.#begin()
      while (this.#sending.size >= PARTS_AT_ONCE) await Promise.race(this.#sending)
      this.#wait.signal.throwIfAborted()
      this.#sendPart(part.body, content)
    }
    await Promise.all(this.#sending)
    this.#wait.signal.throwIfAborted()
    crashPoint('blob-written')
    await this.#finish(this.#place!)
  }

  /** Not cut off with the rest: an upload whose name did not arrive could not be removed. */
  async #begin(): Promise<void> {
    const { key, deadline } = this.#options
    const late = new AbortController()
    const stop = () => setTimeout(() => late.abort(this.#wait.signal.reason), CLEAN_UP_MS).unref()
    this.#wait.signal.addEventListener('abort', stop, { once: true })
    try {
      const signal = AbortSignal.any([late.signal, deadline])
      const wait = { ...this.#wait, signal }
      this.#place = await this.#client.beginUpload(key, { [WORD]: this.#word }, wait)
    } finally {
      this.#wait.signal.removeEventListener('abort', stop)
    }
  }

  #sendPart(body: Buffer, content: Readable): void {
    const number = ++this.#count
    const md5 = hash('md5', body, 'hex')
    const isConfirmed = (etag: string) => !this.#options.abilities.hasMd5Etags || etag === md5
    const place = this.#place!
    const send = async () => {
      try {
        this.#parts.push(await this.#client.sendPart(place, { number, body, isConfirmed }, this.#wait))
        crashPoint('blob-part-sent')
      } catch (error) {
        // Also ends the wait for more content.
        this.#over.abort(error)
        content.destroy()
      }
    }
    const sending = send().finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }

  async #putWhole(body: Buffer): Promise<void> {
    const { key, abilities } = this.#options
    this.#mayBeVisible = true
    crashPoint('blob-written')
    try {
      const { etag } = await this.#client.put(key, body, {
        ...this.#wait,
        isNew: abilities.isConditional,
        metadata: { [WORD]: this.#word },
      })
      if (abilities.hasMd5Etags && etag !== hash('md5', body, 'hex')) throw new Error(WRONG_OBJECT)
    } catch (error) {
      await this.#expectOwn(error)
    }
  }

  async #finish(place: UploadPlace): Promise<void> {
    const { abilities } = this.#options
    const parts = this.#parts.toSorted((one, other) => one.number - other.number)
    this.#mayBeVisible = true
    try {
      // The store checks the sums of all parts, which it confirmed one by one.
      await this.#client.finishUpload(place, { parts, isNew: abilities.isConditional }, this.#wait)
    } catch (error) {
      await this.#expectOwn(error)
    }
    const found = await this.#client.head(place.key, this.#wait)
    if (found?.sizeBytes !== this.#sizeBytes) throw new Error(WRONG_OBJECT)
  }

  /** An answer may have been lost: what is asked for again is then refused, because it is there. */
  async #expectOwn(error: unknown): Promise<void> {
    const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
    if (status !== 404 && status !== 409 && status !== 412) throw error
    const found = await this.#client.head(this.#options.key, this.#wait)
    if (found?.metadata[WORD] === this.#word && found.sizeBytes === this.#sizeBytes) return
    if (status !== 412) throw error
    this.#mayBeVisible = false
    throw new BlobExists(this.#options.id)
  }

  /** Best effort: the sweep removes what stays. */
  async #cleanUp(reason: unknown): Promise<void> {
    this.#over.abort(reason)
    await Promise.all(this.#sending)
    const wait = { patienceMs: CLEAN_UP_MS / 2, signal: AbortSignal.timeout(CLEAN_UP_MS) }
    if (this.#place) await this.#client.abortUpload(this.#place, wait).catch(() => {})
    if (this.#mayBeVisible) await this.#client.remove(this.#options.key, wait).catch(() => {})
  }

  /** Full parts, and then the rest, which may be empty. */
  async *#partsOf(content: Readable): AsyncIterable<{ body: Buffer; isLast: boolean }> {
    const { maxBytes } = this.#options
    const partBytes = Math.max(PART_BYTES, Math.ceil(maxBytes / (MAX_PARTS - 1)))
    let held: Buffer[] = []
    let heldBytes = 0
    for await (let chunk of this.#chunksOf(content)) {
      while (chunk.length > 0) {
        const piece = chunk.subarray(0, partBytes - heldBytes)
        chunk = chunk.subarray(piece.length)
        held.push(piece)
        heldBytes += piece.length
        if (heldBytes < partBytes) break
        const body = Buffer.concat(held, heldBytes)
        held = []
        heldBytes = 0
        yield { body, isLast: false }
      }
    }
    yield { body: Buffer.concat(held, heldBytes), isLast: true }
  }

  async *#chunksOf(content: Readable): AsyncIterable<Buffer> {
    const { maxBytes } = this.#options
    addAbortSignal(this.#wait.signal, content)
    try {
      for await (const chunk of content as AsyncIterable<Buffer | string>) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
        this.#sizeBytes += bytes.length
        if (this.#sizeBytes > maxBytes) throw new BlobTooLarge(maxBytes)
        this.#hash.update(bytes)
        yield bytes
      }
    } catch (error) {
      this.#wait.signal.throwIfAborted()
      throw new ContentFailure('', { cause: error })
    }
  }
}

const WRONG_OBJECT = 'the store has made another object than was sent'

/** Like that of Node's streams. */
function abortion(cause: unknown): Error {
  const error = new Error('The operation was aborted', { cause })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
