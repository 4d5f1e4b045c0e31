// What happens after a burst, and after a node or a server is lost, and how long it takes until all is as before.
import type { Process } from './clock.ts'
import type { Fleet } from './fleet.ts'
import type { Incident } from './inputs.ts'
import type { SimServer, SimSession } from './server.ts'

const LOOK_SECONDS = 0.1
/** Of the warm instances that a server had before. */
const USUAL_SHARE = 0.95
/** As in sessions.ts of the server. */
const SILENT_PART_OF_LEASE = 0.4
const SIGNS_OF_LIFE_PER_LEASE = 8
const TAKEN_AT_ONCE = 20
/** As in kubernetes-instance.ts and instances.ts: three of four renewals without an answer. */
const LOST_PART_OF_LEASE = 0.75
/** As in link-host.ts: a Pod that no server holds for so much longer than a lease ends. */
const LEASE_MARGIN_SECONDS = 10

export interface Outcome {
  /** From the incident until servers have their warm instances again. Undefined if none were missed. */
  readonly refilledAfter?: number | undefined
  /** Until the last session of a lost server has another one. */
  readonly takenAfter?: number | undefined
  readonly taken: number
  /** Sessions that ended because of it. */
  readonly lost: number
}

export class Recovery {
  readonly #fleet: Fleet
  #refilledAfter: number | undefined
  #takenAfter: number | undefined
  #taken = 0
  #lost = 0

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  get outcome(): Outcome {
    return {
      refilledAfter: this.#refilledAfter,
      takenAfter: this.#takenAfter,
      taken: this.#taken,
      lost: this.#lost,
    }
  }

  begin({ kind, count = 0 }: Incident): void {
    const { clock } = this.#fleet
    const before = this.#fleet.warm / this.#fleet.servers.length
    if (kind === 'burst') for (let each = 0; each < count; each++) this.#fleet.ask({ isOfBurst: true })
    else if (kind === 'node-lost') this.#loseNode()
    else this.#loseServer()
    clock.start(this.#watchStock(before))
  }

  /** Some are always being made, so a stock is never quite full. */
  *#watchStock(before: number): Process {
    const { clock } = this.#fleet
    const from = clock.now
    let lacked = false
    const isAsBefore = () => this.#fleet.warm / this.#fleet.servers.length >= USUAL_SHARE * before
    for (;;) {
      yield clock.pause(LOOK_SECONDS)
      if (!isAsBefore()) lacked = true
      else if (lacked) return void (this.#refilledAfter = clock.now - from)
    }
  }

  /** Servers notice the silence of its Pods by themselves, long before the cluster gives the node up. */
  #loseNode(): void {
    const { clock, cluster, servers, scenario } = this.#fleet
    const node = cluster.nodes[0]!
    cluster.lose(node)
    const noticed = LOST_PART_OF_LEASE * scenario.plan.leaseSeconds
    for (const server of servers) {
      for (const session of server.sessions) {
        if (session.node !== node) continue
        this.#lost++
        clock.after(noticed, () => {
          if (session.isOver) return
          this.#fleet.end(session)
          // Whoever needs a session asks for another.
          this.#fleet.ask()
        })
      }
      clock.after(noticed, () => {
        const left = server.warm.filter((each) => each !== node)
        server.warm.splice(0, server.warm.length, ...left)
        server.refill()
      })
    }
  }

  #loseServer(): void {
    const { clock, scenario } = this.#fleet
    const { leaseSeconds } = scenario.plan
    const gone = this.#fleet.servers[0]!
    gone.isGone = true
    this.#fleet.servers = this.#fleet.servers.slice(1)
    // Nobody claims them any more; they end with their lease.
    const left = gone.warm.splice(0)
    clock.after(leaseSeconds + LEASE_MARGIN_SECONDS, () => {
      for (const node of left) this.#fleet.cluster.end(node)
    })
    const sessions = [...gone.sessions].filter(({ isOver }) => !isOver)
    const begunAt = clock.now
    const every = leaseSeconds / SIGNS_OF_LIFE_PER_LEASE
    const silentAt = SILENT_PART_OF_LEASE * leaseSeconds - this.#fleet.random.next() * every
    for (const server of this.#fleet.servers) {
      clock.after(silentAt + this.#fleet.random.next() * every, () =>
        clock.start(this.#takeOver(server, sessions, begunAt)),
      )
    }
  }

  *#takeOver(server: SimServer, sessions: SimSession[], begunAt: number): Process {
    const { clock, database, scenario } = this.#fleet
    const { takeOver } = scenario.readings
    for (
      let some = sessions.splice(0, TAKEN_AT_ONCE);
      some.length > 0;
      some = sessions.splice(0, TAKEN_AT_ONCE)
    ) {
      yield server.connections.enter()
      yield* database.transact(some.length * takeOver.databaseMs)
      server.connections.leave()
      for (const session of some) {
        yield server.processor.work(takeOver.serverMs / 1000)
        database.count('takeOver')
        if (session.isOver) continue
        const after = clock.now - begunAt
        if (after > scenario.plan.leaseSeconds + LEASE_MARGIN_SECONDS) {
          this.#lost++
          this.#fleet.end(session)
          continue
        }
        session.server = server
        server.sessions.add(session)
        this.#taken++
        this.#takenAfter = after
      }
    }
  }
}
