// One bucket of S3 or of a compatible store.
import { createHash } from 'node:crypto'
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import { boundAnswers } from './bounded-answers.ts'
import { connectAgents, type Connect } from './connect-agents.ts'
import { toS3Failure } from './failure.ts'

/** Loaded at first use, because few servers need it. */
const loadSdk = () => import('@aws-sdk/client-s3')
type Sdk = Awaited<ReturnType<typeof loadSdk>>

/** A broken connection is tried again at once; whoever calls has a longer patience. */
const MAX_ATTEMPTS = 2
const CONNECT_MS = 15_000
/** Without any byte in either direction. */
const SILENCE_MS = 30_000
/** Of an answer to a put or a delete: nothing, or an error. */
const MAX_ANSWER_BYTES = 256 * 1024

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

export interface BucketOptions {
  readonly bucket: string
  readonly region: string
  /** Undefined for S3 itself. */
  readonly endpoint: string | undefined
  readonly credentials: S3Credentials
  readonly connect: Connect
}

export interface ObjectContent {
  readonly body: Buffer
  readonly contentType: string
  /** Undefined for the default of the bucket. */
  readonly kmsKeyId: string | undefined
}

export class Bucket implements Disposable {
  readonly #sdk: Sdk
  readonly #client: S3Client
  readonly #bucket: string

  private constructor(sdk: Sdk, { bucket, region, endpoint, credentials, connect }: BucketOptions) {
    this.#sdk = sdk
    this.#bucket = bucket
    this.#client = new sdk.S3Client({
      region,
      credentials,
      maxAttempts: MAX_ATTEMPTS,
      // Older compatible stores refuse the checksums that the SDK adds on its own; ours is Content-MD5.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // Answers of S3 must not send requests elsewhere.
      followRegionRedirects: false,
      requestHandler: {
        ...connectAgents(connect),
        connectionTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
      },
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    })
    boundAnswers(this.#client, MAX_ANSWER_BYTES)
  }

  static async open(options: BucketOptions): Promise<Bucket> {
    return new Bucket(await loadSdk(), options)
  }

  /** Replaces the object if there is one. The store refuses a body that does not arrive whole. */
  async put(key: string, { body, contentType, kmsKeyId }: ObjectContent, signal: AbortSignal): Promise<void> {
    const input: PutObjectCommandInput = {
      Bucket: this.#bucket,
      Key: key,
      Body: body,
      ContentType: contentType,
      ContentMD5: createHash('md5').update(body).digest('base64'),
      ...(kmsKeyId !== undefined && { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: kmsKeyId }),
    }
    const sending = this.#client.send(new this.#sdk.PutObjectCommand(input), { abortSignal: signal })
    await translated(sending, signal)
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const command = new this.#sdk.DeleteObjectCommand({ Bucket: this.#bucket, Key: key })
    await translated(this.#client.send(command, { abortSignal: signal }), signal)
  }

  [Symbol.dispose](): void {
    this.#client.destroy()
  }
}

async function translated<T>(sending: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await sending
  } catch (error) {
    throw toS3Failure(signal.aborted ? signal.reason : error)
  }
}
