// The default project, remembered: with a key of the organisation, every create would otherwise ask the database for it
// first. Whoever chooses another announces it.
import type { ChangeBus } from '../../platform/database/change-events.ts'
import type { ChangeListener } from '../../platform/database/listener.ts'
import type { Db } from '../../platform/database/schema.ts'
import { findDefaultProject } from './store.ts'

export interface DefaultProjectOptions {
  readonly changes: ChangeBus
  readonly listener: Pick<ChangeListener, 'isListening' | 'beginnings'>
  readonly read?: typeof findDefaultProject
}

export class DefaultProject {
  readonly #options: DefaultProjectOptions
  #known: { readonly id: string; readonly beginning: number } | undefined
  #changes = 0

  constructor(options: DefaultProjectOptions) {
    this.#options = options
    for (const change of ['projectChanged', 'unknownChange'] as const) {
      options.changes.on(change, () => {
        this.#known = undefined
        this.#changes++
      })
    }
  }

  async find(db: Db): Promise<{ id: string }> {
    const { listener, read = findDefaultProject } = this.#options
    const { beginnings: beginning } = listener
    // A server that did not listen for a while may have missed a change.
    if (this.#known?.beginning === beginning && listener.isListening) return this.#known
    const before = this.#changes
    const { id } = await read(db)
    if (before === this.#changes) this.#known = { id, beginning }
    return { id }
  }
}
