// The driver's interface to control groups, for either kind.
import type { InstanceLimits, MemoryUse } from '../driver/driver.ts'

export interface Cgroups {
  readonly kind: 'v1' | 'v2' | 'none'
  /** Limits that cannot be set on this host, by the kernel's controller names. */
  readonly missing: readonly string[]
  readonly canFreeze: boolean
  /** Why the memory of a group cannot be moved to swap; undefined where it can. */
  readonly whyNoPageOut: string | undefined
  /** The directories that contain the instances' groups. */
  readonly parents: readonly string[]
  create(id: string, limits: InstanceLimits): Promise<Cgroup>
  /** The group of an instance, whether it exists or not. */
  find(id: string): Cgroup
  /** The ids with a group. */
  list(): string[]
  /** Removes the parents, unless they contain groups. */
  release(): void
}

export interface Cgroup {
  /** A process joins the group by writing 0 to each of these files. */
  readonly entrances: readonly string[]
  /** Resolves when every process has stopped; gives up when the signal fires. */
  freeze(signal: AbortSignal): Promise<void>
  thaw(): void
  /** Whether every process has stopped. */
  isFrozen(): boolean
  /** Undefined where the kernel does not count memory and swap for groups. */
  memoryUse(): MemoryUse | undefined
  /** Whether its memory may go to swap. It may not, unless it is being moved there. */
  setSwapping(isAllowed: boolean): void
  /** What to write to move its memory to swap; see page-out.ts. */
  readonly pageOut: PageOutFile
  /** Whether memory and swap together are above the limit, where the kernel itself does not see to that. */
  isOverLimit(): boolean
  setLimits(limits: InstanceLimits): void
  setBackground(isBackground: boolean): void
  /** Ends every process, frozen or not, and waits until none is left. */
  kill(): Promise<void>
  /** Pids in the host's namespace. */
  processes(): readonly number[]
  isEmpty(): boolean
  /** How many processes the kernel killed because of the memory limit. */
  oomKills(): number
  /** Removes the empty group. */
  remove(): Promise<void>
}

export interface PageOutFile {
  readonly path: string
  /** Written again and again, until the kernel has nothing more to move. */
  readonly value: string
}

/** CPU shares under contention, for kernels without cpu.idle. */
export const processorShares = { normal: 1024, background: 64 } as const
export const CPU_PERIOD_US = 100_000
export const wantedControllers = ['memory', 'pids', 'cpu'] as const
