// Where instances run. A driver places, limits, freezes and stops them; what happens inside is the
// agent's matter, the same for all drivers, and reached over the link.
import type { Duplex } from 'node:stream'
import type { AgentStart, LinkPurpose } from '@berth/contracts/link'
import type { Openings } from '../egress/openings.ts'
import type { EgressRoute } from '../egress/route.ts'

/** Why an instance is no more. */
export type InstanceEnd = 'destroyed' | 'ended-by-itself' | 'out-of-memory' | 'lease-lapsed'

export interface OomKill {
  readonly processName?: string
  readonly pid?: number
  readonly rssKb?: number
  /** Of the whole instance. */
  readonly limitKb?: number
}

export interface InstanceLimits {
  readonly memoryBytes: number
  readonly processes: number
  /** In cores: 1.5 is one and a half. */
  readonly cpus: number
  readonly homeBytes: number
}

export interface InstanceOptions {
  /** Unique for ever; names its directory, cgroup and rows. */
  readonly id: string
  readonly limits: InstanceLimits
  readonly agent: AgentStart
  /** Not for a caller that waits: it may take its time and leave the processors to others. */
  readonly isBackground: boolean
}

export interface Capabilities {
  readonly headful: boolean
  readonly gpu: boolean
  readonly freeze: boolean
  /** Languages that Chromium has its own texts in, such as en-US and de. */
  readonly locales: ReadonlySet<string>
}

export interface Driver {
  readonly capabilities: Capabilities
  /** What keeps instances from being safe here, for people; with anything in it, none is started. */
  readonly shortcomings: readonly string[]
  /**
   * Resolves when the instance was started, not when it is ready: connect() waits for its agent. Rejects when the signal
   * fires first, and nothing of the instance is left then.
   */
  start(options: InstanceOptions, signal?: AbortSignal): Promise<Instance>
  /** What earlier servers left on this host and still lives; remains of what does not are removed. */
  adopt(): Promise<Instance[]>
  /** Lets go of everything but the instances, which go on by their lease. */
  close(): Promise<void>
}

export interface Instance {
  readonly id: string
  /** A connection to its agent, which carries `purpose`; rejects when the signal fires first. */
  connect(purpose: LinkPurpose, signal: AbortSignal): Promise<Duplex>
  /** No process of it runs until thawed; its connections stay open. Both may be repeated. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  readonly isFrozen: boolean
  /**
   * Which way its connections leave, at once and for those it has: they are cut off. A new instance has the
   * direct one; one that was adopted has none until it is told.
   */
  setRoute(route: EgressRoute): void
  setLimits(limits: InstanceLimits): Promise<void>
  /** Normal or low priority for the processors. */
  setBackground(isBackground: boolean): Promise<void>
  /** From the next connection on; replaces those of before. */
  setOpenings(openings: Openings): void
  /** From now on a process that the kernel ends for want of memory does not end the instance. */
  endureOom(): void
  /** Ends all its processes and removes all that is left of it. May be repeated; waits for the end. */
  destroy(): Promise<void>
  /** Resolves when nothing of it runs any more, for whatever reason. */
  readonly ended: Promise<InstanceEnd>
  /** Of an instance that ended out of memory: which process the kernel ended, as far as is known. */
  readonly lastOomKill?: OomKill | undefined
  /** Bytes sent and received by it so far. */
  readonly traffic: { readonly sent: number; readonly received: number }
  /** What its way out refused it last, and why: programs in it often repeat no more than a status. */
  readonly lastRefusal?: string | undefined
}
