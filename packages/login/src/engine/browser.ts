// The pageActions, with the patience that logins need.
import type { ActOrder, ActResult, ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import type { PageActions } from '../page-actions.ts'

const QUIET_MS = 600
const MAX_MS = 15_000
const SETTLE_TIMEOUT_MS = 8_000

export class Browser {
  readonly #pageActions: PageActions
  readonly #signal: AbortSignal

  constructor(pageActions: PageActions, signal: AbortSignal) {
    this.#pageActions = pageActions
    this.#signal = signal
  }

  visit(url: string): Promise<PageSnapshot> {
    return this.#pageActions.visit({ url, aside: false, quiet_ms: QUIET_MS, most_ms: MAX_MS }, this.#signal)
  }

  visitAside(url: string): Promise<PageSnapshot> {
    return this.#pageActions.visit({ url, aside: true, quiet_ms: QUIET_MS, most_ms: MAX_MS }, this.#signal)
  }

  lookAfterAct(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: QUIET_MS, most_ms: MAX_MS }, this.#signal)
  }

  /** The first that changes; quiet may come only when it is gone again. */
  glimpse(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 0, most_ms: 1_500, until_changed: true }, this.#signal)
  }

  /** Enough where it is known what comes. */
  lookBriefly(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 150, most_ms: 3_000 }, this.#signal)
  }

  visitBriefly(url: string): Promise<PageSnapshot> {
    return this.#pageActions.visit({ url, aside: false, quiet_ms: 150, most_ms: MAX_MS }, this.#signal)
  }

  lookNow(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 100, most_ms: 1_000 }, this.#signal)
  }

  /** Until the page is another, or that time is over. */
  lookForChange(maxMs: number, signal = this.#signal): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 300, most_ms: maxMs, until_changed: true }, signal)
  }

  /** Applications show something first and draw the rest later. */
  async settle(first: PageSnapshot, isEnough: (snapshot: PageSnapshot) => boolean): Promise<PageSnapshot> {
    let snapshot = first
    const endsAt = performance.now() + SETTLE_TIMEOUT_MS
    while (!isEnough(snapshot) && snapshot.failure === null && performance.now() < endsAt) {
      const left = Math.max(200, Math.ceil(endsAt - performance.now()))
      const before = snapshot
      snapshot = await this.lookForChange(Math.min(left, 2_500))
      // Nothing to load and nothing that changed: there will be no more.
      if (snapshot.is_quiet && isSame(before, snapshot)) break
    }
    return snapshot
  }

  act(order: ActOrder): Promise<ActResult> {
    return this.#pageActions.act(order, this.#signal)
  }

  async click(element: ElementSnapshot): Promise<boolean> {
    const { result } = await this.act({ act: 'click', refs: [element.ref] })
    return result === 'done'
  }

  hide(values: readonly string[]): Promise<void> {
    return this.#pageActions.hide(values)
  }
}

export function isSame(one: PageSnapshot, other: PageSnapshot): boolean {
  return (
    one.document === other.document &&
    one.url === other.url &&
    textOf(one) === textOf(other) &&
    one.elements.length === other.elements.length
  )
}

function textOf({ frames }: PageSnapshot): string {
  return frames.map(({ text }) => text).join('\n')
}
