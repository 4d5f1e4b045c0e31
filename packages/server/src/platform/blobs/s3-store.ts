// Stores blobs as objects of a bucket:
//
//   <prefix>blobs/<id>       complete blobs only: an object appears when its last byte has arrived
//   <prefix>store-id         the identity of this store
//   <prefix>checks/<random>  of a server that starts, for a moment
import { Readable } from 'node:stream'
import { newId } from '@berth/kit/ids'
import { explain, type StorePlace } from '../s3/explain.ts'
import { ObjectClient, type ObjectClientOptions } from '../s3/object-client.ts'
import { checkBlobId, isBlobId } from './blob-id.ts'
import { S3BlobReading } from './s3-reading.ts'
import { S3Upload } from './s3-upload.ts'
import { BlobMissing, BlobStoreFailure, type BlobInfo, type BlobStore, type StoredBlob } from './store.ts'

/** After that, a blob without a row may be an orphan (blobs.ts), and its time begins with the upload. */
const PUT_MS = 45 * 60_000
const READ_PATIENCE_MS = 30_000
const REMOVE_PATIENCE_MS = 10_000
const LIST_PATIENCE_MS = 60_000
const IDENTITY = /^s3_[a-z0-9]{24}$/
const MAX_IDENTITY_BYTES = 1024

export interface S3StoreOptions extends ObjectClientOptions {
  /** Empty, or it ends with a slash. */
  readonly prefix: string
}

/** What not every compatible store does. */
export interface S3Abilities {
  /** `If-None-Match: *` is kept. */
  readonly isConditional: boolean
  /** ETags are MD5 sums, so that they tell what has arrived. */
  readonly hasMd5Etags: boolean
}

export class S3BlobStore implements BlobStore {
  readonly location: string
  readonly isRemote = true
  readonly #client: ObjectClient
  readonly #place: StorePlace
  readonly #prefix: string
  readonly #closing = new AbortController()
  #failures = 0
  #abilities: S3Abilities = { isConditional: true, hasMd5Etags: false }

  private constructor(client: ObjectClient, { bucket, endpoint, prefix }: S3StoreOptions) {
    this.#client = client
    this.#place = { bucket, endpoint }
    this.#prefix = prefix
    this.location = `s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${endpoint}`}`
  }

  static async open(options: S3StoreOptions): Promise<S3BlobStore> {
    return new S3BlobStore(await ObjectClient.open(options), options)
  }

  get failures(): number {
    return this.#failures
  }

  get client(): ObjectClient {
    return this.#client
  }

  get place(): StorePlace {
    return this.#place
  }

  get prefix(): string {
    return this.#prefix
  }

  /** Learned by a check. */
  set abilities(abilities: S3Abilities) {
    this.#abilities = abilities
  }

  now(): Date {
    return this.#client.now()
  }

  async identity(): Promise<string> {
    const key = `${this.#prefix}store-id`
    const wait = this.#wait(READ_PATIENCE_MS)
    for (;;) {
      const found = await this.#client.get(key, {}, wait)
      if (found) {
        if (found.length > MAX_IDENTITY_BYTES) {
          found.body.destroy()
          throw new Error(`Cannot use ${this.location}: its object store-id is not Berth's`)
        }
        const text = Buffer.concat(await found.body.toArray())
          .toString()
          .trim()
        if (IDENTITY.test(text)) return text
        throw new Error(`Cannot use ${this.location}: its object store-id is not Berth's`)
      }
      const isNew = this.#abilities.isConditional
      const body = Buffer.from(`${newId('s3_')}\n`)
      await this.#client.put(key, body, { ...wait, isNew, metadata: {} }).catch((error: unknown) => {
        // Another server was first.
        if (statusOf(error) !== 412 && statusOf(error) !== 409) throw error
      })
    }
  }

  async put(
    id: string,
    content: Readable,
    { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
  ): Promise<StoredBlob> {
    const upload = new S3Upload(this.#client, {
      id,
      key: this.#keyOf(id),
      abilities: this.#abilities,
      maxBytes,
      signal,
      deadline: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(PUT_MS)]),
    })
    return upload.run(content, (error) =>
      this.#failure('store a file', error, 's3:PutObject and s3:AbortMultipartUpload'),
    )
  }

  async read(id: string, range?: { start: number; end: number }): Promise<Readable> {
    const key = this.#keyOf(id)
    const wait = this.#wait(READ_PATIENCE_MS)
    const failure = (error: unknown) => this.#failure('read a file', error, 's3:GetObject and s3:ListBucket')
    try {
      const first = await this.#client.get(key, range ? { range } : {}, wait)
      if (!first) throw new BlobMissing(id)
      return new S3BlobReading(this.#client, { id, key, first, start: range?.start ?? 0, wait, failure })
    } catch (error) {
      if (error instanceof BlobMissing) throw error
      // As a file does that is read beyond its end.
      if (statusOf(error) === 416) return Readable.from([], { objectMode: false })
      throw failure(error)
    }
  }

  async remove(id: string): Promise<void> {
    const key = this.#keyOf(id)
    try {
      await this.#client.remove(key, this.#wait(REMOVE_PATIENCE_MS))
    } catch (error) {
      throw this.#failure('remove a file', error, 's3:DeleteObject')
    }
  }

  async *list(): AsyncIterable<BlobInfo> {
    const folder = `${this.#prefix}blobs/`
    try {
      for await (const { key, modifiedAt } of this.#client.list(folder, this.#wait(LIST_PATIENCE_MS))) {
        const id = key.slice(folder.length)
        if (isBlobId(id)) yield { id, modifiedAt }
      }
    } catch (error) {
      throw this.#failure('list files', error, 's3:ListBucket')
    }
  }

  async removeUnfinished(before: Date): Promise<number> {
    const wait = this.#wait(LIST_PATIENCE_MS)
    let removed = 0
    try {
      for await (const upload of this.#client.listUploads(`${this.#prefix}blobs/`, wait)) {
        if (upload.initiatedAt >= before) continue
        await this.#client.abortUpload(upload, wait)
        removed++
      }
    } catch (error) {
      throw this.#failure('list uploads', error, 's3:ListBucketMultipartUploads and s3:AbortMultipartUpload')
    }
    return removed
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('The server is closing'))
    this.#client[Symbol.dispose]()
  }

  #wait(patienceMs: number) {
    return { patienceMs, signal: this.#closing.signal }
  }

  #keyOf(id: string): string {
    return `${this.#prefix}blobs/${checkBlobId(id)}`
  }

  #failure(what: string, error: unknown, rights: string): BlobStoreFailure {
    if (error instanceof BlobStoreFailure) return error
    this.#failures++
    const reason = new Error(`${this.location}: ${explain(error, this.#place, rights)}`, { cause: error })
    return new BlobStoreFailure(what, { cause: reason })
  }
}

export const statusOf = (error: unknown) =>
  (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode
