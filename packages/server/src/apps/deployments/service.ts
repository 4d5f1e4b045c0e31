import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Pool } from 'pg'
import type { Deployment } from '@berth/contracts/deployments'
import { newId } from '@berth/kit/ids'
import { newKey } from '../../tenancy/api-keys/key.ts'
import { makerFor } from '../../tenancy/api-keys/power.ts'
import { insertDeploymentKey } from '../../tenancy/api-keys/store.ts'
import { appendEvents } from '../core/events.ts'
import { DeploymentLock, places } from '../core/lock.ts'
import type { JobQueue } from '../core/queue.ts'
import type { Blob, Blobs } from '../../platform/blobs/blobs.ts'
import { ContentSealer } from '../../platform/blobs/sealed-content.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { BodyStream, Commit, OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf, type Principal } from '../../http/principal.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { readDeploymentForm } from './form.ts'
import type { DeploymentStops } from './stops.ts'
import * as store from './store.ts'
import type { DeploymentRecord, DeploymentSecrets } from './types.ts'
import { toDeployment } from './view.ts'

export interface DeploymentServiceOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly storage: StorageLimits
  readonly queue: JobQueue
  readonly serverId: string
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
  /** The maximum size of an archive. */
  readonly maxSourceBytes: number
  readonly shortcomings: readonly string[]
  readonly stops: DeploymentStops
}

export interface DeploymentCaller {
  readonly principal: Principal
  readonly projectId: string | null
}

interface KeptSource {
  readonly blob: Blob
  readonly bytes: number
  readonly checksum: string
}

export class DeploymentService {
  readonly #options: DeploymentServiceOptions

  constructor(options: DeploymentServiceOptions) {
    this.#options = options
  }

  async create(
    { principal, projectId: asked }: DeploymentCaller,
    { stream, signal, commit }: { stream: BodyStream | undefined; signal: AbortSignal; commit: Commit },
  ): Promise<Deployment> {
    const { db, box, blobs, storage, queue, serverId, defaultProject, shortcomings } = this.#options
    if (shortcomings.length > 0) {
      throw new AppError('sessions_unavailable', `Cannot deploy an app: ${shortcomings.join('; ')}`)
    }
    const projectId = principal.projectId ?? asked ?? (await defaultProject(db)).id
    const write = { projectId, kind: 'deployments', action: 'deploy the app' } as const
    using uploads = new DisposableStack()
    uploads.use(await storage.begin(write))
    const id = newId()
    const { lock, sealedKey } = DeploymentLock.make(box, id)
    let stored: Blob | undefined
    try {
      const { deployment, kept } = await readDeploymentForm(stream, async (content) => {
        const source = await this.#keep(content, { id, lock, signal })
        stored = source.blob
        return source
      })
      await queue.start()
      const material = newKey()
      const secrets: DeploymentSecrets = {
        env: deployment.env,
        apiKey: material.key,
        ...(deployment.git?.token !== undefined && { gitToken: deployment.git.token }),
      }
      const answer = await commit((tx) =>
        storage.guard(tx, write, async () => {
          if (kept) await blobs.record(tx, 'app-source', kept.blob)
          const apiKeyId = await insertDeploymentKey(tx, {
            material,
            name: `deployment ${id}`,
            projectId,
            creator: principal.creator,
            maker: await makerFor(tx, principal),
          })
          const record = await store.insertDeployment(tx, {
            id,
            projectId,
            ...deployment,
            checksum: kept?.checksum ?? null,
            sealedKey,
            envNames: Object.keys(deployment.env),
            secrets: lock.seal(JSON.stringify(secrets), places.secrets(id)),
            apiKeyId,
            serverId,
            source: kept && { blobId: kept.blob.id, bytes: kept.bytes },
          })
          const change = { status: 'queued', reason: null }
          await appendEvents(tx, { deploymentId: id, lock }, [{ kind: 'deployment_state', change }])
          await queue.send(tx, 'deployment', { id, serverId })
          return toDeployment(record)
        }),
      )
      stored = undefined
      crashPoint('deployment-queued')
      queue.look()
      return answer
    } finally {
      // Nothing refers to it; the sweep removes what stays.
      if (stored) await blobs.remove(db, stored.id).catch(() => {})
    }
  }

  async #keep(
    content: AsyncIterable<Buffer>,
    { id, lock, signal }: { id: string; lock: DeploymentLock; signal: AbortSignal },
  ): Promise<KeptSource> {
    const { blobs, maxSourceBytes } = this.#options
    const hash = createHash('sha256')
    let bytes = 0
    async function* counted() {
      for await (const chunk of content) {
        bytes += chunk.length
        if (bytes > maxSourceBytes) {
          const maxMb = Math.floor(maxSourceBytes / 1024 / 1024)
          throw new AppError('payload_too_large', `Cannot take an archive of more than ${maxMb} MB`)
        }
        hash.update(chunk)
        yield chunk
      }
    }
    const sealer = new ContentSealer(lock.for(places.source(id)))
    const source = Readable.from(counted(), { objectMode: false })
    source.once('error', (error) => sealer.destroy(error))
    // Sealed content is slightly longer.
    const blob = await blobs.put(source.pipe(sealer), { maxBytes: maxSourceBytes * 2 + 65_536, signal })
    if (bytes === 0) throw invalidInput('file', 'is empty')
    return { blob, bytes, checksum: hash.digest('hex') }
  }

  async list(
    caller: DeploymentCaller,
    query: { limit?: number; offset?: number; app_name?: string; app_version?: string; query?: string },
  ): Promise<OffsetPage<Deployment[]>> {
    const { limit = 20, offset = 0, app_name: appName, app_version: appVersion, query: part } = query
    if (appVersion !== undefined && appName === undefined) throw invalidInput('app_version', 'needs app_name')
    const rows = await store.listDeployments(this.#options.db, projectOf(caller), {
      ...(appName !== undefined && { appName }),
      ...(appVersion !== undefined && { appVersion }),
      ...(part && { query: part }),
      limit: limit + 1,
      offset,
    })
    return toPage(rows.map(toDeployment), limit)
  }

  async get(caller: DeploymentCaller, id: string): Promise<Deployment> {
    return toDeployment(await this.find(caller, id))
  }

  async find(caller: DeploymentCaller, id: string): Promise<DeploymentRecord> {
    const record = await store.findDeployment(this.#options.db, projectOf(caller), id)
    if (!record) throw new AppError('not_found', `Cannot find deployment "${id}"`)
    return record
  }

  /** Ends the invocations after the commit; after a crash, the reconciler finds the rest. */
  async delete(caller: DeploymentCaller, id: string, commit: Commit): Promise<void> {
    const record = await this.find(caller, id)
    const reason = 'It was deleted'
    const { stops } = this.#options
    const isStopped = await commit((tx) => stops.stopIn(tx, record, reason))
    if (isStopped) await stops.afterStop(record, 'Its deployment was deleted')
  }
}
