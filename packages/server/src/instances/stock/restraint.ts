// Starting a browser is felt by whoever uses one on the same processor, however low its priority: much of it
// is work of the kernel, which gives way to nobody. So what is started for later runs only a part of the
// time while somebody uses a session, and as fast as it can when nobody does.
import { availableParallelism } from 'node:os'
import type { Instance, InstanceLimits } from '../driver/driver.ts'

const LOOK_EVERY_MS = 250
/** Of each processor. Twice as much trebles the round trips of a session at their 95th percentile. */
const PART = 0.15
/** On a host that is always busy it would otherwise never be ready. */
const MAX_RESTRAINED_MS = 20_000

export interface RestraintOptions {
  readonly instance: Pick<Instance, 'setLimits' | 'setBackground'>
  readonly limits: InstanceLimits
  readonly isSomebodyThere: () => boolean
}

/** Of an instance that is being started. Disposed of when it is ready. */
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
    // One that has ended needs none.
    void instance.setLimits({ ...limits, cpus }).catch(() => {})
  }
}
