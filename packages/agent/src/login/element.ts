// The elements of a document that an act uses.
import type { ActResult } from '@berth/contracts/page-snapshot'
import { pause } from '@berth/kit/pause'
import { Frames } from './frames.ts'
import { isOfHosts } from './hosts.ts'
import { clickAt, type Point } from './mouse.ts'
import type { Aim, Held, Usability } from './page-types.ts'
import type { Tab } from './tab.ts'
import type { World } from './world.ts'
import { originOf } from './origin.ts'

const ENABLED_MS = 2_000
const LOOK_EVERY_MS = 50

export const GONE: ActResult = { result: 'gone' }

export class Elements {
  readonly refs: readonly string[]
  readonly tab: Tab
  readonly #world: World

  private constructor(tab: Tab, world: World, refs: readonly string[]) {
    this.tab = tab
    this.#world = world
    this.refs = refs
  }

  /** Returns the elements, or why they cannot be used. */
  static async reach(
    tab: Tab,
    refs: readonly string[],
    hosts: readonly string[] | undefined,
  ): Promise<Elements | ActResult> {
    const [first] = refs
    if (first === undefined) return { result: 'refused', reason: 'No element given' }
    const world = await tab.worldOfRef(first)
    if (!world || !refs.every((ref) => ref.startsWith(`${world.prefix}:`))) return GONE
    // The world belongs to one document. If it still responds afterwards, the frame's data is about the same document.
    const frame = (await Frames.of(tab)).get(world.frameId)
    if (!frame) return GONE
    const origin = await originOf(tab, frame)
    if ((await world.call('prefix')) !== world.prefix) return GONE
    if (hosts && !isOfHosts(origin, hosts)) {
      return { result: 'elsewhere', reason: `The element is on ${origin}`.slice(0, 300) }
    }
    return new Elements(tab, world, refs)
  }

  async isHidden(): Promise<boolean> {
    return this.#world.call<boolean>('isHidden')
  }

  usability(ref: string): Promise<Usability> {
    return this.#world.call('usability', [ref])
  }

  /** Many buttons are disabled until the page has checked the input. */
  async whenEnabled(ref: string, signal: AbortSignal): Promise<Usability> {
    const deadline = performance.now() + ENABLED_MS
    for (;;) {
      const usability = await this.usability(ref)
      if (usability !== 'disabled' || performance.now() > deadline) return usability
      await pause(LOOK_EVERY_MS, signal)
      signal.throwIfAborted()
    }
  }

  /**
   * Clicks with the mouse. Returns false when there is no place to click, or when the document did not get the click
   * because the browser shows a prompt of its own.
   */
  async click(ref: string, { on = 'aim' }: { on?: 'aim' | 'aimAtLabel' } = {}): Promise<boolean> {
    const point = await this.#aim(ref, on)
    if (!point) return false
    const before = await this.#world.call<number>('presses')
    await clickAt(this.tab.cdp, this.tab.sessionId, point)
    try {
      return (await this.#world.call<number>('presses')) > before
    } catch {
      // The page navigated or is busy. Both are results of the click.
      return true
    }
  }

  /** Undefined when no part of the element can be clicked. */
  async #aim(ref: string, on: 'aim' | 'aimAtLabel'): Promise<Point | undefined> {
    const aim = await this.#world.call<Aim | null>(on, [ref])
    if (!aim || aim.isCovered) return undefined
    const frames = await Frames.of(this.tab)
    const frame = frames.get(this.#world.frameId)
    if (!frame || !(await frames.isReachable(frame, aim))) return undefined
    const { x, y } = await frames.placeOf(frame)
    return { x: aim.x + x, y: aim.y + y }
  }

  /** Clicks by script, with a user gesture so that the page may open windows. */
  async press(ref: string): Promise<boolean> {
    return (await this.#world.call<boolean | null>('press', [ref], { isGesture: true })) === true
  }

  async focus(ref: string): Promise<void> {
    await this.#world.call('focus', [ref])
  }

  /** Index of the element with the focus, or -1. */
  focused(): Promise<number> {
    return this.#world.call('focused', [this.refs])
  }

  async selectAll(ref: string): Promise<void> {
    await this.#world.call('selectAll', [ref])
  }

  held(): Promise<(Held | null)[]> {
    return this.#world.call('held', [this.refs])
  }

  choose(ref: string, value: string): Promise<Usability | 'unknown'> {
    return this.#world.call('choose', [ref, value])
  }

  async isTicked(ref: string): Promise<boolean | null> {
    return this.#world.call('isTicked', [ref])
  }
}
