// This server's instances that run apps. A deployment has as many as its invocations need. They start from the
// deployment's files, freeze while idle, and end after a long idle time. Each server has its own.
import type { Logger } from 'pino'
import { openContent } from '../../platform/blobs/sealed-content.ts'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Db } from '../../platform/database/schema.ts'
import { ownEnvironment, secretsOf } from '../deployments/builder.ts'
import type { DeploymentRecord } from '../deployments/types.ts'
import type { InstanceLimits } from '../../instances/driver/driver.ts'
import type { Openings } from '../../instances/egress/openings.ts'
import { NoCapacity, type Instances, type ReadyInstance } from '../../instances/stock/instances.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { putFiles, setUpApp } from '../../instances/agent/apps.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { DeploymentLock, places } from '../core/lock.ts'
import * as store from '../core/store.ts'

const FREEZE_AFTER_MS = 3_000
const LOOK_EVERY_MS = 1_000

export interface AppInstancesOptions {
  readonly db: Db
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly instances: Instances
  readonly serverId: string
  readonly limits: InstanceLimits
  /** The memory of one invocation. */
  readonly memoryMb: number
  readonly maxRuns: number
  readonly idleSeconds: number
  readonly openings: Openings
  readonly log: Logger
}

/** Use of an instance by one invocation, until disposed. */
export interface AppInstanceLoan extends Disposable {
  readonly instanceId: string
  readonly agent: AgentClient
  /** Fires when the instance has ended. */
  readonly over: AbortSignal
}

interface AppInstance {
  readonly deploymentId: string
  readonly ready: ReadyInstance
  readonly agent: AgentClient
  readonly over: AbortSignal
  runs: number
  idleSince: number
}

export class AppInstances {
  readonly #options: AppInstancesOptions
  readonly #all = new Map<string, AppInstance>()
  readonly #starting = new Map<string, Promise<AppInstance>>()
  readonly #timer: NodeJS.Timeout
  #isClosed = false

  constructor(options: AppInstancesOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#rest(), LOOK_EVERY_MS).unref()
  }

  get ids(): string[] {
    return [...this.#all.keys()]
  }

  /** Returns an awake instance with room for another invocation. */
  async borrow(deployment: DeploymentRecord): Promise<AppInstanceLoan> {
    for (;;) {
      const found = this.#withRoom(deployment.id)
      const app = found ?? (await this.#start(deployment))
      // Others waited for the same instance.
      if (app.runs >= this.#options.maxRuns || app.over.aborted) continue
      app.runs++
      try {
        await app.ready.instance.thaw()
        return this.#loan(app)
      } catch (error) {
        app.runs--
        if (!app.over.aborted) throw error
      }
    }
  }

  /** Starts an instance in advance, for the first invocation. */
  async warm(deployment: DeploymentRecord): Promise<void> {
    if (!this.#withRoom(deployment.id)) await this.#start(deployment)
  }

  /** Ends the instances of a stopped deployment. */
  async stop(deploymentId: string): Promise<void> {
    const own = [...this.#all.values()].filter((app) => app.deploymentId === deploymentId)
    await Promise.all(own.map(({ ready }) => ready.instance.destroy()))
  }

  /** Adopts the instances that an earlier run of this server left. */
  async resume(found: Map<string, ReadyInstance>): Promise<void> {
    const { db, serverId, openings } = this.#options
    const left = await store.listAppInstances(db, serverId)
    for (const { instanceId, deploymentId, projectId, isSetUp } of left) {
      // Nobody claims what stays in `found`, so it is destroyed.
      const ready = isSetUp ? found.get(instanceId) : undefined
      if (!ready) {
        await store.deleteAppInstance(db, instanceId)
        continue
      }
      found.delete(instanceId)
      ready.instance.endureOom()
      ready.instance.setProject(projectId)
      ready.instance.setOpenings(openings)
      this.#own(deploymentId, ready)
    }
  }

  /** For an invocation that already runs in the instance. */
  borrowAgain(instanceId: string): AppInstanceLoan | undefined {
    const app = this.#all.get(instanceId)
    if (!app || app.over.aborted) return undefined
    app.runs++
    return this.#loan(app)
  }

  /** Releases all instances; those in `keep` continue without a server. */
  async close({ keep }: { keep: ReadonlySet<string> }): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.allSettled(this.#starting.values())
    await Promise.all(
      [...this.#all.values()].map(async ({ ready }) => {
        if (!keep.has(ready.instance.id)) await ready.instance.destroy()
      }),
    )
  }

  #withRoom(deploymentId: string): AppInstance | undefined {
    const { maxRuns } = this.#options
    return [...this.#all.values()]
      .filter((app) => app.deploymentId === deploymentId && app.runs < maxRuns && !app.over.aborted)
      .toSorted((one, other) => other.runs - one.runs)[0]
  }

  #loan(app: AppInstance): AppInstanceLoan {
    let isOut = true
    return {
      instanceId: app.ready.instance.id,
      agent: app.agent,
      over: app.over,
      [Symbol.dispose]: () => {
        if (!isOut) return
        isOut = false
        app.runs--
        app.idleSince = performance.now()
      },
    }
  }

  #start(deployment: DeploymentRecord): Promise<AppInstance> {
    const under = this.#starting.get(deployment.id)
    if (under) return under
    const starting = this.#startNow(deployment)
      .catch(async (error: unknown) => {
        if (!(error instanceof NoCapacity) || !(await this.#endIdlest())) throw error
        return this.#startNow(deployment)
      })
      .finally(() => this.#starting.delete(deployment.id))
    this.#starting.set(deployment.id, starting)
    return starting
  }

  async #startNow(deployment: DeploymentRecord): Promise<AppInstance> {
    const { db, box, instances, serverId, limits, memoryMb, openings } = this.#options
    if (this.#isClosed) throw new Error('Cannot run an app: the server is closing')
    const lock = DeploymentLock.open(box, deployment)
    const claim = instances.claimWithoutBrowser(deployment.project_id, limits)
    const { instanceId } = claim
    // The row first, so that a server that finds the instance knows what it is.
    await store
      .insertAppInstance(db, { instanceId, deploymentId: deployment.id, serverId })
      .catch((error: unknown) => {
        claim.giveBack()
        throw error
      })
    let ready: ReadyInstance | undefined
    try {
      ready = await claim.open()
      const { instance, agent } = ready
      instance.endureOom()
      instance.setProject(deployment.project_id)
      instance.setOpenings(openings)
      const over = overWith(ready)
      crashPoint('app-instance-started')
      await putFiles(agent, this.#files(deployment, lock), { signal: over })
      const { env, apiKey } = secretsOf(deployment, lock)
      const { runtime, entrypoint } = deployment
      await setUpApp(
        agent,
        {
          runtime: runtime!,
          entrypoint,
          env: { ...env, ...ownEnvironment({ apiKey, entrypoint }) },
          memoryMb,
          spares: 1,
        },
        { signal: over },
      )
      await store.markSetUp(db, instanceId)
      return this.#own(deployment.id, ready)
    } catch (error) {
      await ready?.instance.destroy()
      await store.deleteAppInstance(db, instanceId).catch(() => {})
      throw error
    }
  }

  #files({ id, built_blob_id, built_bytes }: DeploymentRecord, lock: DeploymentLock) {
    const sizeBytes = Number(built_bytes)
    const { blobs, db } = this.#options
    const read = (range: { start: number; end: number }) => blobs.readOften(db, built_blob_id!, range)
    return openContent(read, lock.for(places.built(id)), { sizeBytes, start: 0, end: sizeBytes - 1 })
  }

  #own(deploymentId: string, ready: ReadyInstance): AppInstance {
    const app: AppInstance = {
      deploymentId,
      ready,
      agent: ready.agent,
      over: overWith(ready),
      runs: 0,
      idleSince: performance.now(),
    }
    const { id } = ready.instance
    this.#all.set(id, app)
    void this.#forget(ready)
    return app
  }

  async #forget({ instance }: ReadyInstance): Promise<void> {
    await instance.ended
    this.#all.delete(instance.id)
    await store.deleteAppInstance(this.#options.db, instance.id).catch(() => {})
  }

  async #rest(): Promise<void> {
    const { idleSeconds, instances, log } = this.#options
    for (const { ready, runs, idleSince } of this.#all.values()) {
      const idleMs = performance.now() - idleSince
      if (runs > 0) continue
      try {
        if (idleMs > idleSeconds * 1000) await ready.instance.destroy()
        else if (idleMs > FREEZE_AFTER_MS && instances.capabilities.freeze && !ready.instance.isFrozen) {
          await ready.instance.freeze()
        }
      } catch (error) {
        log.debug({ err: error, instanceId: ready.instance.id }, 'cannot freeze an idle app instance')
      }
    }
  }

  async #endIdlest(): Promise<boolean> {
    const [idlest] = [...this.#all.values()]
      .filter(({ runs }) => runs === 0)
      .toSorted((one, other) => one.idleSince - other.idleSince)
    if (!idlest) return false
    await idlest.ready.instance.destroy()
    return true
  }
}

function overWith({ instance }: ReadyInstance): AbortSignal {
  const over = new AbortController()
  void instance.ended.then((end) => over.abort(new Error(`The instance of the app ended: ${end}`)))
  return over.signal
}
