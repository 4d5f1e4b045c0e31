// What came out of a simulated run.
import { quantile } from '../../bench/measure/statistics.ts'
import type { Fleet } from './fleet.ts'
import type { Outcome } from './recovery.ts'
import type { Use } from './station.ts'

export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Result {
  readonly arrivals: number
  readonly created: number
  readonly refused: number
  readonly live: number
  readonly warmShare: number
  /** Of creates, in seconds. */
  readonly latency: Latency
  readonly burstLatency: Latency
  /** The busiest one, where there are several. */
  readonly uses: Readonly<Record<Resource, Use>>
  readonly statementsPerSecond: number
  readonly transactionsPerSecond: number
  readonly walBytesPerSecond: number
  readonly callsPerSecond: number
  readonly watchBytesOfServer: number
  readonly serverBytes: number
  readonly secretsLeft: number
  readonly recovery: Outcome
}

export const resources = [
  'processor of a server',
  'connections of a server',
  'starts of a server',
  'refills of a server',
  'processors of PostgreSQL',
  'lock of the organisation',
  'scheduler',
  'starts of a node',
  'writes of etcd',
  'collector of Secrets',
  'room for Pods',
] as const
export type Resource = (typeof resources)[number]

export function report(
  fleet: Fleet,
  { seconds, arrivals, recovery }: { seconds: number; arrivals: number; recovery: Outcome },
): Result {
  const { servers, database, cluster, scenario, answers } = fleet
  const { limits, plan, readings } = scenario
  const usual = answers.filter(({ isOfBurst }) => !isOfBurst)
  const pods = cluster.made / seconds
  const room = plan.nodes * plan.roomPerNode
  const allPods = room - cluster.room
  const etcd = (pods * limits.writesPerPod) / limits.etcdWritesPerSecond
  const busiest = (pick: (server: Fleet['servers'][number]) => Use) =>
    servers.map(pick).reduce((one, other) => (other.utilisation > one.utilisation ? other : one))
  return {
    arrivals,
    created: answers.length,
    refused: fleet.refused,
    live: fleet.live,
    warmShare: usual.filter(({ isWarm }) => isWarm).length / Math.max(1, usual.length),
    latency: latencyOf(usual.map((answer) => answer.seconds)),
    burstLatency: latencyOf(answers.filter(({ isOfBurst }) => isOfBurst).map((answer) => answer.seconds)),
    uses: {
      'processor of a server': busiest(({ processor }) => processor.use),
      'connections of a server': busiest(({ connections }) => connections.use),
      'starts of a server': busiest(({ starts }) => starts.use),
      'refills of a server': busiest(({ refills }) => refills.use),
      'processors of PostgreSQL': database.cores.use,
      'lock of the organisation': database.lock.use,
      scheduler: cluster.scheduler.use,
      'starts of a node': cluster.nodes
        .map(({ starts }) => starts.use)
        .reduce((one, other) => (other.utilisation > one.utilisation ? other : one)),
      'writes of etcd': { utilisation: etcd, meanWait: 0, count: pods * seconds * limits.writesPerPod },
      'collector of Secrets': cluster.collector.use,
      'room for Pods': { utilisation: allPods / room, meanWait: 0, count: allPods },
    },
    statementsPerSecond: database.statements / seconds + fleet.background('statements'),
    transactionsPerSecond: database.transactions / seconds + fleet.background('transactions'),
    walBytesPerSecond: database.walBytes / seconds + fleet.background('walBytes'),
    callsPerSecond: pods * limits.callsPerPod,
    watchBytesOfServer: pods * limits.watchEventsPerPod,
    serverBytes:
      readings.serverBytes +
      allPods * readings.podBytes +
      Math.max(...servers.map(({ sessions, warm }) => sessions.size + warm.length)) * readings.sessionBytes,
    secretsLeft: cluster.collector.queueLength,
    recovery,
  }
}

function latencyOf(seconds: readonly number[]): Latency {
  if (seconds.length === 0) return { p50: 0, p95: 0, p99: 0 }
  return { p50: quantile(seconds, 0.5), p95: quantile(seconds, 0.95), p99: quantile(seconds, 0.99) }
}
