// The hands, with the patience that logins need.
import type { ActOrder, ActResult, ElementSight, PageSight } from '@berth/contracts/login-sight'
import type { Hands } from '../hands.ts'

const QUIET_MS = 600
const MAX_MS = 15_000
const SETTLE_TIMEOUT_MS = 8_000

export class Browser {
  readonly #hands: Hands
  readonly #signal: AbortSignal

  constructor(hands: Hands, signal: AbortSignal) {
    this.#hands = hands
    this.#signal = signal
  }

  visit(url: string): Promise<PageSight> {
    return this.#hands.visit({ url, aside: false, quiet_ms: QUIET_MS, most_ms: MAX_MS }, this.#signal)
  }

  visitAside(url: string): Promise<PageSight> {
    return this.#hands.visit({ url, aside: true, quiet_ms: QUIET_MS, most_ms: MAX_MS }, this.#signal)
  }

  lookAfterAct(): Promise<PageSight> {
    return this.#hands.look({ quiet_ms: QUIET_MS, most_ms: MAX_MS }, this.#signal)
  }

  /** The first that changes; quiet may come only when it is gone again. */
  glimpse(): Promise<PageSight> {
    return this.#hands.look({ quiet_ms: 0, most_ms: 1_500, until_changed: true }, this.#signal)
  }

  /** Enough where it is known what comes. */
  lookBriefly(): Promise<PageSight> {
    return this.#hands.look({ quiet_ms: 150, most_ms: 3_000 }, this.#signal)
  }

  visitBriefly(url: string): Promise<PageSight> {
    return this.#hands.visit({ url, aside: false, quiet_ms: 150, most_ms: MAX_MS }, this.#signal)
  }

  lookNow(): Promise<PageSight> {
    return this.#hands.look({ quiet_ms: 100, most_ms: 1_000 }, this.#signal)
  }

  /** Until the page is another, or that time is over. */
  lookForChange(maxMs: number, signal = this.#signal): Promise<PageSight> {
    return this.#hands.look({ quiet_ms: 300, most_ms: maxMs, until_changed: true }, signal)
  }

  /** Applications show something first and draw the rest later. */
  async settle(first: PageSight, isEnough: (sight: PageSight) => boolean): Promise<PageSight> {
    let sight = first
    const endsAt = performance.now() + SETTLE_TIMEOUT_MS
    while (!isEnough(sight) && sight.failure === null && performance.now() < endsAt) {
      const left = Math.max(200, Math.ceil(endsAt - performance.now()))
      const before = sight
      sight = await this.lookForChange(Math.min(left, 2_500))
      // Nothing to load and nothing that changed: there will be no more.
      if (sight.is_quiet && isSame(before, sight)) break
    }
    return sight
  }

  act(order: ActOrder): Promise<ActResult> {
    return this.#hands.act(order, this.#signal)
  }

  async click(element: ElementSight): Promise<boolean> {
    const { result } = await this.act({ act: 'click', refs: [element.ref] })
    return result === 'done'
  }

  hide(values: readonly string[]): Promise<void> {
    return this.#hands.hide(values)
  }
}

export function isSame(one: PageSight, other: PageSight): boolean {
  return (
    one.document === other.document &&
    one.url === other.url &&
    textOf(one) === textOf(other) &&
    one.elements.length === other.elements.length
  )
}

function textOf({ frames }: PageSight): string {
  return frames.map(({ text }) => text).join('\n')
}
