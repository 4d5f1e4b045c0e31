// A fixed piece of work on each core we use, before and after each block. When it takes longer
// than it can, somebody else was on that core, and the block beside it says nothing. Where an arm itself
// keeps the core busy, as a page that scrolls on does, its own CPU time is looked at: that grows when the
// core is slower than it was, and not when it is shared.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanup } from '../cleanup.ts'
import { pin, type Cores } from './cores.ts'
import type { Sung } from './spin.ts'

const SPIN_MS = 50
const FIRST_GUESS_ROUNDS = 10_000_000
const MAX_SLOWDOWN = 1.3
const LOOK_AGAIN_MS = 500

type Clock = keyof Sung

/** How many times longer than its best each core took. */
export type Chirp = readonly number[]

export class Canary {
  readonly #birds: readonly ChildProcess[]
  readonly #clock: Clock
  readonly #rounds: number
  #best: readonly number[]

  private constructor(birds: readonly ChildProcess[], options: { clock: Clock; rounds: number }) {
    this.#birds = birds
    this.#clock = options.clock
    this.#rounds = options.rounds
    this.#best = birds.map(() => Infinity)
  }

  static async start(cleanup: Cleanup, cores: Cores): Promise<Canary> {
    const birds = [...new Set([cores.client, cores.server])].map((core) => {
      const bird = fork(join(import.meta.dirname, 'spin.ts'), { execArgv: [] })
      cleanup.after(() => bird.kill())
      pin([bird.pid!], core)
      return bird
    })
    const first = new Canary(birds, { clock: 'wallMs', rounds: FIRST_GUESS_ROUNDS })
    // The first spins are compiled on the way and are not counted.
    for (let round = 0; round < 3; round++) await first.chirp()
    const rounds = Math.round((FIRST_GUESS_ROUNDS * SPIN_MS) / Math.min(...first.#best))
    const canary = new Canary(birds, { clock: 'wallMs', rounds })
    for (let round = 0; round < 5; round++) await canary.chirp()
    return canary
  }

  /** For arms that are busy between their blocks, too. */
  async byOwnTime(): Promise<Canary> {
    const canary = new Canary(this.#birds, { clock: 'cpuMs', rounds: this.#rounds })
    for (let round = 0; round < 5; round++) await canary.chirp()
    return canary
  }

  async chirp(): Promise<Chirp> {
    const tookMs = await Promise.all(
      this.#birds.map(async (bird) => {
        bird.send(this.#rounds)
        const [sung] = (await once(bird, 'message')) as [Sung]
        return sung[this.#clock]
      }),
    )
    this.#best = this.#best.map((best, index) => Math.min(best, tookMs[index]!))
    return tookMs.map((each, index) => each / this.#best[index]!)
  }

  /** Waits while somebody else is busy: a block that begins in peace is more often one that counts. */
  async calm({ maxMs, signal }: { maxMs: number; signal: AbortSignal }): Promise<Chirp> {
    const startedAt = performance.now()
    let chirp = await this.chirp()
    while (this.isAlarmed(chirp) && performance.now() - startedAt < maxMs) {
      await pause(LOOK_AGAIN_MS, undefined, { signal })
      chirp = await this.chirp()
    }
    return chirp
  }

  isAlarmed(chirp: Chirp): boolean {
    return Math.max(...chirp) > MAX_SLOWDOWN
  }
}
