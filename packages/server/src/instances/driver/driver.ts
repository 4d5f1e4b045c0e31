// Where instances run. A driver places, limits, freezes and stops them. The agent controls everything
// inside, in the same way for all drivers, and is reached over the link.
import type { Duplex } from 'node:stream'
import type { AgentStart, LinkPurpose } from '@berth/contracts/link'
import type { Openings } from '../egress/openings.ts'
import type { EgressRoute } from '../egress/route.ts'

/**
 * Why an instance ended. `lost`: its machine did, or somebody else removed it. `taken-over`: it has not; another server has
 * it now, and this one must do nothing more to it.
 */
export type InstanceEnd =
  | 'destroyed'
  | 'ended-by-itself'
  | 'out-of-memory'
  | 'lease-lapsed'
  | 'lost'
  | 'taken-over'

/** There is no room for another instance. */
export class NoCapacity extends Error {}

/** No instance gets a GPU here, or not any more. The message says why, and what to do. */
export class NoGpu extends Error {}

export interface OomKill {
  readonly processName?: string
  readonly pid?: number
  readonly rssKb?: number
  /** The memory limit of the whole instance. */
  readonly limitKb?: number
}

export interface InstanceLimits {
  readonly memoryBytes: number
  readonly processes: number
  /** In cores, for example 1.5. */
  readonly cpus: number
  readonly homeBytes: number
}

export interface InstanceOptions {
  /** Never reused; names the instance's directory, cgroup and rows. */
  readonly id: string
  readonly limits: InstanceLimits
  readonly agent: AgentStart
  /** No caller waits for it, so it may start slowly and leave the CPU to others. */
  readonly isBackground: boolean
  /** Gets a GPU, which it may share with others. Rejects with NoGpu where there is none, and with NoCapacity when all are taken. */
  readonly gpu?: boolean
  /** Called, maybe often, while the start waits for room: whoever can spare an instance may end it. */
  readonly onFull?: () => void
}

/** One that was tried, and rendered. */
export interface UsableGpu {
  /** Such as /dev/nvidia0. */
  readonly device: string
  /** As pages see it, such as NVIDIA H200. */
  readonly name: string
}

export interface GpuReport {
  readonly gpus: readonly UsableGpu[]
  /** Why there is none, or not every GPU of the host. */
  readonly problems: readonly string[]
  /** Whether the operator wants none, or the host has none: then nothing is broken. */
  readonly isUnwanted: boolean
}

export interface MemoryUse {
  readonly residentBytes: number
  readonly swappedBytes: number
}

/** Whether the memory of frozen instances can be moved to swap. */
export interface DeepStandbyReport {
  /** Where it goes, such as "zram, up to 6027 MB"; undefined when it is off. */
  readonly place: string | undefined
  /** Why it is off, and what to do. */
  readonly problem: string | undefined
  /** Whether the operator wants it off: then nothing is broken. */
  readonly isUnwanted: boolean
}

export interface SwapRoom {
  readonly freeBytes: number
  readonly totalBytes: number
}

export interface DriverMemory {
  readonly report: DeepStandbyReport
  /** Of what deep standby may use. */
  readonly swap: SwapRoom
  /** By the id of the instance. */
  readonly uses: ReadonlyMap<string, MemoryUse>
}

export interface Capabilities {
  readonly headful: boolean
  readonly gpu: GpuReport
  readonly freeze: boolean
  readonly deepStandby: DeepStandbyReport
  /**
   * Instances run on other machines. Each keeps the limits that it was made with, and what this machine has left says
   * nothing about them.
   */
  readonly isElsewhere?: boolean
  /** Chromium's UI languages, such as en-US and de. */
  readonly locales: ReadonlySet<string>
}

export interface Driver {
  readonly capabilities: Capabilities
  /** Reasons why instances would not be safe on this host. If there are any, no instance starts. */
  readonly shortcomings: readonly string[]
  /**
   * Resolves when the instance is started, not when it is ready: its agent answers connections when it runs. If the signal fires
   * first, it rejects and leaves nothing of the instance behind. Rejects with NoCapacity where there is no room.
   */
  start(options: InstanceOptions, signal?: AbortSignal): Promise<Instance>
  /** Returns the running instances that earlier servers left on this host, and removes what is left of dead ones. */
  adopt(): Promise<Instance[]>
  /**
   * Takes over a running instance, whichever server has it. Undefined when it does not run. Only of drivers whose
   * instances every server reaches; a server that is gone for good ends the others' instances with it.
   */
  find?(id: string): Promise<Instance | undefined>
  /** What instances use of memory and swap. Undefined where nobody knows. */
  readMemory?(): Promise<DriverMemory>
  /** Lets this process go before others, where it may not do so itself. */
  goAhead?(): void
  /** Releases everything except the instances, which stay alive until their lease ends. */
  close(): Promise<void>
}

export interface Instance {
  readonly id: string
  /** Opens a connection to the agent for `purpose`; rejects when the signal fires first. */
  connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex>
  /**
   * Renews the lease of the agent without a connection of its own, and resolves with the answer of the agent. Undefined
   * where a request to the agent is as good.
   */
  renewLease?(seconds: number, signal: AbortSignal): Promise<string> | undefined
  /** Stops all processes until thaw(); connections stay open. Both calls can be repeated. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  readonly isFrozen: boolean
  /**
   * Moves the memory of a frozen instance to swap, as far as there is room. thaw() interrupts it. Undefined where no
   * instance can.
   */
  pageOut?(): Promise<MemoryUse>
  /** Whether its memory was moved to swap since it was frozen. */
  readonly isPagedOut?: boolean
  /**
   * Changes the egress route at once and cuts existing connections. A new instance has the direct route; an
   * adopted one has no route until this is called.
   */
  setRoute(route: EgressRoute): void
  /** The project that it works for, whose share of the network it takes part in. */
  setProject(projectId: string): void
  setLimits(limits: InstanceLimits): Promise<void>
  /** Sets normal or low CPU priority. */
  setBackground(isBackground: boolean): Promise<void>
  /** Replaces the earlier openings, from the next connection on. */
  setOpenings(openings: Openings): void
  /** From now on, an out-of-memory kill of one process does not end the instance. */
  endureOom(): void
  /** Ends all processes and removes everything the instance left. Can be repeated; waits for the end. */
  destroy(): Promise<void>
  /** Resolves when none of its processes runs any more, for whatever reason. */
  readonly ended: Promise<InstanceEnd>
  /** For an instance that ended out of memory: the process that the kernel killed, if known. */
  readonly lastOomKill?: OomKill | undefined
  /** Bytes sent and received by it so far. */
  readonly traffic: { readonly sent: number; readonly received: number }
  /** The last request that egress refused, and why: programs often report only a status. */
  readonly lastRefusal?: string | undefined
}
