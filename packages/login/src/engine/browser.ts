// Page actions with the waiting times that logins need.
import type { ActOrder, ActResult, ElementSnapshot, PageSnapshot } from '@berth/contracts/page-snapshot'
import type { PageActions } from '../run/page-actions.ts'
import { isOrdinary } from '../words/ordinary.ts'

const QUIET_MS = 600
/** Enough for a page that already shows what it is. */
const EARLY_QUIET_MS = 150
const MAX_MS = 15_000
const SETTLE_TIMEOUT_MS = 8_000
/** Less shows nothing of most pages. */
const MIN_MS = 500

export class Browser {
  readonly #pageActions: PageActions
  readonly #signal: AbortSignal
  #endsAt = Infinity

  constructor(pageActions: PageActions, signal: AbortSignal) {
    this.#pageActions = pageActions
    this.#signal = signal
  }

  /** Nothing in `work` waits much longer than this, if it looks at `isLate` between its steps. */
  async within<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#endsAt = performance.now() + ms
    try {
      return await work()
    } finally {
      this.#endsAt = Infinity
    }
  }

  get isLate(): boolean {
    return performance.now() >= this.#endsAt
  }

  #atMost(ms: number): number {
    return Math.ceil(Math.max(MIN_MS, Math.min(ms, this.#endsAt - performance.now())))
  }

  visit(url: string, maxMs = MAX_MS): Promise<PageSnapshot> {
    const order = { url, aside: false, quiet_ms: QUIET_MS, most_ms: this.#atMost(maxMs) }
    return this.#pageActions.visit(order, this.#signal)
  }

  /** Looks early, and again when the page is quiet. Most pages show at once what they are. */
  async visitUntil(url: string, isEnough: (snapshot: PageSnapshot) => boolean): Promise<PageSnapshot> {
    const order = { url, aside: false, quiet_ms: EARLY_QUIET_MS, most_ms: this.#atMost(MAX_MS) }
    const early = await this.#pageActions.visit(order, this.#signal)
    return early.failure !== null || isEnough(early) ? early : this.lookAfterAct()
  }

  visitAside(url: string, { isEarly = false } = {}): Promise<PageSnapshot> {
    const quiet_ms = isEarly ? EARLY_QUIET_MS : QUIET_MS
    const order = { url, aside: true, quiet_ms, most_ms: this.#atMost(MAX_MS) }
    return this.#pageActions.visit(order, this.#signal)
  }

  /** The same after an act. */
  async lookUntil(isEnough: (snapshot: PageSnapshot) => boolean): Promise<PageSnapshot> {
    const order = { quiet_ms: EARLY_QUIET_MS, most_ms: this.#atMost(MAX_MS) }
    const early = await this.#pageActions.look(order, this.#signal)
    return isEnough(early) ? early : this.lookAfterAct()
  }

  lookAfterAct(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: QUIET_MS, most_ms: this.#atMost(MAX_MS) }, this.#signal)
  }

  /** Returns at the first change, because a message may disappear before the page is quiet. */
  glimpse(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 0, most_ms: 1_500, until_changed: true }, this.#signal)
  }

  /** Enough when the plan says what comes next. */
  visitBriefly(url: string): Promise<PageSnapshot> {
    const order = { url, aside: false, quiet_ms: EARLY_QUIET_MS, most_ms: MAX_MS }
    return this.#pageActions.visit(order, this.#signal)
  }

  /** Without waiting for anything. */
  lookAtOnce(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 0, most_ms: 0 }, this.#signal)
  }

  lookNow(): Promise<PageSnapshot> {
    return this.#pageActions.look({ quiet_ms: 100, most_ms: 1_000 }, this.#signal)
  }

  /** Waits until the page changes or the time is up. */
  lookForChange(maxMs: number, signal = this.#signal): Promise<PageSnapshot> {
    const order = { quiet_ms: 300, most_ms: this.#atMost(maxMs), until_changed: true }
    return this.#pageActions.look(order, signal)
  }

  /** The same while the login waits for its person, who may use the page but not leave these hosts. */
  lookForPerson(maxMs: number, hosts: readonly string[], signal: AbortSignal): Promise<PageSnapshot> {
    const order = { quiet_ms: 300, most_ms: maxMs, until_changed: true, only_hosts: [...hosts] }
    return this.#pageActions.look(order, signal)
  }

  /** Waits longer for applications that render in several steps. */
  async settle(first: PageSnapshot, isEnough: (snapshot: PageSnapshot) => boolean): Promise<PageSnapshot> {
    let snapshot = first
    const endsAt = performance.now() + SETTLE_TIMEOUT_MS
    while (!isEnough(snapshot) && snapshot.failure === null && performance.now() < endsAt && !this.isLate) {
      const left = Math.max(200, Math.ceil(endsAt - performance.now()))
      const before = snapshot
      snapshot = await this.lookForChange(Math.min(left, 2_500))
      // The page is quiet and unchanged, so nothing more will come.
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
    // A gap in an address or a log line would tell an ordinary word. Once something was typed, no text of a page is
    // recorded anyway.
    return this.#pageActions.hide(values.filter((value) => !isOrdinary(value)))
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
