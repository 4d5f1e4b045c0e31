// The model against reality: two real servers on a stand-in for the cluster, and the same arrivals in the simulation.
import { setTimeout as pause } from 'node:timers/promises'
import { quantile } from '../bench/measure/statistics.ts'
import type { Owner } from '../../tests/fixtures/cleanup.ts'
import { send } from '../../tests/fixtures/sessions.ts'
import { Meter } from './measure/meter.ts'
import { eventually, startRig, STILL, warmCount } from './measure/rig.ts'
import { Fleet } from './model/fleet.ts'
import type { Arrival, ClusterLimits, Plan, Readings, Scenario } from './model/inputs.ts'
import { Random } from './model/random.ts'

export interface CheckOptions {
  readonly name: string
  readonly perSecond: number
  readonly sessionSeconds: number
  readonly seconds: number
  readonly warm: number
  readonly startSeconds: number
}

export interface Compared {
  readonly what: string
  readonly unit: string
  readonly model: number
  readonly real: number
}

const SERVERS = 2
const NODES = 4
const ROOM_PER_NODE = 100

export async function check(owner: Owner, options: CheckOptions, readings: Readings, limits: ClusterLimits) {
  const trace = newTrace(options)
  const real = await play(owner, options, trace)
  const model = new Fleet(scenarioFor(options, { trace, readings, limits })).run()
  const compared: Compared[] = [
    {
      what: 'creates that found a warm instance',
      unit: '%',
      model: 100 * model.warmShare,
      real: 100 * real.warmShare,
    },
    { what: 'create, median', unit: 'ms', model: 1000 * model.latency.p50, real: real.p50 },
    { what: 'create, 95 %', unit: 'ms', model: 1000 * model.latency.p95, real: real.p95 },
    { what: 'create, 99 %', unit: 'ms', model: 1000 * model.latency.p99, real: real.p99 },
    { what: 'statements', unit: '/s', model: model.statementsPerSecond, real: real.statementsPerSecond },
    {
      what: 'transactions',
      unit: '/s',
      model: model.transactionsPerSecond,
      real: real.transactionsPerSecond,
    },
    { what: 'WAL', unit: 'KB/s', model: model.walBytesPerSecond / 1000, real: real.walBytesPerSecond / 1000 },
    {
      what: 'processor of the busier server',
      unit: '%',
      model: 100 * model.uses['processor of a server'].utilisation,
      real: real.processorPercent,
    },
  ]
  return compared
}

function newTrace({ perSecond, sessionSeconds, seconds }: CheckOptions): Arrival[] {
  const random = new Random(11)
  const trace: Arrival[] = []
  for (let at = random.exponential(1 / perSecond); at < seconds; at += random.exponential(1 / perSecond)) {
    trace.push({ at, seconds: random.exponential(sessionSeconds) })
  }
  return trace
}

function scenarioFor(
  { perSecond, sessionSeconds, seconds, warm, startSeconds }: CheckOptions,
  { trace, readings, limits }: { trace: Arrival[]; readings: Readings; limits: ClusterLimits },
): Scenario {
  const plan: Plan = {
    servers: SERVERS,
    warm,
    refillsAtOnce: 4,
    startsAtOnce: 33,
    databaseCores: 1,
    databasePool: 10,
    roundTripSeconds: 0.0002,
    commitSeconds: 0.001,
    nodes: NODES,
    roomPerNode: ROOM_PER_NODE,
    leaseSeconds: 20,
  }
  return {
    readings,
    // The stand-in answers at once, and only its nodes take time.
    limits: {
      ...limits,
      callSeconds: 0.005,
      schedulerPerSecond: 10_000,
      startSeconds,
      startSpread: 0,
      startsAtOncePerNode: 100,
    },
    plan,
    load: { sessions: 0, sessionSeconds, coldShare: 0, eventsPerSession: 0 },
    trace,
    seed: Math.round(perSecond),
    warmUpSeconds: 0,
    seconds,
  }
}

async function play(owner: Owner, { seconds, warm, startSeconds }: CheckOptions, trace: readonly Arrival[]) {
  const rig = await startRig(owner, {
    nodes: NODES,
    roomPerNode: ROOM_PER_NODE,
    startMs: 1000 * startSeconds,
    startsAtOncePerNode: 100,
  })
  const settings = { BERTH_WARM_HEADLESS: String(warm) }
  const servers = [await rig.startServer(settings), await rig.startServer(settings)]
  for (const server of servers)
    await eventually('the stock is full', async () => (await warmCount(server)) === warm)
  const random = new Random(5)
  const took: number[] = []
  const meters = servers.map((server) => new Meter(rig, server))
  const read = () => Promise.all(meters.map((meter) => meter.read()))
  await pause(3_000)
  const before = await read()
  const startedAt = performance.now()
  const running = new Set<Promise<void>>()
  const live = async ({ seconds: length }: Arrival) => {
    const server = servers[random.below(servers.length)]!
    const askedAt = performance.now()
    const answer = await send(server, 'POST', '/browsers', STILL)
    if (answer.status !== 200) throw new Error(`A create was answered ${answer.status}`)
    took.push(performance.now() - askedAt)
    const endsAt = askedAt + 1000 * length
    // Those that live longer than the run end with their server.
    if (endsAt > startedAt + 1000 * seconds) return
    await pause(Math.max(0, endsAt - performance.now()))
    await send(server, 'DELETE', `/browsers/${answer.body.session_id}`)
  }
  for (const arrival of trace) {
    await pause(Math.max(0, startedAt + 1000 * arrival.at - performance.now()))
    const session = live(arrival).finally(() => running.delete(session))
    running.add(session)
  }
  await pause(Math.max(0, startedAt + 1000 * seconds - performance.now()))
  const after = await read()
  await Promise.all(running)
  const passed = (after[0]!.atMs - before[0]!.atMs) / 1000
  const perSecond = (name: 'statements' | 'transactions' | 'walBytes') =>
    (after[0]![name] - before[0]![name]) / passed
  const processors = after.map(({ serverMs }, index) => (serverMs - before[index]!.serverMs) / passed / 10)
  for (const server of servers) await server.stop()
  return {
    // One that is started takes at least this long.
    warmShare: took.filter((milliseconds) => milliseconds < 1000 * startSeconds).length / took.length,
    p50: quantile(took, 0.5),
    p95: quantile(took, 0.95),
    p99: quantile(took, 0.99),
    statementsPerSecond: perSecond('statements'),
    transactionsPerSecond: perSecond('transactions'),
    walBytesPerSecond: perSecond('walBytes'),
    processorPercent: Math.max(...processors),
  }
}
