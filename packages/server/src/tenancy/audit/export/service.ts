import type {
  AuditExportDestination,
  AuditExportTestResult,
  CreateAuditExportRequest,
  UpdateAuditExportRequest,
} from '@berth/contracts/audit-exports'
import { newId } from '@berth/kit/ids'
import { announceChange } from '../../../platform/database/changes.ts'
import type { Db } from '../../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../../platform/errors/app-error.ts'
import type { Commit, OffsetPage } from '../../../http/call.ts'
import { toPage } from '../../../http/paging.ts'
import * as store from './store.ts'
import type { DestinationConfig, DestinationRecord, ExportNetwork } from './types.ts'
import { WriteFailure, type DestinationWriter } from './writer.ts'

const MAX_DESTINATIONS = 20
/** More pauses than this within the time that records are held. */
const MAX_PENDING = 100

export interface AuditExportServiceOptions {
  readonly db: Db
  readonly writer: DestinationWriter
  readonly network: ExportNetwork
  /** Who this server is in AWS; empty without an identity. */
  readonly identityArn: string
}

interface ActiveCall {
  readonly commit: Commit
  readonly signal: AbortSignal
}

export class AuditExportService {
  readonly #options: AuditExportServiceOptions

  constructor(options: AuditExportServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, body: CreateAuditExportRequest): Promise<AuditExportDestination> {
    if ((await store.countDestinations(tx)) >= MAX_DESTINATIONS) {
      throw new AppError(
        'conflict',
        `Cannot create the destination: there are ${MAX_DESTINATIONS} already; delete one`,
      )
    }
    const { bucket, prefix, region, role_arn, access_key_id, secret_access_key } = body
    const id = store.newDestinationId()
    const isKeyGiven = access_key_id !== undefined || secret_access_key !== undefined
    if (isKeyGiven === (role_arn !== undefined)) {
      throw invalidInput(
        'role_arn',
        'is required; or give access_key_id and secret_access_key instead, but not both',
      )
    }
    const config = {
      bucket,
      prefix,
      region,
      kms_key_id: body.kms_key_id || null,
      endpoint: body.endpoint ? this.#readEndpoint(body.endpoint) : null,
      role_arn: role_arn === undefined ? null : this.#readRole(role_arn),
      ...(isKeyGiven ? this.#readKey(id, body) : { access_key_id: null, sealed_secret: null }),
    }
    return this.#present(await store.insertDestination(tx, { id, external_id: newExternalId(), ...config }))
  }

  async list(
    db: Db,
    { limit = 20, offset = 0 }: { limit?: number; offset?: number },
  ): Promise<OffsetPage<AuditExportDestination[]>> {
    const rows = await store.listDestinations(db, { limit: limit + 1, offset })
    return toPage(
      rows.map((row) => this.#present(row)),
      limit,
    )
  }

  async get(db: Db, id: string): Promise<AuditExportDestination> {
    return this.#present(await find(db, id))
  }

  /** The test takes its time, so the row is not locked meanwhile; whoever commits first wins. */
  async update(
    id: string,
    body: UpdateAuditExportRequest,
    call: ActiveCall,
  ): Promise<AuditExportDestination> {
    const before = await find(this.#options.db, id)
    const config = this.#configChange(before, body)
    const after = { ...before, ...config }
    const isConfigChanged = Object.keys(config).length > 0
    const status = body.status && body.status !== before.status ? body.status : undefined
    const hasPassed = !isConfigChanged && before.tested_revision === before.revision
    const needsTest = status === 'active' && !hasPassed
    if (needsTest) await this.#testFirst(after, call.signal)
    return call.commit(async (tx) => {
      if (!isConfigChanged && status === undefined) return this.#present(await find(tx, id))
      if (status === 'paused' && (await store.countPending(tx, id)) >= MAX_PENDING) {
        throw new AppError(
          'conflict',
          `Cannot pause destination "${id}": it was paused ${MAX_PENDING} times, and what was recorded between is not exported yet; wait until it is, or delete the destination`,
        )
      }
      const change = { id, revision: before.revision, config, status, isTested: needsTest }
      const updated = await store.updateDestination(tx, change)
      if (!updated) throw await this.#whyNot(tx, id)
      await announceChange(tx, 'auditExportsChanged', {})
      return this.#present(updated)
    })
  }

  async delete(tx: Db, id: string): Promise<void> {
    const record = await store.findDestination(tx, id)
    if (!record) throw notFound(id)
    // Deleting twice succeeds, because a client that lost the first answer tries again.
    if (!record.deleted_at) await store.markDestinationDeleted(tx, id)
  }

  async test(id: string, { commit, signal }: ActiveCall): Promise<AuditExportTestResult> {
    const record = await find(this.#options.db, id)
    try {
      await this.#options.writer.test(record, signal)
    } catch (error) {
      if (!(error instanceof WriteFailure)) throw error
      const { stage, message } = error
      return { success: false, stage, error: { code: `${stage}_failed`, message } }
    }
    return commit(async (tx) => {
      await store.keepTestPassed(tx, id, record.revision)
      return { success: true, stage: 'complete' }
    })
  }

  async #testFirst(config: DestinationConfig, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.writer.test(config, signal)
    } catch (error) {
      if (!(error instanceof WriteFailure)) throw error
      throw invalidInput('status', `cannot be active, because the test failed. ${error.message}`)
    }
  }

  async #whyNot(tx: Db, id: string): Promise<AppError> {
    const record = await store.findDestination(tx, id)
    if (!record || record.deleted_at) return notFound(id)
    return new AppError(
      'conflict',
      `Cannot change destination "${id}": another request changed it meanwhile; read it again and repeat`,
    )
  }

  /** Null keeps, like a field that is left out. */
  #configChange(before: DestinationRecord, body: UpdateAuditExportRequest): store.ConfigChange {
    const { id } = before
    const { bucket, prefix, region, role_arn, access_key_id, secret_access_key } = body
    const isKeyGiven = (access_key_id ?? secret_access_key ?? null) !== null
    if (isKeyGiven && (role_arn ?? null) !== null) {
      throw invalidInput('role_arn', 'cannot be given together with an access key')
    }
    const wanted: store.ConfigChange = {
      ...given({ bucket, prefix, region }),
      ...((body.kms_key_id ?? null) !== null && { kms_key_id: body.kms_key_id || null }),
      ...((body.endpoint ?? null) !== null && {
        endpoint: body.endpoint ? this.#readEndpoint(body.endpoint) : null,
      }),
      ...(role_arn && { role_arn: this.#readRole(role_arn), access_key_id: null, sealed_secret: null }),
      ...(isKeyGiven && { role_arn: null, ...this.#readKey(id, { access_key_id, secret_access_key }) }),
    }
    const changed = Object.entries(wanted).filter(
      ([name, value]) => before[name as keyof DestinationRecord] !== value,
    )
    return Object.fromEntries(changed)
  }

  #readEndpoint(text: string): string {
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol)) throw refuseEndpoint('must be an http or https URL')
    if (url.username || url.password || url.search || url.hash || url.pathname !== '/') {
      throw refuseEndpoint('must be only a scheme, host and port')
    }
    const refusal = this.#options.network.refusalOf(url)
    if (refusal !== undefined) throw refuseEndpoint(refusal)
    return url.origin
  }

  #readRole(arn: string): string {
    if (this.#options.identityArn !== '') return arn
    throw invalidInput(
      'role_arn',
      'cannot be used, because this server has no identity in AWS; the operator can give it one with BERTH_AWS_IDENTITY_ARN. Or use access_key_id and secret_access_key',
    )
  }

  #readKey(
    id: string,
    {
      access_key_id,
      secret_access_key,
    }: { access_key_id?: string | null | undefined; secret_access_key?: string | null | undefined },
  ): { access_key_id: string; sealed_secret: Buffer } {
    if (!access_key_id || !secret_access_key) {
      throw invalidInput(
        access_key_id ? 'secret_access_key' : 'access_key_id',
        'is required together with the other one',
      )
    }
    return { access_key_id, sealed_secret: this.#options.writer.sealSecret(id, secret_access_key) }
  }

  #present(record: DestinationRecord): AuditExportDestination {
    const { kms_key_id, endpoint, access_key_id } = record
    const { last_success_at, last_error, last_error_at, last_exported_cursor, next_attempt_at } = record
    return {
      id: record.id,
      type: 's3',
      format: 'jsonl.gz',
      bucket: record.bucket,
      prefix: record.prefix,
      region: record.region,
      role_arn: record.role_arn ?? '',
      external_id: record.external_id,
      kernel_role_arn: this.#options.identityArn,
      status: record.status,
      consecutive_failures: record.consecutive_failures,
      ...given({ kms_key_id, endpoint, access_key_id }),
      ...given({ last_success_at, last_error, last_error_at, last_exported_cursor, next_attempt_at }),
      created_at: record.created_at,
      updated_at: record.updated_at,
    }
  }
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> }

/** Without fields that are null or absent. */
function given<T extends object>(fields: T): Given<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  // SAFETY: only null and undefined were removed.
  return Object.fromEntries(entries) as Given<T>
}

const newExternalId = () => newId('berth-')
const refuseEndpoint = (message: string) => invalidInput('endpoint', message)

async function find(db: Db, id: string): Promise<DestinationRecord> {
  const record = await store.findDestination(db, id)
  if (!record || record.deleted_at) throw notFound(id)
  return record
}

function notFound(id: string): AppError {
  return new AppError('not_found', `Cannot find export destination "${id}"`)
}
