// Changes that nobody has heard of yet, gathered by kind. Bounded: of too many, only the kind is kept.
import type { ChangeKind } from '@berth/contracts/changes'
import type { Owner } from './types.ts'

const MAX_PENDING_IDS = 1_000

/** Ids with their owners, or that there were too many. */
export type Changed = Map<string, Owner> | 'many'

export class PendingChanges {
  #kinds = new Map<ChangeKind, Changed>()
  #isEverything = false

  get isEmpty(): boolean {
    return this.#kinds.size === 0 && !this.#isEverything
  }

  add(kind: ChangeKind, id: string, owner: Owner): void {
    const changed = this.#kinds.get(kind) ?? new Map<string, Owner>()
    if (changed === 'many') return
    // An owner that is known stays known.
    changed.set(id, owner ?? changed.get(id) ?? owner)
    this.#kinds.set(kind, changed.size > MAX_PENDING_IDS ? 'many' : changed)
  }

  addMany(kind: ChangeKind): void {
    this.#kinds.set(kind, 'many')
  }

  addEverything(): void {
    this.#isEverything = true
  }

  take(): { readonly kinds: ReadonlyMap<ChangeKind, Changed>; readonly isEverything: boolean } {
    const taken = { kinds: this.#kinds, isEverything: this.#isEverything }
    this.#kinds = new Map()
    this.#isEverything = false
    return taken
  }
}
