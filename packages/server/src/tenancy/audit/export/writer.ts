// Writes objects to a destination: with the credentials of the role that it names, or with its own.
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { ExportStage } from '@berth/contracts/audit-exports'
import { Bucket, type S3Credentials } from '../../../platform/s3/bucket.ts'
import { S3Failure } from '../../../platform/s3/failure.ts'
import { assumeRole, type AwsIdentity, type RoleCredentials } from '../../../platform/s3/roles.ts'
import type { SealedBox } from '../../../platform/secrets/sealed-box.ts'
import { probeKey } from './object-keys.ts'
import type { DestinationConfig, ExportNetwork } from './types.ts'

const CONTENT_TYPE = 'application/gzip'
/** For one object, with its repetition. */
const UPLOAD_MS = 120_000
const TEST_MS = 30_000
const REMOVE_MS = 10_000
/** Credentials that run out earlier are not used any more. */
const MIN_VALIDITY_MS = 5 * 60_000
/** More than there can be destinations. */
const MAX_REMEMBERED_ROLES = 100

export type FailedStage = Exclude<ExportStage, 'complete'>

/** Why nothing was written, and at which stage. */
export class WriteFailure extends Error {
  readonly stage: FailedStage

  constructor(stage: FailedStage, message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'WriteFailure'
    this.stage = stage
  }
}

export interface DestinationWriterOptions {
  readonly box: SealedBox
  readonly network: ExportNetwork
  readonly identity: AwsIdentity
}

export class DestinationWriter {
  readonly #options: DestinationWriterOptions
  /** By what they were given for: another configuration needs others. */
  readonly #roles = new Map<string, RoleCredentials>()

  constructor(options: DestinationWriterOptions) {
    this.#options = options
  }

  sealSecret(id: string, secret: string): Buffer {
    return this.#options.box.seal(secret, contextOf(id))
  }

  /** Rejects with WriteFailure. */
  async write(config: DestinationConfig, key: string, body: Buffer, signal: AbortSignal): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(UPLOAD_MS)])
    const credentials = await this.#credentialsFor(config, limited)
    using bucket = await this.#open(config, credentials)
    await this.#put(bucket, config, { key, body }, limited)
  }

  /** Writes an object like a real one, and removes it if it may. Rejects with WriteFailure. */
  async test(config: DestinationConfig, signal: AbortSignal): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TEST_MS)])
    // A test is about the role as it is now.
    this.#roles.delete(roleKey(config))
    const credentials = await this.#credentialsFor(config, limited)
    using bucket = await this.#open(config, credentials)
    const key = probeKey(config, randomBytes(12).toString('hex'))
    await this.#put(bucket, config, { key, body: gzipSync('') }, limited)
    // The role need not be allowed to delete: then the object stays.
    await bucket.remove(key, AbortSignal.any([signal, AbortSignal.timeout(REMOVE_MS)])).catch(() => {})
  }

  #open({ bucket, region, endpoint }: DestinationConfig, credentials: S3Credentials): Promise<Bucket> {
    const { connect } = this.#options.network
    return Bucket.open({ bucket, region, endpoint: endpoint ?? undefined, credentials, connect })
  }

  async #put(
    bucket: Bucket,
    { kms_key_id }: DestinationConfig,
    { key, body }: { key: string; body: Buffer },
    signal: AbortSignal,
  ): Promise<void> {
    const content = { body, contentType: CONTENT_TYPE, kmsKeyId: kms_key_id ?? undefined }
    await atStage('put_object', 'Cannot write an object', () => bucket.put(key, content, signal))
  }

  async #credentialsFor(config: DestinationConfig, signal: AbortSignal): Promise<S3Credentials> {
    const { id, role_arn: arn, access_key_id: accessKeyId, sealed_secret: sealed } = config
    if (arn === null) {
      // SAFETY: the table refuses a destination with neither a role nor a key.
      const secretAccessKey = this.#options.box.open(sealed!, contextOf(id))
      return { accessKeyId: accessKeyId!, secretAccessKey }
    }
    const key = roleKey(config)
    const known = this.#roles.get(key)
    if (known && known.expiresAt.getTime() - Date.now() > MIN_VALIDITY_MS) return known
    const role = { arn, externalId: config.external_id, region: config.region, sessionName: `berth-${id}` }
    const given = await atStage('assume_role', 'Cannot assume the role', () =>
      assumeRole(this.#options.identity, role, signal),
    )
    if (this.#roles.size >= MAX_REMEMBERED_ROLES) this.#roles.clear()
    this.#roles.set(key, given)
    return given
  }
}

const roleKey = ({ id, role_arn, external_id, region }: DestinationConfig) =>
  JSON.stringify([id, role_arn, external_id, region])

const contextOf = (id: string) => `audit_export_destinations/sealed_secret/${id}`

async function atStage<T>(stage: FailedStage, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof S3Failure)) throw error
    throw new WriteFailure(stage, `${what}: ${error.message}`, error)
  }
}
