// Control groups v1: one hierarchy per controller, so an instance has one group in each.
// https://docs.kernel.org/admin-guide/cgroup-v1/
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
import type { V1Controller } from './cgroup-location.ts'
import {
  CPU_PERIOD_US,
  processorShares,
  wantedControllers,
  type Cgroup,
  type Cgroups,
  type PageOutFile,
} from './cgroup.ts'
import { waitUntilFrozen } from './freezing.ts'

/** Anonymous memory only: files are shared with other sessions, and the kernel can read them again. */
const SWAPPINESS_ANONYMOUS = 200

type Groups = ReadonlyMap<V1Controller, string>

export class CgroupsV1 implements Cgroups {
  readonly kind = 'v1'
  readonly missing: readonly string[]
  readonly canFreeze: boolean
  readonly whyNoPageOut: string | undefined
  readonly #parents: Groups

  constructor(bases: Groups, name: string) {
    const parents = new Map<V1Controller, string>()
    for (const [controller, base] of bases) {
      const parent = join(base, name)
      if (canMake(parent)) parents.set(controller, parent)
    }
    this.#parents = parents
    this.missing = wantedControllers.filter((controller) => !parents.has(controller))
    this.canFreeze = parents.has('freezer')
    this.whyNoPageOut = whyNoPageOut(parents)
  }

  get parents(): string[] {
    // Controllers may share a hierarchy.
    return [...new Set(this.#parents.values())]
  }

  async create(id: string, limits: InstanceLimits): Promise<Cgroup> {
    const group = this.#group(id)
    group.make(limits)
    return group
  }

  find(id: string): Cgroup {
    return this.#group(id)
  }

  list(): string[] {
    return [...new Set(this.parents.flatMap(groupsIn))]
  }

  release(): void {
    for (const parent of this.parents) {
      removeIfUnused(parent)
      removeIfUnused(dirname(parent))
    }
  }

  #group(id: string): CgroupV1 {
    return new CgroupV1(
      new Map([...this.#parents].map(([controller, parent]) => [controller, join(parent, id)])),
    )
  }
}

class CgroupV1 implements Cgroup {
  readonly #groups: Groups

  constructor(groups: Groups) {
    this.#groups = groups
  }

  get #directories(): string[] {
    return [...new Set(this.#groups.values())]
  }

  get entrances(): string[] {
    return this.#directories.map((directory) => join(directory, 'cgroup.procs'))
  }

  make(limits: InstanceLimits): void {
    for (const directory of this.#directories) makeGroup(directory)
    this.setSwapping(false)
    this.setLimits(limits)
  }

  setLimits(limits: InstanceLimits): void {
    const memory = this.#groups.get('memory')
    if (memory) {
      // The limit for memory plus swap, so swap gives an instance no more. Only kernels that count swap have it.
      // It must never be below the memory limit, so it is lifted first.
      writeIfThere(memory, 'memory.memsw.limit_in_bytes', -1)
      write(memory, 'memory.limit_in_bytes', limits.memoryBytes)
      writeIfThere(memory, 'memory.memsw.limit_in_bytes', limits.memoryBytes)
    }
    const pids = this.#groups.get('pids')
    if (pids) write(pids, 'pids.max', limits.processes)
    const cpu = this.#groups.get('cpu')
    if (cpu) {
      // Kernels without bandwidth control only have shares.
      writeIfThere(cpu, 'cpu.cfs_period_us', CPU_PERIOD_US)
      writeIfThere(cpu, 'cpu.cfs_quota_us', Math.max(1000, Math.round(limits.cpus * CPU_PERIOD_US)))
    }
  }

  async freeze(signal: AbortSignal): Promise<void> {
    const freezer = this.#groups.get('freezer')
    if (!freezer) throw new Error('Cannot freeze: this host has no freezer')
    await waitUntilFrozen({
      signal,
      freeze: () => write(freezer, 'freezer.state', 'FROZEN'),
      isFrozen: () => read(freezer, 'freezer.state')?.trim() === 'FROZEN',
      thaw: () => this.thaw(),
    })
  }

  thaw(): void {
    const freezer = this.#groups.get('freezer')
    if (freezer && existsSync(freezer)) write(freezer, 'freezer.state', 'THAWED')
  }

  isFrozen(): boolean {
    const freezer = this.#groups.get('freezer')
    return freezer !== undefined && read(freezer, 'freezer.state')?.trim() === 'FROZEN'
  }

  memoryUse(): MemoryUse | undefined {
    const memory = this.#groups.get('memory')
    const [resident, both] = ['memory.usage_in_bytes', 'memory.memsw.usage_in_bytes'].map((file) =>
      memory === undefined ? undefined : read(memory, file),
    )
    if (memory === undefined || resident === undefined || both === undefined) return undefined
    return { residentBytes: Number(resident), swappedBytes: readCount(memory, 'memory.stat', 'swap') }
  }

  setSwapping(isAllowed: boolean): void {
    const memory = this.#groups.get('memory')
    if (memory) writeIfThere(memory, 'memory.swappiness', isAllowed ? SWAPPINESS_ANONYMOUS : 0)
  }

  get pageOut(): PageOutFile {
    return { path: join(this.#groups.get('memory') ?? '', 'memory.force_empty'), value: '0' }
  }

  /** The limit for memory plus swap is the kernel's. */
  isOverLimit(): boolean {
    return false
  }

  setBackground(isBackground: boolean): void {
    const cpu = this.#groups.get('cpu')
    if (!cpu || setIdle(cpu, isBackground)) return
    write(cpu, 'cpu.shares', isBackground ? processorShares.background : processorShares.normal)
  }

  async kill(): Promise<void> {
    // Prevents new processes, so that a fork bomb cannot outrun the signals.
    const pids = this.#groups.get('pids')
    if (pids && existsSync(pids)) write(pids, 'pids.max', 0)
    await killUntilEmpty(this.#directories, () => this.thaw())
  }

  processes(): number[] {
    return processesIn(this.#directories[0]!)
  }

  isEmpty(): boolean {
    return this.#directories.every((directory) => processesIn(directory).length === 0)
  }

  oomKills(): number {
    const memory = this.#groups.get('memory')
    return memory ? readCount(memory, 'memory.oom_control', 'oom_kill') : 0
  }

  async remove(): Promise<void> {
    for (const directory of this.#directories) await removeGroup(directory)
  }
}

function whyNoPageOut(parents: Groups): string | undefined {
  const memory = parents.get('memory')
  if (memory === undefined || !parents.has('freezer')) {
    return 'the server cannot write the control groups for memory and freezing'
  }
  const lacks = (file: string) => !existsSync(join(memory, file))
  if (lacks('memory.memsw.limit_in_bytes')) {
    return 'the kernel does not count swap for each session: start it with swapaccount=1'
  }
  if (lacks('memory.force_empty') || lacks('memory.swappiness')) {
    return 'the kernel cannot move the memory of a control group to swap'
  }
  return undefined
}

function canMake(parent: string): boolean {
  try {
    makeGroup(parent)
    // Before use_hierarchy was always on, a group's limits did not apply to its children.
    const hierarchy = read(parent, 'memory.use_hierarchy')
    if (hierarchy?.trim() === '0') write(parent, 'memory.use_hierarchy', 1)
    return true
  } catch {
    return false
  }
}
