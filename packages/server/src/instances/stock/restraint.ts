// Users of a browser notice when another starts on the same CPU, however low its priority: much of the
// work is in the kernel, which does not yield. So an instance that is started in advance gets only a part
// of the CPU while a session is in use, and all of it otherwise.
import { availableParallelism } from 'node:os'
import type { Instance, InstanceLimits } from '../driver/driver.ts'

const LOOK_EVERY_MS = 250
/** Share of each CPU. Twice as much triples a session's round trips at the 95th percentile. */
const PART = 0.15
/** Without a limit, the start would never finish on a host that is always busy. */
const MAX_RESTRAINED_MS = 20_000

export interface RestraintOptions {
  readonly instance: Pick<Instance, 'setLimits' | 'setBackground'>
  readonly limits: InstanceLimits
  readonly isSomebodyThere: () => boolean
}

/** For an instance that is being started. Dispose it when the instance is ready. */
export class Restraint implements Disposable {
  readonly #options: RestraintOptions
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout
  #isHeldBack = false

  constructor(options: RestraintOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#look()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#holdBack(false)
  }

  #look(): void {
    const isLate = performance.now() - this.#startedAt > MAX_RESTRAINED_MS
    if (isLate) {
      clearInterval(this.#timer)
      void this.#options.instance.setBackground(false).catch(() => {})
    }
    this.#holdBack(!isLate && this.#options.isSomebodyThere())
  }

  #holdBack(isHeldBack: boolean): void {
    if (isHeldBack === this.#isHeldBack) return
    this.#isHeldBack = isHeldBack
    const { instance, limits } = this.#options
    const cpus = isHeldBack ? Math.min(limits.cpus, PART * availableParallelism()) : limits.cpus
    // An instance that has ended needs no limits.
    void instance.setLimits({ ...limits, cpus }).catch(() => {})
  }
}
