// PostgreSQL in the simulation: processors, and the lock under which creates count one after another.
import type { Clock, Process } from './clock.ts'
import type { Plan, Readings } from './inputs.ts'
import { Station } from './station.ts'

export class SimDatabase {
  readonly cores: Station
  /** The row of the organisation. */
  readonly lock: Station
  /** Of all creates and deletes so far. */
  statements = 0
  transactions = 0
  walBytes = 0
  readonly #clock: Clock
  readonly #plan: Plan
  readonly #readings: Readings

  constructor(
    clock: Clock,
    { plan, readings, background }: { plan: Plan; readings: Readings; background: () => number },
  ) {
    this.#clock = clock
    this.#plan = plan
    this.#readings = readings
    this.cores = new Station(clock, plan.databaseCores, background)
    this.lock = new Station(clock, 1)
  }

  count(step: 'create' | 'delete' | 'refill' | 'connect' | 'takeOver'): void {
    const { statements, transactions, walBytes } = this.#readings[step]
    this.statements += statements
    this.transactions += transactions
    this.walBytes += walBytes
  }

  /** Counts the live sessions and inserts one more. Nobody else does so meanwhile. */
  *reserve(liveSessions: number, serverWork: () => Process): Process {
    const { countMsPerSession, reserveMs } = this.#readings
    const { roundTripSeconds, commitSeconds } = this.#plan
    yield this.#clock.pause(roundTripSeconds / 2)
    yield this.lock.enter()
    yield this.cores.work((countMsPerSession * liveSessions) / 1000)
    yield this.#clock.pause(roundTripSeconds)
    // The server reads the count, and says what to insert.
    yield* serverWork()
    yield this.cores.work(reserveMs / 1000)
    yield this.#clock.pause(roundTripSeconds + commitSeconds)
    this.lock.leave()
    yield this.#clock.pause(roundTripSeconds / 2)
  }

  /** Any other transaction: so much processor time, and a commit. */
  *transact(milliseconds: number): Process {
    const { roundTripSeconds, commitSeconds } = this.#plan
    yield this.#clock.pause(roundTripSeconds)
    yield this.cores.work(milliseconds / 1000)
    yield this.#clock.pause(commitSeconds)
  }
}
