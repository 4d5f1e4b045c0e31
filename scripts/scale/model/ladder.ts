// Lets arrivals grow until something gives way, raises what gave way, and goes on: the first limit, the second, and so on.
import { Fleet } from './fleet.ts'
import type { ClusterLimits, Plan, Scenario } from './inputs.ts'
import { resources, type Resource, type Result } from './report.ts'

/** From here on queues grow. */
const FULL = 0.9
const MIN_WARM_SHARE = 0.9
const MAX_P95_SECONDS = 1

export interface Rung {
  readonly limit: Resource | 'warm instances'
  /** The most that still went well, and the first that did not. */
  readonly held: number
  readonly brokeAt: number
  readonly result: Result
}

export type Remedy = (scenario: Scenario) => Scenario

const withPlan =
  (change: (plan: Plan) => Partial<Plan>): Remedy =>
  (scenario) => ({
    ...scenario,
    plan: { ...scenario.plan, ...change(scenario.plan) },
  })
const withLimits =
  (change: (limits: ClusterLimits) => Partial<ClusterLimits>): Remedy =>
  (scenario) => ({
    ...scenario,
    limits: { ...scenario.limits, ...change(scenario.limits) },
  })

/** What moves each limit. Those without a remedy end the ladder. */
export const remedies: Partial<Record<Rung['limit'], { readonly says: string; readonly apply: Remedy }>> = {
  'warm instances': {
    says: 'twice the warm instances',
    apply: withPlan(({ warm }) => ({ warm: 2 * warm })),
  },
  'processor of a server': {
    says: 'twice the servers',
    apply: withPlan(({ servers }) => ({ servers: 2 * servers })),
  },
  'connections of a server': {
    says: 'twice the connections to PostgreSQL',
    apply: withPlan(({ databasePool }) => ({ databasePool: 2 * databasePool })),
  },
  'refills of a server': {
    says: 'twice the servers',
    apply: withPlan(({ servers }) => ({ servers: 2 * servers })),
  },
  'starts of a server': {
    says: 'twice the servers',
    apply: withPlan(({ servers }) => ({ servers: 2 * servers })),
  },
  'processors of PostgreSQL': {
    says: 'twice the processors of PostgreSQL',
    apply: withPlan(({ databaseCores }) => ({ databaseCores: 2 * databaseCores })),
  },
  scheduler: {
    says: 'twice the rate of the scheduler (clientConnection.qps)',
    apply: withLimits(({ schedulerPerSecond, schedulerBurst }) => ({
      schedulerPerSecond: 2 * schedulerPerSecond,
      schedulerBurst: 2 * schedulerBurst,
    })),
  },
  'starts of a node': {
    says: 'twice the nodes, each with half the room',
    apply: withPlan(({ nodes, roomPerNode }) => ({
      nodes: 2 * nodes,
      roomPerNode: Math.ceil(roomPerNode / 2),
    })),
  },
  'collector of Secrets': {
    says: 'a higher --kube-api-qps of the controller manager',
    apply: withLimits(({ collectedPerSecond }) => ({ collectedPerSecond: 5 * collectedPerSecond })),
  },
  'room for Pods': {
    says: 'a tenth more room',
    apply: withPlan(({ nodes }) => ({ nodes: Math.ceil(1.1 * nodes) })),
  },
}

/** What gave way, if anything did: the busiest resource above the line, else what callers notice. */
export function limitOf(
  { uses, refused, warmShare, latency }: Result,
  { load }: Pick<Scenario, 'load'>,
): Rung['limit'] | undefined {
  // Room is meant to be full; it gives way when somebody gets none.
  if (refused > 0) return 'room for Pods'
  const queues = resources.filter((name) => name !== 'room for Pods')
  const busiest = queues.reduce((one, other) =>
    uses[other].utilisation > uses[one].utilisation ? other : one,
  )
  if (uses[busiest].utilisation > FULL) return busiest
  const isCold = warmShare < MIN_WARM_SHARE * (1 - load.coldShare)
  const isSlow = load.coldShare < 0.05 && latency.p95 > MAX_P95_SECONDS
  return isCold || isSlow ? 'warm instances' : undefined
}

/** The number of live sessions stays; they get shorter. */
export function atArrivals(scenario: Scenario, perSecond: number): Scenario {
  return { ...scenario, load: { ...scenario.load, sessionSeconds: scenario.load.sessions / perSecond } }
}

/** Each rung has what the ones before it needed. */
export function* climb(
  scenario: Scenario,
  { arrivals, rungs }: { arrivals: readonly number[]; rungs: number },
): Generator<Rung> {
  let now = scenario
  let held = 0
  for (let count = 0; count < rungs; count++) {
    const rung = firstLimit(now, { arrivals: arrivals.filter((perSecond) => perSecond > held), held })
    if (!rung) return
    yield rung
    const remedy = remedies[rung.limit]
    if (!remedy) return
    now = remedy.apply(now)
    ;({ held } = rung)
  }
}

export function firstLimit(
  scenario: Scenario,
  { arrivals, held = 0 }: { arrivals: readonly number[]; held?: number },
): Rung | undefined {
  let most = held
  for (const perSecond of arrivals) {
    const result = new Fleet(atArrivals(scenario, perSecond)).run()
    const limit = limitOf(result, scenario)
    if (limit) return { limit, held: most, brokeAt: perSecond, result }
    most = perSecond
  }
  return undefined
}
