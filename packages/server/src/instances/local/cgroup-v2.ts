// Control groups v2: one hierarchy for all controllers.
// https://docs.kernel.org/admin-guide/cgroup-v2.html
//
// A group that limits its children must not hold processes itself. If the server's own group has
// some, they move to a leaf of it, `berth-server`, before the first instance's group is created.
import { existsSync } from 'node:fs'
import { release } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { InstanceLimits, MemoryUse } from '../driver/driver.ts'
import {
  groupsIn,
  killUntilEmpty,
  makeGroup,
  processesIn,
  read,
  readCount,
  removeGroup,
  removeIfUnused,
  setIdle,
  write,
  writeIfThere,
} from './cgroup-files.ts'
import {
  CPU_PERIOD_US,
  processorShares,
  wantedControllers,
  type Cgroup,
  type Cgroups,
  type PageOutFile,
} from './cgroup.ts'
import { waitUntilFrozen } from './freezing.ts'

const LEAF = 'berth-server'
const MOVE_ATTEMPTS = 20
/** Small, so that waking a session never waits for much more than that. */
const PAGE_OUT_STEP = '16M'
/** Anonymous memory only: files are shared with other sessions, and the kernel can read them again. Since Linux 6.10. */
const ONLY_ANONYMOUS = 'swappiness=200'
/** The weight that equals v1's 1024 shares. */
const NORMAL_WEIGHT = 100

export class CgroupsV2 implements Cgroups {
  readonly kind = 'v2'
  readonly missing: readonly string[]
  readonly canFreeze: boolean
  readonly whyNoPageOut: string | undefined
  readonly #base: string
  readonly #parent: string

  private constructor(base: string, parent: string) {
    this.#base = base
    this.#parent = parent
    const enabled = words(parent, 'cgroup.subtree_control')
    this.missing = wantedControllers.filter((controller) => !enabled.includes(controller))
    // Missing in the root group's directory and before Linux 5.2.
    this.canFreeze = existsSync(join(parent, 'cgroup.freeze'))
    this.whyNoPageOut = this.#whyNoPageOut()
  }

  #whyNoPageOut(): string | undefined {
    if (this.missing.includes('memory') || !this.canFreeze) {
      return 'the server cannot write the control groups for memory and freezing'
    }
    const lacks = (file: string) => !existsSync(join(this.#parent, file))
    if (lacks('memory.swap.max')) {
      return 'the kernel does not count swap for each session: start it without swapaccount=0'
    }
    return lacks('memory.reclaim') ? 'the kernel is older than Linux 5.19' : undefined
  }

  /** Undefined when no groups can be created. */
  static open(own: string, name: string): CgroupsV2 | undefined {
    // The server was started inside the leaf, by a parent that was moved there.
    const base = basename(own) === LEAF ? dirname(own) : own
    const parent = join(base, name)
    try {
      prepare(base, parent)
    } catch {
      return undefined
    }
    return new CgroupsV2(base, parent)
  }

  get parents(): string[] {
    return [this.#parent]
  }

  async create(id: string, limits: InstanceLimits): Promise<Cgroup> {
    // Another server that ended may have removed the parent of our group.
    prepare(this.#base, this.#parent)
    const group = new CgroupV2(join(this.#parent, id))
    group.make(limits)
    return group
  }

  find(id: string): Cgroup {
    return new CgroupV2(join(this.#parent, id))
  }

  list(): string[] {
    return groupsIn(this.#parent)
  }

  release(): void {
    removeIfUnused(this.#parent)
    removeIfUnused(dirname(this.#parent))
  }
}

class CgroupV2 implements Cgroup {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  get entrances(): string[] {
    return [join(this.#directory, 'cgroup.procs')]
  }

  make(limits: InstanceLimits): void {
    const group = this.#directory
    makeGroup(group)
    this.setSwapping(false)
    this.setLimits(limits)
  }

  setLimits(limits: InstanceLimits): void {
    const group = this.#directory
    // Each file exists only if its controller is enabled.
    writeIfThere(group, 'memory.max', limits.memoryBytes)
    // When the limit kills one process, the whole instance ends.
    writeIfThere(group, 'memory.oom.group', 1)
    writeIfThere(group, 'pids.max', limits.processes)
    const quota = Math.max(1000, Math.round(limits.cpus * CPU_PERIOD_US))
    writeIfThere(group, 'cpu.max', `${quota} ${CPU_PERIOD_US}`)
  }

  async freeze(signal: AbortSignal): Promise<void> {
    const group = this.#directory
    await waitUntilFrozen({
      signal,
      freeze: () => write(group, 'cgroup.freeze', 1),
      isFrozen: () => readCount(group, 'cgroup.events', 'frozen') === 1,
      thaw: () => this.thaw(),
    })
  }

  thaw(): void {
    writeIfThere(this.#directory, 'cgroup.freeze', 0)
  }

  isFrozen(): boolean {
    return readCount(this.#directory, 'cgroup.events', 'frozen') === 1
  }

  memoryUse(): MemoryUse | undefined {
    const [resident, swapped] = ['memory.current', 'memory.swap.current'].map((file) =>
      read(this.#directory, file),
    )
    if (resident === undefined || swapped === undefined) return undefined
    return { residentBytes: Number(resident), swappedBytes: Number(swapped) }
  }

  /** Without a bound of its own: what is moved is frozen, and within the limit for memory. */
  setSwapping(isAllowed: boolean): void {
    writeIfThere(this.#directory, 'memory.swap.max', isAllowed ? 'max' : 0)
  }

  get pageOut(): PageOutFile {
    return { path: join(this.#directory, 'memory.reclaim'), value: pageOutStep() }
  }

  /**
   * The kernel has a limit for memory and another for swap, none for both. What came back to memory and still has its
   * place in swap counts once; what the kernel can read again from files does not count.
   */
  isOverLimit(): boolean {
    const group = this.#directory
    const limit = Number(read(group, 'memory.max'))
    const swapped = Number(read(group, 'memory.swap.current') ?? 0)
    if (!Number.isFinite(limit) || swapped === 0) return false
    const stat = (key: string) => readCount(group, 'memory.stat', key)
    return stat('anon') + stat('shmem') + stat('kernel') + swapped - stat('swapcached') > limit
  }

  setBackground(isBackground: boolean): void {
    if (setIdle(this.#directory, isBackground)) return
    const weight = isBackground
      ? Math.round((NORMAL_WEIGHT * processorShares.background) / processorShares.normal)
      : NORMAL_WEIGHT
    writeIfThere(this.#directory, 'cpu.weight', weight)
  }

  async kill(): Promise<void> {
    if (!existsSync(this.#directory)) return
    writeIfThere(this.#directory, 'pids.max', 0)
    // Since Linux 5.14: kills all at once, frozen or not.
    writeIfThere(this.#directory, 'cgroup.kill', 1)
    await killUntilEmpty([this.#directory], () => this.thaw())
  }

  processes(): number[] {
    return processesIn(this.#directory)
  }

  isEmpty(): boolean {
    return this.processes().length === 0
  }

  oomKills(): number {
    return readCount(this.#directory, 'memory.events', 'oom_kill')
  }

  async remove(): Promise<void> {
    await removeGroup(this.#directory)
  }
}

function pageOutStep(): string {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 6 || (major === 6 && minor >= 10) ? `${PAGE_OUT_STEP} ${ONLY_ANONYMOUS}` : PAGE_OUT_STEP
}

/** Creates the parent and enables limits for its children, from the base down. Can be repeated. */
function prepare(base: string, parent: string): void {
  makeGroup(parent)
  for (const group of [base, dirname(parent), parent]) enable(group, group === base)
}

function enable(group: string, mayMove: boolean): void {
  const enabled = words(group, 'cgroup.subtree_control')
  const available = words(group, 'cgroup.controllers')
  for (const controller of wantedControllers) {
    if (enabled.includes(controller) || !available.includes(controller)) continue
    try {
      write(group, 'cgroup.subtree_control', `+${controller}`)
    } catch (error) {
      // EBUSY: the group has processes. Any other error is a limit that we may not set; it is reported as missing.
      if (!mayMove || (error as NodeJS.ErrnoException).code !== 'EBUSY') continue
      moveToLeaf(group)
      write(group, 'cgroup.subtree_control', `+${controller}`)
    }
  }
}

/** Repeats, because the processes may start others while they are moved. */
function moveToLeaf(group: string): void {
  const leaf = join(group, LEAF)
  makeGroup(leaf)
  for (let attempt = 0; attempt < MOVE_ATTEMPTS; attempt++) {
    const pids = processesIn(group)
    if (pids.length === 0) return
    for (const pid of pids) {
      try {
        write(leaf, 'cgroup.procs', pid)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
}

function words(group: string, file: string): string[] {
  return (read(group, file) ?? '').trim().split(/\s+/).filter(Boolean)
}
