// Freezes and thaws the instance of one Pod, one act after another.
import { SerialQueue } from '@berth/kit/serial-queue'
import type { Frozen, NodeFreezer } from './node-freezer.ts'

export interface PodFreezerOptions {
  readonly freezer: Pick<NodeFreezer, 'freeze' | 'thaw'>
  /** Where it runs now, as far as the cluster says. */
  readonly find: () => Frozen | undefined
  /** Another server may have frozen it. */
  readonly mayBeFrozen: boolean
}

export class PodFreezer {
  readonly #options: PodFreezerOptions
  readonly #acts = new SerialQueue()
  #isFrozen = false
  #mayBeFrozen: boolean

  constructor(options: PodFreezerOptions) {
    this.#options = options
    this.#mayBeFrozen = options.mayBeFrozen
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  freeze(): Promise<void> {
    return this.#acts.run(async () => {
      if (this.#isFrozen) return
      const { freezer, find } = this.#options
      const place = find()
      if (!place) throw new Error('Cannot freeze: the cluster does not say where the instance runs')
      this.#mayBeFrozen = true
      try {
        await freezer.freeze(place)
        this.#isFrozen = true
      } catch (error) {
        // The answer may be all that was lost.
        await this.#thaw().catch(() => {})
        throw error
      }
    })
  }

  thaw(): Promise<void> {
    return this.#acts.run(() => this.#thaw())
  }

  async #thaw(): Promise<void> {
    if (!this.#mayBeFrozen) return
    const place = this.#options.find()
    // A Pod that is gone has nothing to thaw.
    if (place) await this.#options.freezer.thaw(place)
    this.#mayBeFrozen = false
    this.#isFrozen = false
  }
}
