// The driver's interface to control groups, for either kind.
import type { InstanceLimits } from '../driver/driver.ts'

export interface Cgroups {
  readonly kind: 'v1' | 'v2' | 'none'
  /** Limits that cannot be set on this host, by the kernel's controller names. */
  readonly missing: readonly string[]
  readonly canFreeze: boolean
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

/** CPU shares under contention, for kernels without cpu.idle. */
export const processorShares = { normal: 1024, background: 64 } as const
export const CPU_PERIOD_US = 100_000
export const wantedControllers = ['memory', 'pids', 'cpu'] as const
