// A fixed piece of work on each core we use, before and after each block. When it takes longer
// than it can, somebody else was on that core, and the block beside it says nothing.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanup } from '../cleanup.ts'
import { pin, type Cores } from './cores.ts'

const SPIN_MS = 50
const FIRST_GUESS_ROUNDS = 10_000_000
const MOST_SLOWDOWN = 1.3
const LOOK_AGAIN_MS = 500

/** One number for each core, in milliseconds. */
export type Chirp = readonly number[]

export class Canary {
  readonly #birds: readonly ChildProcess[]
  #rounds = FIRST_GUESS_ROUNDS
  #best: number[]

  private constructor(birds: readonly ChildProcess[]) {
    this.#birds = birds
    this.#best = birds.map(() => Infinity)
  }

  static async start(cleanup: Cleanup, cores: Cores): Promise<Canary> {
    const birds = [...new Set([cores.client, cores.server])].map((core) => {
      const bird = fork(join(import.meta.dirname, 'spin.ts'), { execArgv: [] })
      cleanup.after(() => bird.kill())
      pin([bird.pid!], core)
      return bird
    })
    const canary = new Canary(birds)
    // The first spins are compiled on the way and are not counted.
    for (let round = 0; round < 3; round++) await canary.chirp()
    canary.#rounds = Math.round((FIRST_GUESS_ROUNDS * SPIN_MS) / Math.min(...canary.#best))
    canary.#best = birds.map(() => Infinity)
    for (let round = 0; round < 5; round++) await canary.chirp()
    return canary
  }

  async chirp(): Promise<Chirp> {
    const tookMs = await Promise.all(
      this.#birds.map(async (bird) => {
        bird.send(this.#rounds)
        const [elapsedMs] = (await once(bird, 'message')) as [number]
        return elapsedMs
      }),
    )
    this.#best = this.#best.map((best, index) => Math.min(best, tookMs[index]!))
    return tookMs
  }

  /** Waits while somebody else is busy: a block that begins in peace is more often one that counts. */
  async calm({ mostMs, signal }: { mostMs: number; signal: AbortSignal }): Promise<Chirp> {
    const startedAt = performance.now()
    let chirp = await this.chirp()
    while (this.isAlarmed(chirp) && performance.now() - startedAt < mostMs) {
      await pause(LOOK_AGAIN_MS, undefined, { signal })
      chirp = await this.chirp()
    }
    return chirp
  }

  /** How many times longer than its best the slowest core took. */
  slowdown(chirp: Chirp): number {
    return Math.max(...chirp.map((tookMs, index) => tookMs / this.#best[index]!))
  }

  isAlarmed(chirp: Chirp): boolean {
    return this.slowdown(chirp) > MOST_SLOWDOWN
  }
}
