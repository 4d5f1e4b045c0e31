// Runs a fixed piece of work on each core before and after each block. If it takes longer than usual, something
// else used that core, and the block beside it is dropped. If a side keeps its own core busy, for example with a
// scrolling page, the check compares the work's CPU time instead of the clock: CPU time grows when the core gets
// slower, not when the core is shared.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Cleanup } from '../cleanup.ts'
import { pin, type Cores } from './cores.ts'
import type { SpinTime } from './spin.ts'

const SPIN_MS = 50
const FIRST_GUESS_ROUNDS = 10_000_000
const MAX_SLOWDOWN = 1.3
const LOOK_AGAIN_MS = 500

type Clock = keyof SpinTime

/** For each core: the time it took as a multiple of its best time. */
export type Slowdowns = readonly number[]

export class NoiseCheck {
  readonly #spinners: readonly ChildProcess[]
  readonly #clock: Clock
  readonly #rounds: number
  #best: readonly number[]

  private constructor(spinners: readonly ChildProcess[], options: { clock: Clock; rounds: number }) {
    this.#spinners = spinners
    this.#clock = options.clock
    this.#rounds = options.rounds
    this.#best = spinners.map(() => Infinity)
  }

  static async start(cleanup: Cleanup, cores: Cores): Promise<NoiseCheck> {
    const spinners = [...new Set([cores.client, cores.server])].map((core) => {
      const spinner = fork(join(import.meta.dirname, 'spin.ts'), { execArgv: [] })
      cleanup.after(() => spinner.kill())
      pin([spinner.pid!], core)
      return spinner
    })
    const first = new NoiseCheck(spinners, { clock: 'wallMs', rounds: FIRST_GUESS_ROUNDS })
    // The first spins include compilation and do not count.
    for (let round = 0; round < 3; round++) await first.measure()
    const rounds = Math.round((FIRST_GUESS_ROUNDS * SPIN_MS) / Math.min(...first.#best))
    const noiseCheck = new NoiseCheck(spinners, { clock: 'wallMs', rounds })
    for (let round = 0; round < 5; round++) await noiseCheck.measure()
    return noiseCheck
  }

  /** For sides that are busy between blocks, too. */
  async byCpuTime(): Promise<NoiseCheck> {
    const noiseCheck = new NoiseCheck(this.#spinners, { clock: 'cpuMs', rounds: this.#rounds })
    for (let round = 0; round < 5; round++) await noiseCheck.measure()
    return noiseCheck
  }

  async measure(): Promise<Slowdowns> {
    const tookMs = await Promise.all(
      this.#spinners.map(async (spinner) => {
        spinner.send(this.#rounds)
        const [spinTime] = (await once(spinner, 'message')) as [SpinTime]
        return spinTime[this.#clock]
      }),
    )
    this.#best = this.#best.map((best, index) => Math.min(best, tookMs[index]!))
    return tookMs.map((each, index) => each / this.#best[index]!)
  }

  /** Waits until nothing else is busy, because a block that starts quiet is more likely to count. */
  async waitForQuiet({ maxMs, signal }: { maxMs: number; signal: AbortSignal }): Promise<Slowdowns> {
    const startedAt = performance.now()
    let slowdowns = await this.measure()
    while (this.isNoisy(slowdowns) && performance.now() - startedAt < maxMs) {
      await pause(LOOK_AGAIN_MS, undefined, { signal })
      slowdowns = await this.measure()
    }
    return slowdowns
  }

  isNoisy(slowdowns: Slowdowns): boolean {
    return Math.max(...slowdowns) > MAX_SLOWDOWN
  }
}
