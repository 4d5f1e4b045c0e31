// Instances on this host, in bubblewrap: each has a uid, namespaces, a system call filter and control
// groups. They survive the server; the next one takes them over, or the warden ends them.
import { mkdirSync, realpathSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { instancePaths } from '@berth/contracts/link'
import { isInImage } from '@berth/kit/in-image'
import { Semaphore } from '@berth/kit/semaphore'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import type { Account } from '../../platform/account.ts'
import { installationRoot } from '../../platform/files/installation.ts'
import {
  NoCapacity,
  NoGpu,
  type Capabilities,
  type DeepStandbyReport,
  type Driver,
  type DriverMemory,
  type InstanceOptions,
  type MemoryUse,
} from '../driver/driver.ts'
import type { Log } from '../driver/log.ts'
import { findCgroups } from './cgroups.ts'
import type { Cgroup, Cgroups } from './cgroup.ts'
import type { Egress } from './egress.ts'
import {
  capabilitiesOf,
  missingFiles,
  missingUids,
  isOutOfReach,
  isRoot,
  tryHost,
  weaknesses,
} from './examination.ts'
import type { Gpu } from './gpu/find-gpus.ts'
import { Gpus, type GpuSettings } from './gpu/gpus.ts'
import { InstanceDirectory, isInstanceId, makePassable, type InstanceRecord } from './instance-directory.ts'
import { InstancesLock } from './instances-lock.ts'
import {
  formerInstancesDirOf,
  instancesDirOf,
  removeFormerInstances,
  removeInstancesDir,
} from './instances-place.ts'
import { hostUids, spawnInstance, type Host } from './launch.ts'
import { LocalInstance } from './local-instance.ts'
import { NamespaceSockets } from './namespace-sockets.ts'
import { NetworkMaker, type NetworkMakerOptions } from './network-maker.ts'
import { notPlaced, placePrograms } from './placed-files.ts'
import { findNativeCalls, findPrograms } from './programs.ts'
import { isSupported } from './seccomp.ts'
import { uidsInside } from './ids-inside.ts'
import { SharedFiles } from './shared-files.ts'
import { pageOut } from './swap/page-out.ts'
import { ReadAhead } from './swap/read-ahead.ts'
import { SwapPlace, type SwapSettings } from './swap/swap-place.ts'
import { SystemFiles } from './system-files.ts'
import { DEFAULT_UID_BASE, Uids } from './uids.ts'
import { Warden } from './warden.ts'
import { makeCgroupsWritable } from './writable-cgroups.ts'

const LOOK_EVERY_MS = 250
/** More at once would only compete for processors. */
const PAGE_OUTS_AT_ONCE = 1

export interface LocalDriverOptions {
  readonly dataDir: string
  /** The agent as a single file; it runs inside every instance. */
  readonly agentFile: string
  /** The Playwright runner as a single file; without it, instances cannot run Playwright code. */
  readonly playwrightRunner?: string
  /** The same with other versions of Playwright, for clients of these. */
  readonly otherPlaywrights?: readonly string[]
  /** Bundles the TypeScript of apps; without it, apps cannot use TypeScript. */
  readonly esbuild?: string
  /** The native file of koffi; by default that of the package. */
  readonly nativeCalls?: string
  readonly leaseSeconds: number
  /** The first of the host uids that instances may have. */
  readonly uidBase?: number
  /** Runs instances even without their own uids or limits. */
  readonly allowWeakIsolation: boolean
  readonly gpu?: GpuSettings
  /** Where the memory of frozen instances may go; by default nowhere. */
  readonly swap?: SwapSettings
  /** By default, those of this machine that render. */
  readonly findGpus?: typeof Gpus.find
  readonly egress: Egress
  /** Who dials the agents, if that is another account than ours. */
  readonly server?: Account
  readonly log: Log
}

interface Parts {
  readonly host: Host
  readonly cgroups: Cgroups
  readonly uids: Uids
  readonly lock: InstancesLock
  readonly warden: Warden
  readonly gpus: Gpus
  readonly swap: SwapPlace
}

export class LocalDriver implements Driver {
  readonly capabilities: Capabilities
  readonly shortcomings: readonly string[]
  readonly #options: LocalDriverOptions
  /** Undefined when required programs are missing: then nothing can start. */
  readonly #parts: Parts | undefined
  readonly #instances = new Map<string, LocalInstance>()
  readonly #looking: NodeJS.Timeout
  #readAhead: Promise<ReadAhead | undefined> | undefined
  readonly #pageOuts = new Semaphore(PAGE_OUTS_AT_ONCE)
  #sockets: NamespaceSockets | undefined
  #areSocketsOpen = false
  #isClosed = false

  private constructor(options: {
    given: LocalDriverOptions
    parts: Parts | undefined
    capabilities: Capabilities
    shortcomings: readonly string[]
  }) {
    this.#options = options.given
    this.#parts = options.parts
    this.capabilities = options.capabilities
    this.shortcomings = options.shortcomings
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#looking.unref()
  }

  static async open(options: LocalDriverOptions): Promise<LocalDriver> {
    const { programs, missing } = findPrograms()
    if (!isSupported(process.arch)) {
      missing.push(`Instances run on x64 and arm64 only, and this is ${process.arch}`)
    }
    if (missing.length > 0) {
      const gpu = Gpus.none('no session can start on this host').report
      const deepStandby = noDeepStandby('no session can start on this host')
      const capabilities = { headful: false, gpu, freeze: false, deepStandby, locales: new Set<string>() }
      return new LocalDriver({ given: options, parts: undefined, capabilities, shortcomings: missing })
    }
    await using acquired = new AsyncDisposableStack()
    const dataDir = realpathSync(options.dataDir)
    const formerDir = formerInstancesDirOf(dataDir)
    mkdirSync(formerDir, { recursive: true })
    const lockPath = join(formerDir, '.lock')
    const lock = await InstancesLock.take({ flock: programs.flock, path: lockPath })
    acquired.defer(() => lock.release())
    const instancesDir = instancesDirOf(dataDir)
    mkdirSync(instancesDir, { recursive: true })
    makePassable(instancesDir)
    makeCgroupsWritable()
    const cgroups = findCgroups(dataDir)
    const { leaseSeconds, log } = options
    const warden = new Warden({
      programs,
      lockPath,
      instancesDir,
      leaseSeconds,
      parents: cgroups.parents,
      log,
    })
    acquired.defer(() => warden.close({ isNothingLeft: false }))
    const { uidBase = DEFAULT_UID_BASE } = options
    const taken = [instancesDir, formerDir].flatMap(recordedUids)
    const uids = new Uids({ base: uidBase, taken, seed: seedOf(dataDir) })
    const shared = SharedFiles.write(instancesDir)
    const shortcomings = [...missingFiles(options), ...missingUids(uidBase)]
    const uid = isRoot() ? uids.take() : undefined
    const { agentFile, playwrightRunner, esbuild, nativeCalls = findNativeCalls() } = options
    const ours = { node: process.execPath, agentFile, playwrightRunner, esbuild, nativeCalls }
    const { otherPlaywrights = [] } = options
    // The paths of our image are the same everywhere, so they say nothing.
    const { paths, others, placed, failure } =
      isRoot() && !isInImage ? placePrograms(ours, otherPlaywrights) : notPlaced(ours, otherPlaywrights)
    if (failure !== undefined) log.warn({ failure }, 'instances see where Berth is installed')
    const files = Object.values(paths).filter((path) => path !== undefined)
    const isFar = isOutOfReach(programs, uid, [instancesDir, ...files])
    const system = new SystemFiles(installationRoot)
    system.watch(log)
    const network = await findNetwork({ programs, rules: shared.rules.ordinary, log })
    const wanted: Host = {
      programs,
      instancesDir,
      shared,
      ...paths,
      otherPlaywrights: others,
      placed,
      system,
      network,
      isOutOfReach: isFar,
    }
    const isWorthTrying = shortcomings.length === 0
    const found = isWorthTrying ? await tryHost({ host: wanted, cgroups, uid }) : undefined
    const { host = wanted, sharedUid, failures = [] } = found ?? {}
    shortcomings.push(...failures)
    const { gpu = { wanted: 'off', sessionsEach: 1 }, findGpus = Gpus.find.bind(Gpus) } = options
    const gpus =
      shortcomings.length === 0
        ? await findGpus({ host, cgroups, uid }, gpu, log)
        : Gpus.none('no session can start on this host')
    if (uid !== undefined) uids.giveBack(uid)
    for (const weakness of weaknesses(cgroups, sharedUid)) {
      if (options.allowWeakIsolation) log.warn({ weakness }, 'weak isolation')
      else shortcomings.push(`${weakness}, or set BERTH_ALLOW_WEAK_ISOLATION`)
    }
    const swap = SwapPlace.find(options.swap ?? { wanted: 'off', megabytes: 0 }, {
      whyNot: isRoot() ? cgroups.whyNoPageOut : 'only a server that root starts can move memory to swap',
      flock: programs.flock,
      log,
    })
    acquired.move()
    return new LocalDriver({
      given: options,
      parts: { host, cgroups, uids, lock, warden, gpus, swap },
      capabilities: capabilitiesOf(cgroups, gpus.report, swap.report),
      shortcomings,
    })
  }

  /** Where instances have their files; empty if none can start. */
  get instancesDir(): string {
    return this.#parts?.host.instancesDir ?? ''
  }

  async start(
    { id, limits, agent, isBackground, gpu: needsGpu = false }: InstanceOptions,
    signal?: AbortSignal,
  ): Promise<LocalInstance> {
    const { host, cgroups, uids, gpus } = this.#usable(`start instance "${id}"`)
    if (!isInstanceId(id)) throw new Error(`Cannot start instance "${id}": the id is malformed`)
    if (this.#instances.has(id)) throw new Error(`Cannot start instance "${id}": it already exists`)
    signal?.throwIfAborted()
    const uid = isRoot() ? uids.take() : undefined
    const instance = this.#own(id, uid)
    const directory = new InstanceDirectory(host.instancesDir, id)
    const uidsOfHost = hostUids(host, uid)
    const hasNetwork = uidsOfHost !== undefined && host.network !== undefined
    let gpu: Gpu | undefined
    try {
      gpu = needsGpu ? await gpus.take(id, signal) : undefined
      // Written first, so that adopt() and the warden find everything that is created after it.
      directory.make({ id, uid, hasNetwork, ...(gpu && { gpu: gpu.device }) })
      crashPoint('instance-recorded')
      const cgroup = await cgroups.create(id, limits)
      cgroup.setBackground(isBackground)
      crashPoint('instance-limited')
      // No session uses it yet, so the direct route reveals nothing.
      await instance.listen({ route: { kind: 'direct' } })
      this.#usable(`start instance "${id}"`)
      signal?.throwIfAborted()
      const rules = agent.hostLoopback ? host.shared.rules.hostLoopback : host.shared.rules.ordinary
      await instance.start({
        mkfifo: host.programs.mkfifo,
        network: hasNetwork ? { maker: host.network, rules } : undefined,
        spawn: (stderr, link) =>
          spawnInstance(host, {
            hasNetwork,
            ...(gpu && { gpu }),
            id,
            uid,
            stderr,
            link,
            report: directory.report,
            entrances: cgroup.entrances,
            homeBytes: limits.homeBytes,
            command: [
              instancePaths.node,
              instancePaths.agent,
              JSON.stringify({
                ...agent,
                ...(uidsOfHost && { uids: uidsInside }),
                ...(hasNetwork && { hasNetwork }),
              }),
            ],
          }),
      })
      crashPoint('instance-spawned')
      signal?.throwIfAborted()
      return instance
    } catch (error) {
      await instance.destroy()
      signal?.throwIfAborted()
      if (error instanceof NoGpu || error instanceof NoCapacity) throw error
      throw new Error(`Cannot start instance "${id}"`, { cause: error })
    }
  }

  async adopt(): Promise<LocalInstance[]> {
    if (!this.#parts) return []
    const { host, cgroups, gpus } = this.#parts
    const ids = new Set([...InstanceDirectory.list(host.instancesDir), ...cgroups.list()])
    const adopted: LocalInstance[] = []
    for (const id of ids) {
      if (this.#instances.has(id)) continue
      const record = new InstanceDirectory(host.instancesDir, id).readRecord()
      const instance = this.#own(id, record?.uid)
      if (record?.gpu !== undefined) gpus.takeOver(id, record.gpu)
      const isAlive = record && !cgroups.find(id).isEmpty()
      if (isAlive && (await this.#takeOver(instance, record))) adopted.push(instance)
      else await instance.destroy()
    }
    removeFormerInstances(this.#options.dataDir)
    return adopted
  }

  async readMemory(): Promise<DriverMemory> {
    const { swap } = this.#parts ?? {}
    const report = swap?.report ?? noDeepStandby('no session can start on this host')
    const uses = [...this.#instances].flatMap(([id, { memoryUse }]) =>
      memoryUse ? [[id, memoryUse] as const] : [],
    )
    return {
      report,
      swap: swap?.room ?? { freeBytes: 0, totalBytes: 0 },
      uses: new Map<string, MemoryUse>(uses),
    }
  }

  async #pageOut(cgroup: Cgroup, signal: AbortSignal): Promise<void> {
    const { swap, host } = this.#usable('move memory to swap')
    using turn = new DisposableStack()
    try {
      turn.use(await this.#pageOuts.enter(signal))
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    await swap.prepare()
    const { residentBytes = 0 } = cgroup.memoryUse() ?? {}
    if (residentBytes > swap.room.freeBytes) throw new Error('Cannot move memory to swap: it is full')
    await pageOut(cgroup.pageOut, { programs: host.programs, signal })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#looking)
    await Promise.all([...this.#instances.values()].map((instance) => instance.release()))
    if (!this.#parts) return
    const { host, cgroups, lock, warden, swap } = this.#parts
    this.#sockets?.close()
    const isNothingLeft =
      InstanceDirectory.list(host.instancesDir).length === 0 && cgroups.list().length === 0
    if (isNothingLeft) cgroups.release()
    if (isNothingLeft) await swap.release()
    await warden.close({ isNothingLeft })
    if (isNothingLeft) removeInstancesDir(host.instancesDir)
    lock.release()
  }

  async #takeOver(instance: LocalInstance, { hasNetwork }: InstanceRecord): Promise<boolean> {
    try {
      await instance.takeOver({ hasNetwork })
      return true
    } catch (error) {
      this.#options.log.error(
        { err: error, instance: instance.id },
        'cannot take over an instance; ending it',
      )
      return false
    }
  }

  #own(id: string, uid: number | undefined): LocalInstance {
    const { host, cgroups, uids, gpus } = this.#parts!
    const instance = new LocalInstance({
      id,
      uid,
      egress: this.#options.egress,
      server: this.#options.server,
      log: this.#options.log,
      directory: new InstanceDirectory(host.instancesDir, id),
      cgroup: cgroups.find(id),
      sockets: this.#namespaceSockets(),
      pageOut: (cgroup, signal) => this.#pageOut(cgroup, signal),
      readAhead: () => (this.#readAhead ??= ReadAhead.open()),
      onGone: () => {
        this.#instances.delete(id)
        gpus.giveBack(id)
        if (uid !== undefined) uids.giveBack(uid)
      },
    })
    this.#instances.set(id, instance)
    return instance
  }

  /** Created with the first instance: a server that runs none does not need it. */
  #namespaceSockets(): NamespaceSockets | undefined {
    if (!this.#areSocketsOpen) this.#sockets = NamespaceSockets.open()
    this.#areSocketsOpen = true
    return this.#sockets
  }

  #usable(action: string): Parts {
    if (this.#isClosed) throw new Error(`Cannot ${action}: the server is closing`)
    if (!this.#parts || this.shortcomings.length > 0) {
      throw new Error(`Cannot ${action}: ${this.shortcomings.join('; ')}`)
    }
    return this.#parts
  }

  #look(): void {
    for (const instance of this.#instances.values()) instance.look()
    for (const id of this.#parts?.gpus.orphans() ?? []) {
      const instance = this.#instances.get(id)
      if (!instance) continue
      this.#options.log.warn({ instance: id }, 'the GPU of an instance has vanished; ending it')
      void instance.lose()
    }
  }
}

function noDeepStandby(problem: string): DeepStandbyReport {
  return { place: undefined, problem, isUnwanted: false }
}

/** Says why, where instances have only the proxy. */
async function findNetwork({
  log,
  ...options
}: NetworkMakerOptions & { log: Log }): Promise<NetworkMaker | undefined> {
  const { maker, reason } = isRoot() ? await NetworkMaker.find(options) : { reason: 'the server is not root' }
  if (!maker) log.info({ reason }, 'browsers reach the network through a proxy only')
  return maker
}

function recordedUids(instancesDir: string): number[] {
  return InstanceDirectory.list(instancesDir).flatMap((id) => {
    return new InstanceDirectory(instancesDir, id).readRecord()?.uid ?? []
  })
}

function seedOf(dataDir: string): number {
  return createHash('sha256').update(dataDir).digest().readUInt16LE()
}
