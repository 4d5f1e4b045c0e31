// What a driver needs of control groups, whichever kind the host has.
import type { InstanceLimits } from '../driver/driver.ts'

export interface Cgroups {
  readonly kind: 'v1' | 'v2' | 'none'
  /** Limits that cannot be set here, as the kernel names their controllers. */
  readonly missing: readonly string[]
  readonly canFreeze: boolean
  /** The directories whose children are the groups of instances. */
  readonly parents: readonly string[]
  create(id: string, limits: InstanceLimits): Promise<Cgroup>
  /** Of an instance that may or may not have one. */
  find(id: string): Cgroup
  /** The ids that have a group. */
  list(): string[]
  /** Removes the parents, unless there are groups in them. */
  release(): void
}

export interface Cgroup {
  /** A process that writes 0 to each of these is in the group. */
  readonly entrances: readonly string[]
  /** Resolves when every process stands still; gives up when the signal fires. */
  freeze(signal: AbortSignal): Promise<void>
  thaw(): void
  setLimits(limits: InstanceLimits): void
  setBackground(isBackground: boolean): void
  /** Ends every process, frozen or not, and waits until none is left. */
  kill(): Promise<void>
  /** As the host numbers them. */
  processes(): readonly number[]
  isEmpty(): boolean
  /** How many processes the kernel ended because the memory limit was reached. */
  oomKills(): number
  /** Removes the empty group. */
  remove(): Promise<void>
}

/** Of the processors, when they are all wanted, where a kernel has no cpu.idle. */
export const processorShares = { normal: 1024, background: 64 } as const
export const CPU_PERIOD_US = 100_000
export const wantedControllers = ['memory', 'pids', 'cpu'] as const
