// The simulation of a fleet: sessions arrive, live and end, on servers over one PostgreSQL and one cluster.
import { Clock, type Process, type Wait } from './clock.ts'
import { SimCluster, type SimNode } from './cluster.ts'
import { SimDatabase } from './database.ts'
import { arrivalsPerSecond, type Cost, type Scenario } from './inputs.ts'
import { Random } from './random.ts'
import { Recovery } from './recovery.ts'
import { report, type Result } from './report.ts'
import { SimServer, type SimSession } from './server.ts'

/** Parts of a create's processor time: the request, the row, the answer. */
const SHARES = { before: 0.4, row: 0.15, after: 0.45 }
/** How quickly the rate that watches see follows the real one. */
const RATE_SECONDS = 5
const RETRY_SECONDS = 1

export interface Answer {
  readonly at: number
  readonly seconds: number
  readonly isWarm: boolean
  readonly isOfBurst: boolean
}

export class Fleet {
  readonly clock = new Clock()
  readonly scenario: Scenario
  readonly random: Random
  readonly cluster: SimCluster
  readonly database: SimDatabase
  servers: SimServer[]
  answers: Answer[] = []
  refused = 0
  live = 0
  #podsPerSecond = 0
  #podsAt = 0

  constructor(scenario: Scenario) {
    this.scenario = scenario
    const { plan, limits, readings, seed } = scenario
    this.random = new Random(seed)
    const { nodes, roomPerNode } = plan
    this.cluster = new SimCluster(this.clock, { limits, random: this.random, nodes, roomPerNode })
    this.database = new SimDatabase(this.clock, {
      plan,
      readings,
      background: () => this.#databaseBackground() / plan.databaseCores,
    })
    this.servers = Array.from(
      { length: plan.servers },
      () =>
        new SimServer(this.clock, {
          plan,
          background: (server) => this.#serverBackground(server),
          make: (server, done) => this.#make(server, done),
        }),
    )
  }

  run(): Result {
    const { warmUpSeconds, seconds, incident, load } = this.scenario
    this.#fill()
    this.clock.start(this.#arrivals())
    this.clock.runUntil(warmUpSeconds)
    const recovery = new Recovery(this)
    this.#measure()
    if (incident) this.clock.after(incident.at, () => recovery.begin(incident))
    this.clock.runUntil(warmUpSeconds + seconds)
    return report(this, { seconds, arrivals: arrivalsPerSecond(load), recovery: recovery.outcome })
  }

  get warm(): number {
    return this.servers.reduce((sum, server) => sum + server.warm.length, 0)
  }

  /** What timers and sessions that are just there cost, in a second. */
  background(what: keyof Cost): number {
    const { idleServer, idleSession, events } = this.scenario.readings
    const ofSession = idleSession[what] + this.scenario.load.eventsPerSession * events[what]
    return this.servers.length * idleServer[what] + this.live * ofSession
  }

  /** A client asks; `done` gets whether it got a session. */
  ask({ isOfBurst = false, seconds = this.#length() }: { isOfBurst?: boolean; seconds?: number } = {}): void {
    const server = this.servers[this.random.below(this.servers.length)]
    if (server) this.clock.start(this.#create(server, { isOfBurst, seconds }))
  }

  /** Its row ends and its Pod goes. */
  end(session: SimSession): void {
    if (session.isOver) return
    session.isOver = true
    session.server.sessions.delete(session)
    this.live--
    this.clock.start(this.#delete(session))
  }

  /** What runs when the simulation begins, as if it had run for long. */
  #fill(): void {
    const { load, plan } = this.scenario
    for (const server of this.servers) {
      for (let count = 0; count < plan.warm; count++) {
        const node = this.cluster.place()
        if (node) server.warm.push(node)
      }
    }
    for (let count = 0; count < load.sessions; count++) {
      const node = this.cluster.place()
      if (node) this.#live(this.servers[count % this.servers.length]!, node, this.#length())
    }
    this.#podsPerSecond = arrivalsPerSecond(load)
  }

  #length(): number {
    return this.random.exponential(this.scenario.load.sessionSeconds)
  }

  *#arrivals(): Process {
    const { trace } = this.scenario
    if (trace) {
      for (const { at, seconds } of trace) {
        yield this.clock.pause(at - this.clock.now)
        this.ask({ seconds })
      }
      return
    }
    const perSecond = arrivalsPerSecond(this.scenario.load)
    for (;;) {
      yield this.clock.pause(this.random.exponential(1 / perSecond))
      this.ask()
    }
  }

  *#create(server: SimServer, { isOfBurst, seconds }: { isOfBurst: boolean; seconds: number }): Process {
    const { readings, load } = this.scenario
    const { create } = readings
    const at = this.clock.now
    const isCold = this.random.next() < load.coldShare
    yield server.processor.work((SHARES.before * create.serverMs) / 1000)
    // The claim comes first, so that the row can name the instance.
    const warm = isCold ? undefined : server.take()
    yield server.connections.enter()
    yield* this.database.reserve(this.live, () => work(server, SHARES.row * create.serverMs))
    server.connections.leave()
    const node = warm ?? (yield* this.#startFor(server))
    if (!node || node.isLost || server.isGone) return this.#fail(server, node)
    const restMs = Math.max(0, create.databaseMs - readings.reserveMs)
    yield server.connections.enter()
    yield* this.database.transact(restMs)
    server.connections.leave()
    yield this.clock.pause(this.#unexplained)
    yield server.processor.work((SHARES.after * create.serverMs) / 1000)
    this.database.count('create')
    this.#live(server, node, seconds)
    this.answers.push({ at, seconds: this.clock.now - at, isWarm: warm !== undefined, isOfBurst })
  }

  *#startFor(server: SimServer): Generator<Wait, SimNode | undefined, void> {
    yield server.starts.enter()
    const at: { node?: SimNode } = {}
    yield server.processor.work(this.scenario.readings.refill.serverMs / 1000)
    this.#sawPod()
    yield* this.cluster.start(at)
    server.starts.leave()
    return at.node
  }

  /** What is left of the answer time on a quiet server: the link, and waits that nothing was measured for. */
  get #unexplained(): number {
    const { readings, plan } = this.scenario
    const { create, createMs } = readings
    const explained = create.serverMs + create.databaseMs
    return Math.max(0, (createMs - explained) / 1000 - 3.5 * plan.roundTripSeconds - 2 * plan.commitSeconds)
  }

  #fail(server: SimServer, node: SimNode | undefined): void {
    this.refused++
    if (node) this.cluster.end(node)
    // The client tries again, maybe at another server.
    if (server.isGone) this.clock.after(RETRY_SECONDS, () => this.ask())
  }

  #live(server: SimServer, node: SimNode, seconds: number): void {
    const session: SimSession = { server, node, isOver: false }
    server.sessions.add(session)
    this.live++
    this.clock.after(seconds, () => this.end(session))
  }

  *#delete({ server, node }: SimSession): Process {
    const { serverMs, databaseMs } = this.scenario.readings.delete
    if (!server.isGone) {
      yield server.processor.work(serverMs / 1000)
      yield server.connections.enter()
      yield* this.database.transact(databaseMs)
      server.connections.leave()
    }
    this.database.count('delete')
    this.#sawPod()
    this.cluster.end(node)
  }

  #make(server: SimServer, done: (node: SimNode | undefined) => void): void {
    this.clock.start(
      function* (this: Fleet): Process {
        const at: { node?: SimNode } = {}
        yield server.processor.work(this.scenario.readings.refill.serverMs / 1000)
        this.#sawPod()
        yield* this.cluster.start(at)
        this.database.count('refill')
        done(at.node)
      }.call(this),
    )
  }

  /** Half of the events of a Pod come when it starts, half when it ends. */
  #sawPod(): void {
    this.#decay()
    this.#podsPerSecond += 0.5 / RATE_SECONDS
  }

  #decay(): void {
    const passed = this.clock.now - this.#podsAt
    this.#podsPerSecond *= Math.exp(-passed / RATE_SECONDS)
    this.#podsAt = this.clock.now
  }

  /** Every server hears of every Pod. */
  #serverBackground(server: SimServer): number {
    const { readings, load, limits } = this.scenario
    this.#decay()
    const seen = this.#podsPerSecond * limits.watchEventsPerPod
    const ofSession = readings.idleSession.serverMs + load.eventsPerSession * readings.events.serverMs
    const milliseconds =
      readings.idleServer.serverMs +
      server.sessions.size * ofSession +
      server.warm.length * readings.idleWarm.serverMs +
      seen * readings.watchEventMs
    return milliseconds / 1000
  }

  #databaseBackground(): number {
    return this.background('databaseMs') / 1000
  }

  #measure(): void {
    for (const { processor, connections, starts, refills } of this.servers) {
      for (const station of [processor, connections, starts, refills]) station.measure()
    }
    for (const station of [
      this.database.cores,
      this.database.lock,
      this.cluster.scheduler,
      this.cluster.collector,
    ])
      station.measure()
    for (const { starts } of this.cluster.nodes) starts.measure()
    this.answers = []
    this.refused = 0
    this.cluster.made = 0
    this.database.statements = 0
    this.database.transactions = 0
    this.database.walBytes = 0
  }
}

function* work(server: SimServer, milliseconds: number): Process {
  yield server.processor.work(milliseconds / 1000)
}
