// Builds a deployment in its own instance, which ends with the build. The output is stored as logs, the
// result as files. Instances that run the app start from these files.
import type { Readable } from 'node:stream'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { AppRegistry, BuildLine, BuildOrder, Runtime } from '@berth/contracts/app-link'
import { MAX_LOG_LINE_LENGTH } from '@berth/contracts/logs'
import { appendEvents, type LogLine, type NewEvent } from '../core/events.ts'
import { DeploymentLock, places } from '../core/lock.ts'
import type { Npm } from '../core/npm.ts'
import * as apps from '../core/store.ts'
import type { Blob, Blobs } from '../../platform/blobs/blobs.ts'
import { ContentSealer, openContent } from '../../platform/blobs/sealed-content.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { announceChange } from '../../platform/database/changes.ts'
import { violatedConstraint } from '../../platform/database/failures.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { Instance, InstanceLimits } from '../../instances/driver/driver.ts'
import type { Openings } from '../../instances/egress/openings.ts'
import type { Instances } from '../../instances/stock/instances.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { StorageFull } from '../../tenancy/storage/use.ts'
import { buildApp, openFiles, putSource } from '../../instances/agent/apps.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { forgetKey } from './stops.ts'
import * as store from './store.ts'
import type { DeploymentRecord, DeploymentSecrets } from './types.ts'

const BUILD_MS = 15 * 60_000
const MAX_ATTEMPTS = 3
/** Limit for all log lines of a build; the rest is dropped. */
const MAX_LOG_BYTES = 16 * 1024 * 1024
const FLUSH_MS = 200
const MAX_STATUS_REASON_LENGTH = 4_000

export interface BuilderOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly storage: StorageLimits
  readonly instances: Instances
  readonly serverId: string
  readonly limits: InstanceLimits
  readonly memoryMb: number
  readonly npm: Npm
  readonly pythonIndex: URL
  /** For all app instances; build instances can also reach the registries. */
  readonly openings: Openings
  readonly maxBuiltBytes: number
  readonly log: Logger
  /** The deployment runs and can be invoked at any moment. */
  readonly onRunning: (record: DeploymentRecord) => void
}

/** Why a build failed, for the user. */
class BuildFailure extends Error {}

interface Built {
  readonly runtime: Runtime
  readonly registry: AppRegistry
  readonly files: Blob
  readonly bytes: number
}

export class Builder {
  readonly #options: BuilderOptions
  readonly #building = new Map<string, AbortController>()
  readonly #closing = new AbortController()

  constructor(options: BuilderOptions) {
    this.#options = options
  }

  /** Builds the deployment whose turn it is. There is a job for each, so none is left. */
  async buildNext(taken: () => void): Promise<void> {
    const record = await this.#begin()
    taken()
    if (!record) return
    const { id } = record
    crashPoint('deployment-building')
    const stop = new AbortController()
    this.#building.set(id, stop)
    const signal = AbortSignal.any([stop.signal, this.#closing.signal, AbortSignal.timeout(BUILD_MS)])
    const lock = DeploymentLock.open(this.#options.box, record)
    const logs = new BuildLogs({ pool: this.#options.pool, record, lock })
    try {
      if (record.attempts > MAX_ATTEMPTS)
        throw new BuildFailure('The build was interrupted too many times; deploy it again')
      // Checked early, because a build takes minutes. The row of the result is what counts.
      await this.#options.storage.expectRoom(writeOf(record))
      const built = await this.#run(record, { lock, logs, signal })
      await logs.flush()
      await this.#succeed(record, lock, built)
    } catch (error) {
      // Left unfinished: the next server starts over.
      if (this.#closing.signal.aborted) return
      await logs.flush().catch(() => {})
      await this.#fail(record, lock, reasonOf(error, signal))
      if (!(error instanceof BuildFailure || error instanceof StorageFull))
        this.#options.log.warn({ err: error, deploymentId: id }, 'build failed')
    } finally {
      this.#building.delete(id)
    }
  }

  /** Stops the build, because nobody wants the result any more. */
  stop(id: string): void {
    this.#building.get(id)?.abort(new BuildFailure('It was deleted'))
  }

  /** Fails a deployment that no server can build. */
  async giveUp(record: DeploymentRecord, reason: string): Promise<void> {
    await this.#fail(record, DeploymentLock.open(this.#options.box, record), reason)
  }

  close(): void {
    this.#closing.abort()
  }

  async #begin(): Promise<DeploymentRecord | undefined> {
    const { pool, box, serverId } = this.#options
    return inTransaction(pool, async ({ db: tx }) => {
      const record = await store.beginBuild(tx, serverId)
      if (!record) return undefined
      const { id } = record
      const lock = DeploymentLock.open(box, record)
      const change = { status: 'in_progress', reason: null }
      await appendEvents(tx, { deploymentId: id, lock }, [{ kind: 'deployment_state', change }])
      return record
    })
  }

  async #run(
    record: DeploymentRecord,
    { lock, logs, signal }: { lock: DeploymentLock; logs: BuildLogs; signal: AbortSignal },
  ): Promise<Built> {
    const { instances, limits, openings, npm, pythonIndex } = this.#options
    const npmRegistry = await npm.registry()
    const { instance, agent } = await instances.claimWithoutBrowser(record.project_id, limits).open(signal)
    const over = AbortSignal.any([signal, endOf(instance.ended)])
    try {
      instance.endureOom()
      instance.setProject(record.project_id)
      const allow = [...openings.allow, ...[npmRegistry ?? [], pythonIndex].flat().map(toEntry)]
      instance.setOpenings({ ...openings, allow })
      if (record.source_blob_id !== null) {
        logs.add('Unpacking the source')
        await putSource(agent, this.#source(record, lock), { signal: over })
      }
      const order = this.#order(record, lock, npmRegistry)
      const { runtime, registry } = await this.#follow(agent, order, { logs, signal: over, instance })
      logs.add('Keeping the files')
      const { files, bytes } = await this.#keep(agent, record, { lock, signal: over })
      return { runtime, registry, files, bytes }
    } finally {
      await instance.destroy()
    }
  }

  #source({ id, source_blob_id, source_bytes }: DeploymentRecord, lock: DeploymentLock): Readable {
    const sizeBytes = Number(source_bytes)
    const read = (range: { start: number; end: number }) => this.#options.blobs.read(source_blob_id!, range)
    return openContent(read, lock.for(places.source(id)), { sizeBytes, start: 0, end: sizeBytes - 1 })
  }

  #order(record: DeploymentRecord, lock: DeploymentLock, npmRegistry: URL | undefined): BuildOrder {
    const { npm, pythonIndex, memoryMb } = this.#options
    const { env, apiKey, gitToken } = secretsOf(record, lock)
    return {
      entrypoint: record.entrypoint,
      ...(record.source_url !== null && {
        git: {
          url: record.source_url,
          ref: record.source_ref!,
          ...(record.source_path !== null && { path: record.source_path }),
          ...(gitToken !== undefined && { token: gitToken }),
        },
      }),
      ...(npm.program !== undefined && { npm: npm.program }),
      ...(npmRegistry && { npmRegistry: npmRegistry.href }),
      pythonIndex: pythonIndex.href,
      env,
      ownEnv: ownEnvironment({ apiKey, entrypoint: record.entrypoint }),
      memoryMb,
    }
  }

  async #follow(
    agent: AgentClient,
    order: BuildOrder,
    { logs, signal, instance }: { logs: BuildLogs; signal: AbortSignal; instance: Instance },
  ): Promise<NonNullable<BuildLine['built']>> {
    for await (const line of buildApp(agent, order, { signal })) {
      if (line.log !== undefined) logs.add(line.log)
      else if (line.built) return line.built
      else {
        const reason = line.failed ?? 'The build ended without a result'
        const { lastRefusal } = instance
        throw new BuildFailure(lastRefusal ? `${reason}\nEgress last refused: ${lastRefusal}` : reason)
      }
    }
    throw new BuildFailure('The build was cut off')
  }

  async #keep(
    agent: AgentClient,
    { id }: DeploymentRecord,
    { lock, signal }: { lock: DeploymentLock; signal: AbortSignal },
  ): Promise<{ files: Blob; bytes: number }> {
    const { blobs, maxBuiltBytes } = this.#options
    const files = await openFiles(agent, { signal })
    const sealer = new ContentSealer(lock.for(places.built(id)))
    let bytes = 0
    files.on('data', (chunk: Buffer) => (bytes += chunk.length))
    files.once('error', (error) => sealer.destroy(error))
    // A stream that is cut off emits no error.
    files.once('close', () => {
      if (!(files as Readable & { complete?: boolean }).complete)
        sealer.destroy(new Error('The files were cut off'))
    })
    const blob = await blobs.put(files.pipe(sealer), { maxBytes: maxBuiltBytes, signal })
    return { files: blob, bytes }
  }

  async #succeed(record: DeploymentRecord, lock: DeploymentLock, built: Built): Promise<void> {
    const { pool, db, blobs, storage, onRunning } = this.#options
    const { files, bytes, runtime } = built
    let isKept = false
    try {
      const running = await inTransaction(pool, ({ db: tx }) =>
        storage.guard(tx, writeOf(record), async () => {
          await blobs.record(tx, 'app-files', files)
          const rivals = await this.#takeNames(tx, record, built.registry)
          const ended = await store.markBuilt(tx, record, {
            blobId: files.id,
            bytes,
            runtime,
            secrets: withoutToken(record, lock),
          })
          if (!ended) throw new BuildFailure('It was deleted')
          await store.markSuperseded(tx, rivals.superseded, record.id)
          await appendEvents(tx, { deploymentId: record.id, lock }, [
            ...rivals.versionIds.map((appVersionId): NewEvent => ({
              kind: 'app_version_summary',
              appVersionId,
            })),
            { kind: 'deployment_state', change: { status: 'running', reason: null } },
          ])
          await announceChange(tx, 'deploymentChanged', { deploymentId: record.id })
          return ended
        }),
      )
      isKept = true
      crashPoint('deployment-running')
      onRunning(running)
    } finally {
      if (!isKept) await blobs.remove(db, files.id).catch(() => {})
    }
  }

  /**
   * Claims the names of the deployment's apps under its label, and replaces their owners if allowed.
   * Locks deployments before their versions, in the same order as stopping does.
   */
  async #takeNames(
    tx: Db,
    { id, project_id: projectId, version, is_forced }: DeploymentRecord,
    { apps: found }: AppRegistry,
  ): Promise<{ superseded: string[]; versionIds: string[] }> {
    const appNames = [...new Set(found.map(({ name }) => name))]
    const names = { projectId, version, appNames }
    await apps.lockNames(tx, projectId)
    const superseded = is_forced ? await apps.listRivals(tx, names) : []
    await store.hold(tx, [id, ...superseded])
    if (is_forced) await apps.endRivals(tx, names)
    const versionIds: string[] = []
    for (const appName of appNames) {
      const actions = found.filter(({ name }) => name === appName).flatMap((app) => app.actions)
      try {
        versionIds.push(
          await apps.insertAppVersion(tx, {
            projectId,
            deploymentId: id,
            appName,
            version,
            actions: actions.map(({ name }) => ({ name })),
          }),
        )
      } catch (error) {
        if (violatedConstraint(error) !== 'app_versions_name') throw error
        throw new BuildFailure(
          `App "${appName}" has a version "${version}" already: deploy with force to replace it, or with another version`,
        )
      }
    }
    return { superseded, versionIds }
  }

  async #fail(record: DeploymentRecord, lock: DeploymentLock, reason: string): Promise<void> {
    await inTransaction(this.#options.pool, async ({ db: tx }) => {
      if (!(await store.markFailed(tx, record, reason))) return
      await forgetKey(tx, record)
      const change = { status: 'failed', reason }
      await appendEvents(tx, { deploymentId: record.id, lock }, [{ kind: 'deployment_state', change }])
      await announceChange(tx, 'deploymentChanged', { deploymentId: record.id })
    })
  }
}

const writeOf = ({ project_id: projectId }: DeploymentRecord) =>
  ({ projectId, kind: 'deployments', action: 'keep the built app' }) as const

export function secretsOf(record: DeploymentRecord, lock: DeploymentLock): DeploymentSecrets {
  // SAFETY: this server's code sealed it.
  return JSON.parse(lock.open(record.secrets, places.secrets(record.id))) as DeploymentSecrets
}

function withoutToken(record: DeploymentRecord, lock: DeploymentLock): Buffer {
  const { env, apiKey } = secretsOf(record, lock)
  return lock.seal(JSON.stringify({ env, apiKey } satisfies DeploymentSecrets), places.secrets(record.id))
}

/** What an app sees besides its own variables; these win. */
export function ownEnvironment({ apiKey, entrypoint }: { apiKey: string; entrypoint: string }) {
  return { KERNEL_API_KEY: apiKey, ENTRYPOINT_RELPATH: entrypoint }
}

/** In the format of BERTH_EGRESS_ALLOW. */
function toEntry({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

function endOf(ended: Promise<unknown>): AbortSignal {
  const over = new AbortController()
  void ended.then(() =>
    over.abort(new BuildFailure('Its instance ended, most likely because it ran out of memory')),
  )
  return over.signal
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  const cause = signal.aborted ? (signal.reason as unknown) : error
  if (cause instanceof Error && cause.name === 'TimeoutError') {
    return `It took longer than ${BUILD_MS / 60_000} minutes to build`
  }
  const { message } = cause instanceof Error ? cause : new Error(String(cause))
  return message.slice(0, MAX_STATUS_REASON_LENGTH)
}

/** A build's log lines, stored in batches. */
class BuildLogs {
  readonly #options: { pool: Pool; record: DeploymentRecord; lock: DeploymentLock }
  #held: LogLine[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: { pool: Pool; record: DeploymentRecord; lock: DeploymentLock }) {
    this.#options = options
  }

  add(line: string): void {
    this.#bytes += line.length
    if (this.#bytes > MAX_LOG_BYTES) return
    // Cut again, because the agent is untrusted.
    this.#held.push({ at: new Date().toISOString(), line: line.slice(0, MAX_LOG_LINE_LENGTH + 200) })
    this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), FLUSH_MS)
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#held
    this.#held = []
    if (lines.length > 0) this.#writing = this.#writing.catch(() => {}).then(() => this.#write(lines))
    await this.#writing
  }

  async #write(lines: readonly LogLine[]): Promise<void> {
    const { pool, record, lock } = this.#options
    await inTransaction(pool, ({ db: tx }) =>
      appendEvents(tx, { deploymentId: record.id, lock }, [{ kind: 'log', invocationId: null, lines }]),
    )
  }
}
