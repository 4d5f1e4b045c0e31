// The requests that a store of large files needs, each with a deadline and its attempts. For the operator's own store;
// bucket.ts is for those that somebody names in a request.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { ListMultipartUploadsCommandOutput, S3Client } from '@aws-sdk/client-s3'
import type { S3Credentials } from './bucket.ts'
import { Corrupted, persist, type Patience } from './persist.ts'

const loadSdk = () => import('@aws-sdk/client-s3')
type Sdk = Awaited<ReturnType<typeof loadSdk>>

const CONNECT_MS = 10_000
/** Without any byte in either direction. Also for one that nobody reads: who goes on reading connects again. */
const SILENCE_MS = 20_000
const MAX_SOCKETS = 256
const ATTEMPT_MS = 30_000
/** A part, also on a slow line. */
const PART_ATTEMPT_MS = 180_000
const ANY_REGION = 'us-east-1'

export interface ObjectClientOptions {
  readonly bucket: string
  /** Undefined for what the SDK finds, such as AWS_REGION. */
  readonly region: string | undefined
  /** Undefined for S3 itself. */
  readonly endpoint: string | undefined
  /** Whether the bucket is in the path, not in the name of the host. */
  readonly isPathStyle: boolean
  /** Undefined for what the SDK finds: variables, a web identity, the role of the machine. */
  readonly credentials: S3Credentials | undefined
}

export interface Wait {
  readonly signal: AbortSignal
  /** How long to try again after a failure that may pass. */
  readonly patienceMs: number
}

export interface SentObject {
  readonly etag: string | undefined
}

export interface PutOptions extends Wait {
  /** Fail with 412 if there is an object already. */
  readonly isNew: boolean
  readonly metadata: Record<string, string>
}

export interface FoundObject {
  readonly sizeBytes: number
  readonly etag: string | undefined
  readonly metadata: Readonly<Record<string, string>>
}

export interface OpenObject {
  readonly body: Readable
  readonly length: number
  readonly etag: string | undefined
}

export interface ListedObject {
  readonly key: string
  readonly modifiedAt: Date
}

export interface ListedUpload {
  readonly key: string
  readonly uploadId: string
  readonly initiatedAt: Date
}

export interface UploadPlace {
  readonly key: string
  readonly uploadId: string
}

export interface SentPart {
  readonly number: number
  readonly etag: string
}

interface UploadMarker {
  readonly KeyMarker?: string | undefined
  readonly UploadIdMarker?: string | undefined
}

const md5 = (body: Buffer) => hash('md5', body, 'base64')

export class ObjectClient implements Disposable {
  readonly #sdk: Sdk
  readonly #client: S3Client
  readonly #bucket: string

  private constructor(sdk: Sdk, options: ObjectClientOptions) {
    const { bucket, region, endpoint, isPathStyle, credentials } = options
    this.#sdk = sdk
    this.#bucket = bucket
    const agents = { keepAlive: true, maxSockets: MAX_SOCKETS }
    const knownRegion = region ?? (endpoint === undefined ? undefined : ANY_REGION)
    this.#client = new sdk.S3Client({
      // `persist` tries again; two of them would multiply.
      maxAttempts: 1,
      // Older compatible stores refuse the checksums that the SDK adds on its own; ours is Content-MD5.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // A wrong region is an error that the operator sees, not a redirection with every request.
      followRegionRedirects: false,
      forcePathStyle: isPathStyle,
      requestHandler: {
        httpAgent: new HttpAgent(agents),
        httpsAgent: new HttpsAgent(agents),
        connectionTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
      },
      ...(knownRegion !== undefined && { region: knownRegion }),
      ...(endpoint !== undefined && { endpoint }),
      ...(credentials && { credentials }),
    })
  }

  static async open(options: ObjectClientOptions): Promise<ObjectClient> {
    return new ObjectClient(await loadSdk(), options)
  }

  /** About what the clock of the store says; the SDK learns it, so that a wrong clock here harms nothing. */
  now(): Date {
    return new Date(Date.now() + this.#client.config.systemClockOffset)
  }

  put(key: string, body: Buffer, { isNew, metadata, ...wait }: PutOptions): Promise<SentObject> {
    const command = () =>
      new this.#sdk.PutObjectCommand({
        Bucket: this.#bucket,
        Key: key,
        Body: body,
        ContentLength: body.length,
        ContentMD5: md5(body),
        ContentType: 'application/octet-stream',
        Metadata: metadata,
        ...(isNew && { IfNoneMatch: '*' }),
      })
    return persist(
      async (abortSignal) => {
        const { ETag: etag } = await this.#client.send(command(), { abortSignal })
        return { etag: bare(etag) }
      },
      within(wait, PART_ATTEMPT_MS),
    )
  }

  beginUpload(key: string, metadata: Record<string, string>, wait: Wait): Promise<UploadPlace> {
    return persist(async (abortSignal) => {
      const command = new this.#sdk.CreateMultipartUploadCommand({
        Bucket: this.#bucket,
        Key: key,
        ContentType: 'application/octet-stream',
        Metadata: metadata,
      })
      const { UploadId: uploadId } = await this.#client.send(command, { abortSignal })
      if (uploadId === undefined) throw new Corrupted('the store names no upload')
      return { key, uploadId }
    }, within(wait))
  }

  /** Sends it again until the store confirms what was sent, if it says what it has. */
  sendPart(
    { key, uploadId }: UploadPlace,
    { number, body, isConfirmed }: { number: number; body: Buffer; isConfirmed: (etag: string) => boolean },
    wait: Wait,
  ): Promise<SentPart> {
    const contentMd5 = md5(body)
    return persist(
      async (abortSignal) => {
        const command = new this.#sdk.UploadPartCommand({
          Bucket: this.#bucket,
          Key: key,
          UploadId: uploadId,
          PartNumber: number,
          Body: body,
          ContentLength: body.length,
          ContentMD5: contentMd5,
        })
        const { ETag: etag } = await this.#client.send(command, { abortSignal })
        if (etag === undefined || !isConfirmed(bare(etag)!)) {
          throw new Corrupted('the store has confirmed another part than was sent')
        }
        return { number, etag }
      },
      within(wait, PART_ATTEMPT_MS),
    )
  }

  finishUpload(
    { key, uploadId }: UploadPlace,
    { parts, isNew }: { parts: readonly SentPart[]; isNew: boolean },
    wait: Wait,
  ): Promise<SentObject> {
    return persist(
      async (abortSignal) => {
        const command = new this.#sdk.CompleteMultipartUploadCommand({
          Bucket: this.#bucket,
          Key: key,
          UploadId: uploadId,
          MultipartUpload: { Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
          ...(isNew && { IfNoneMatch: '*' }),
        })
        const { ETag: etag } = await this.#client.send(command, { abortSignal })
        return { etag: bare(etag) }
        // The store puts the parts together, which takes a while.
      },
      within(wait, PART_ATTEMPT_MS),
    )
  }

  /** Succeeds for an upload that is gone. */
  async abortUpload({ key, uploadId }: UploadPlace, wait: Wait): Promise<void> {
    await persist(async (abortSignal) => {
      const command = new this.#sdk.AbortMultipartUploadCommand({
        Bucket: this.#bucket,
        Key: key,
        UploadId: uploadId,
      })
      await this.#client.send(command, { abortSignal }).catch((error: unknown) => {
        if (statusOf(error) !== 404 || (error as Error).name === 'NoSuchBucket') throw error
      })
    }, within(wait))
  }

  async *listUploads(prefix: string, wait: Wait): AsyncIterable<ListedUpload> {
    for (let from: UploadMarker | undefined = {}; from;) {
      const page = await this.#uploadsFrom(prefix, from, wait)
      for (const { Key: key, UploadId: uploadId, Initiated: initiatedAt } of page.Uploads ?? []) {
        if (key !== undefined && uploadId !== undefined && initiatedAt) yield { key, uploadId, initiatedAt }
      }
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
      from = page.IsTruncated ? { KeyMarker, UploadIdMarker } : undefined
    }
  }

  #uploadsFrom(prefix: string, from: UploadMarker, wait: Wait): Promise<ListMultipartUploadsCommandOutput> {
    const command = () =>
      new this.#sdk.ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: prefix, ...from })
    return persist((abortSignal) => this.#client.send(command(), { abortSignal }), within(wait))
  }

  /** Undefined if there is none. */
  head(key: string, wait: Wait): Promise<FoundObject | undefined> {
    return persist(async (abortSignal) => {
      try {
        const command = new this.#sdk.HeadObjectCommand({ Bucket: this.#bucket, Key: key })
        const found = await this.#client.send(command, { abortSignal })
        return {
          sizeBytes: found.ContentLength ?? 0,
          etag: bare(found.ETag),
          metadata: found.Metadata ?? {},
        }
      } catch (error) {
        if (statusOf(error) === 404) return undefined
        throw error
      }
    }, within(wait))
  }

  /** Undefined if there is none. The caller reads the body or destroys it. */
  get(
    key: string,
    { range, etag }: { range?: { start: number; end: number | undefined }; etag?: string },
    wait: Wait,
  ): Promise<OpenObject | undefined> {
    return persist(async (abortSignal) => {
      try {
        const command = new this.#sdk.GetObjectCommand({
          Bucket: this.#bucket,
          Key: key,
          ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }),
          ...(etag !== undefined && { IfMatch: `"${etag}"` }),
        })
        // A deadline of the whole answer would be one of whoever reads it.
        const answer = await untilAnswered(
          (signal) => this.#client.send(command, { abortSignal: signal }),
          abortSignal,
        )
        if (answer.ContentLength === undefined) throw new Corrupted('the store does not say how long it is')
        return {
          // SAFETY: in Node, the SDK answers with a stream of Node.
          body: answer.Body as Readable,
          length: answer.ContentLength,
          etag: bare(answer.ETag),
        }
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined
        throw error
      }
    }, within(wait))
  }

  /** Succeeds if there is none. */
  async remove(key: string, wait: Wait): Promise<void> {
    await persist(async (abortSignal) => {
      const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: key })
      await this.#client.send(command, { abortSignal })
    }, within(wait))
  }

  async *list(prefix: string, wait: Wait): AsyncIterable<ListedObject> {
    let token: string | undefined
    do {
      const from = token
      const page = await persist((abortSignal) => {
        const command = new this.#sdk.ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: prefix,
          ...(from !== undefined && { ContinuationToken: from }),
        })
        return this.#client.send(command, { abortSignal })
      }, within(wait))
      for (const { Key: key, LastModified: modifiedAt } of page.Contents ?? []) {
        if (key !== undefined && modifiedAt) yield { key, modifiedAt }
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  [Symbol.dispose](): void {
    this.#client.destroy()
  }
}

const within = ({ signal, patienceMs }: Wait, attemptMs = ATTEMPT_MS): Patience => ({
  signal,
  patienceMs,
  attemptMs,
})

const bare = (etag: string | undefined) => etag?.replace(/^"(.*)"$/, '$1')

const statusOf = (error: unknown) =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode

/** The signal ends the wait for the answer, and not its body. */
async function untilAnswered<T>(ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const asking = new AbortController()
  const stop = () => asking.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    return await ask(asking.signal)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
