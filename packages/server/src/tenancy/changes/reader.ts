// One client that follows changes.
import { Readable } from 'node:stream'
import {
  changeKinds,
  MAX_CHANGED_IDS,
  scopeOfKind,
  type ChangeEvent,
  type ChangeKind,
} from '@berth/contracts/changes'
import { sseEvent } from '@berth/kit/sse'
import { hasScope, type Principal } from '../../http/principal.ts'
import type { Changed } from './pending-changes.ts'

/** Beyond what the connection itself holds. A reader that has not taken so much is disconnected. */
const MAX_UNREAD_BYTES = 256 * 1024

/** Of the whole organisation; which of them a project may use is not told here, only that there was a change. */
const sharedKinds: ReadonlySet<ChangeKind> = new Set(['credential_provider', 'organization'])

export class ChangeReader extends Readable {
  readonly #projectId: string | null
  readonly #kinds: ReadonlySet<ChangeKind>
  #isGreeted = false
  #hasEnded = false

  constructor(principal: Principal, projectId: string | null) {
    super()
    this.#projectId = projectId
    this.#kinds = new Set(
      changeKinds.filter((kind) => {
        const scope = scopeOfKind(kind)
        return scope === null ? principal.scopes === undefined : hasScope(principal, scope)
      }),
    )
  }

  hears(kind: ChangeKind): boolean {
    return this.#kinds.has(kind)
  }

  /** Whether it hears of all projects, so that nobody needs to know whose an id is. */
  get hearsAll(): boolean {
    return this.#projectId === null
  }

  /** Nothing is told before it, as the stream begins with it. */
  get isGreeted(): boolean {
    return this.#isGreeted
  }

  hello(): void {
    this.#isGreeted = true
    this.#send({ kind: 'hello', ids: null, kinds: [...this.#kinds] })
  }

  heartbeat(): void {
    this.#send({ kind: 'heartbeat', ids: [] })
  }

  tell(kind: ChangeKind, changed: Changed): void {
    if (!this.hears(kind)) return
    const ids = this.#visible(kind, changed)
    if (ids === null || ids.length > MAX_CHANGED_IDS) this.#send({ kind, ids: null })
    else if (ids.length > 0) this.#send({ kind, ids })
  }

  #visible(kind: ChangeKind, changed: Changed): string[] | null {
    if (changed === 'many') return null
    if (this.hearsAll) return [...changed.keys()]
    if (sharedKinds.has(kind)) return null
    return [...changed].filter(([, owner]) => owner === this.#projectId).map(([id]) => id)
  }

  #send(event: ChangeEvent): void {
    if (this.destroyed || this.#hasEnded) return
    this.push(sseEvent(event))
    if (this.readableLength > MAX_UNREAD_BYTES) this.destroy()
  }

  /** Nothing is told after it. */
  end(): void {
    if (this.destroyed || this.#hasEnded) return
    this.#hasEnded = true
    this.push(null)
  }

  override _read(): void {
    // Events are pushed when there are any.
  }
}
