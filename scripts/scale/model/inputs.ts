// What the simulation starts from. `Readings` are measured by `npm run scale -- --measure`; `ClusterLimits` are the
// defaults of Kubernetes; `Plan` and `Load` are what an operator chooses and gets.

/** What one step in the life of a session costs. */
export interface Cost {
  readonly statements: number
  readonly transactions: number
  readonly walBytes: number
  /** Processor time of PostgreSQL. */
  readonly databaseMs: number
  /** Processor time of the server. */
  readonly serverMs: number
}

export interface Readings {
  /** A create that finds a warm instance. */
  readonly create: Cost
  /** Starting an instance until it is warm. */
  readonly refill: Cost
  readonly delete: Cost
  /** One CDP client comes and goes. */
  readonly connect: Cost
  /** A second of a server without sessions. */
  readonly idleServer: Cost
  /** A second of a session that nobody uses. */
  readonly idleSession: Cost
  /** A second of a warm instance. */
  readonly idleWarm: Cost
  /** One event a second of a session's telemetry, for a second. */
  readonly events: Cost
  /** A session that goes over to another server. */
  readonly takeOver: Cost
  /** Counting the live sessions, for each, while the organisation is locked: processor time. */
  readonly countMsPerSession: number
  /** The rest of the transaction that holds the lock: PostgreSQL's part and the round trips. */
  readonly reserveMs: number
  /** Pods of other servers: an event of one, and the memory for one. */
  readonly watchEventMs: number
  readonly podBytes: number
  readonly serverBytes: number
  readonly sessionBytes: number
  readonly socketsPerSession: number
  readonly linkBytesPerSecond: number
  /** Answer time of a warm create on a quiet server. */
  readonly createMs: number
}

/** Defaults of Kubernetes; docs/scale.md says where each is from. */
export interface ClusterLimits {
  /** Answer time of a call that writes. */
  readonly callSeconds: number
  readonly schedulerPerSecond: number
  readonly schedulerBurst: number
  /** From the node's first look at a Pod until its agent answers. */
  readonly startSeconds: number
  readonly startSpread: number
  readonly startsAtOncePerNode: number
  /** A deleted Pod gives its room back after so long. */
  readonly endSeconds: number
  /** Secrets that the garbage collector removes. */
  readonly collectedPerSecond: number
  /** Calls to the cluster's API for one Pod: ours, the scheduler's, the kubelet's, the collector's. */
  readonly callsPerPod: number
  /** Writes to etcd for one Pod, its Secret and its events. */
  readonly writesPerPod: number
  readonly watchEventsPerPod: number
  readonly etcdWritesPerSecond: number
}

export interface Plan {
  readonly servers: number
  /** On each server. */
  readonly warm: number
  readonly refillsAtOnce: number
  readonly startsAtOnce: number
  readonly databaseCores: number
  readonly databasePool: number
  /** Between a server and PostgreSQL, there and back. */
  readonly roundTripSeconds: number
  /** Until a commit is on disk. */
  readonly commitSeconds: number
  readonly nodes: number
  readonly roomPerNode: number
  readonly leaseSeconds: number
}

export interface Load {
  readonly sessions: number
  /** Mean length. Together with `sessions` it says how many arrive in a second. */
  readonly sessionSeconds: number
  /** Telemetry events of all sessions together, in a second for each session. */
  readonly eventsPerSession: number
  /** Share of creates that no warm instance fits. */
  readonly coldShare: number
}

export const arrivalsPerSecond = ({ sessions, sessionSeconds }: Load) => sessions / sessionSeconds

/** One session: when it is asked for, and how long it lives. */
export interface Arrival {
  readonly at: number
  readonly seconds: number
}

/** Something happens at this second. */
export interface Incident {
  readonly kind: 'burst' | 'node-lost' | 'server-lost'
  readonly at: number
  /** Creates of a burst. */
  readonly count?: number
}

export interface Scenario {
  readonly readings: Readings
  readonly limits: ClusterLimits
  readonly plan: Plan
  readonly load: Load
  readonly incident?: Incident
  /** Instead of random ones, from the beginning. */
  readonly trace?: readonly Arrival[]
  readonly seed: number
  /** Until the queues are as they stay. */
  readonly warmUpSeconds: number
  readonly seconds: number
}
