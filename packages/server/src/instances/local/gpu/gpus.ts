// The GPUs of this host that sessions can use, and which instance has which.
import { statSync } from 'node:fs'
import { pause } from '@berth/kit/pause'
import { NoCapacity, NoGpu, type GpuReport } from '../../driver/driver.ts'
import type { Log } from '../../driver/log.ts'
import type { Trial } from '../trial.ts'
import { findGpus, type Gpu } from './find-gpus.ts'
import { listGpus } from './listing.ts'
import { probeGpu } from './probe.ts'

export interface GpuSettings {
  /** off, auto, or the path of a device. */
  readonly wanted: string
  /** How many instances may share one. */
  readonly sessionsEach: number
}

interface Usable {
  readonly gpu: Gpu
  readonly name: string
}

/** As for a place on a host; see sessions/browsers/host-room.ts. */
const CLEARING_MS = 3_000
const LOOK_AGAIN_MS = 50

export class Gpus {
  readonly report: GpuReport
  readonly #usable: readonly Usable[]
  readonly #sessionsEach: number
  /** Instances by the device that they have. */
  readonly #users = new Map<string, Set<string>>()

  constructor(usable: readonly Usable[], report: Omit<GpuReport, 'gpus'>, { sessionsEach }: GpuSettings) {
    this.#usable = usable
    this.#sessionsEach = sessionsEach
    this.report = { gpus: usable.map(({ gpu: { device }, name }) => ({ device, name })), ...report }
  }

  /** For a host on which nothing was tried. */
  static none(problem: string): Gpus {
    return new Gpus([], { problems: [problem], isUnwanted: true }, { wanted: 'off', sessionsEach: 1 })
  }

  /** Looks for GPUs and tries each. `trial`: how instances start here. */
  static async find(trial: Trial, settings: GpuSettings, log: Log): Promise<Gpus> {
    const { wanted } = settings
    if (wanted === 'off')
      return Gpus.none('GPU sessions are off here; the operator turns them on with BERTH_GPU=auto')
    const listing = listGpus(trial.host.system.path)
    const hasAny = listing.nvidiaDevices.length > 0 || listing.renderNodes.length > 0
    const found = findGpus(listing, wanted)
    const usable: Usable[] = []
    const problems = [...found.problems]
    for (const gpu of found.gpus) {
      const { renderer, problem } = await probeGpu(trial, gpu)
      if (renderer !== undefined) {
        log.info({ device: gpu.device, gpu: gpu.name, renderer }, 'GPU found')
        usable.push({ gpu, name: nameIn(renderer) ?? gpu.name })
      } else problems.push(`the GPU ${gpu.device} (${gpu.name}) cannot be used: ${problem}`)
    }
    for (const problem of problems) {
      if (hasAny || wanted !== 'auto') log.warn({ problem }, 'a GPU cannot be used')
      else log.info({ reason: problem }, 'no GPU sessions')
    }
    return new Gpus(usable, { problems, isUnwanted: wanted === 'auto' && !hasAny }, settings)
  }

  /**
   * The one with the fewest instances. When all places are taken, one that is being given back is worth a short wait. Rejects
   * with NoGpu and NoCapacity.
   */
  async take(instanceId: string, signal?: AbortSignal): Promise<Gpu> {
    if (this.#usable.length === 0) throw new NoGpu(this.report.problems.join('; '))
    const late = AbortSignal.timeout(CLEARING_MS)
    for (;;) {
      const there = this.#usable.filter(({ gpu }) => isThere(gpu))
      if (there.length === 0) throw vanished(this.#usable[0]!.gpu)
      const [first] = there.toSorted((one, other) => this.#countOf(one.gpu) - this.#countOf(other.gpu))
      const { gpu } = first!
      if (this.#countOf(gpu) < this.#sessionsEach) {
        this.#note(instanceId, gpu.device)
        return gpu
      }
      if (late.aborted) throw full(there.length, this.#sessionsEach)
      await pause(LOOK_AGAIN_MS, signal)
      signal?.throwIfAborted()
    }
  }

  /** For an instance that an earlier server started. */
  takeOver(instanceId: string, device: string): void {
    this.#note(instanceId, device)
  }

  giveBack(instanceId: string): void {
    for (const users of this.#users.values()) users.delete(instanceId)
  }

  /** Instances whose GPU is not there any more. */
  orphans(): string[] {
    return this.#usable.flatMap(({ gpu }) => {
      const users = this.#users.get(gpu.device)
      return users !== undefined && users.size > 0 && !isThere(gpu) ? [...users] : []
    })
  }

  #countOf({ device }: Gpu): number {
    return this.#users.get(device)?.size ?? 0
  }

  #note(instanceId: string, device: string): void {
    const users = this.#users.get(device) ?? new Set()
    users.add(instanceId)
    this.#users.set(device, users)
  }
}

function vanished({ device }: Gpu): NoGpu {
  return new NoGpu(
    `the GPU ${device} has vanished since the server started: see whether its driver still runs (dmesg), then restart Berth`,
  )
}

function full(gpus: number, sessionsEach: number): NoCapacity {
  const each = gpus === 1 ? 'the GPU of this host' : `each of the ${gpus} GPUs of this host`
  return new NoCapacity(
    `${each} has ${count(sessionsEach)} (BERTH_GPU_MAX_SESSIONS); end one or raise the limit`,
  )
}

const count = (sessions: number) => (sessions === 1 ? '1 session' : `${sessions} sessions`)

function isThere({ devices }: Gpu): boolean {
  return devices.every(({ path }) => statSync(path, { throwIfNoEntry: false })?.isCharacterDevice() ?? false)
}

/** "NVIDIA H200" of "ANGLE (NVIDIA, Vulkan 1.4.312 (NVIDIA NVIDIA H200 (0x00002335)), NVIDIA)". */
export function nameIn(renderer: string): string | undefined {
  const [, name] = /Vulkan [\d.]+ \((.+?) \(0x[0-9A-Fa-f]+\)\)/.exec(renderer) ?? []
  return name?.replace(/^(\S+) \1 /, '$1 ').slice(0, 100)
}
