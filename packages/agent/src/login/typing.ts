// Types into a field, or into a row of boxes with one character each. Before each key, it checks in the document that the
// field has the focus: the text may be a secret, and the page may have navigated or given the focus to another frame.
import type { ActResult } from '@berth/contracts/page-snapshot'
import { pause } from '@berth/kit/pause'
import type { Elements } from './element.ts'
import { PageGone } from './gone.ts'
import { Keyboard } from './keyboard.ts'
import type { Held } from './page-types.ts'

/** Longer texts are inserted at once, because typing them would take seconds. */
const MAX_KEYS = 200
/** How long a page may take to focus the next box. */
const MOVE_MS = 200
const LOOK_EVERY_MS = 10
const LOST: ActResult = { result: 'refused', reason: 'Cannot type into the field: it lost the focus' }

export async function fill(elements: Elements, value: string, signal: AbortSignal): Promise<ActResult> {
  const isRun = elements.refs.length > 1
  return isRun ? new Typist(elements, signal).fillRun(value) : new Typist(elements, signal).fillOne(value)
}

class Typist {
  readonly #elements: Elements
  readonly #signal: AbortSignal
  readonly #keyboard: Keyboard

  constructor(elements: Elements, signal: AbortSignal) {
    const { cdp, sessionId } = elements.tab
    this.#elements = elements
    this.#signal = signal
    this.#keyboard = new Keyboard(cdp, sessionId)
  }

  async fillOne(value: string): Promise<ActResult> {
    const characters = Array.from(value)
    const attempts = characters.length > MAX_KEYS ? (['insert'] as const) : (['type', 'insert'] as const)
    let length = 0
    for (const attempt of attempts) {
      if (!(await this.#take(0))) return LOST
      if (value === '') await this.#keyboard.backspace()
      else if (attempt === 'insert') await this.#insert(value)
      else {
        const typed = await this.#typeAll(characters)
        if (typed !== 'all') return typed
      }
      const held = await this.#held(0)
      // Some pages submit automatically after the last character.
      if (held === 'gone' || isTaken(held, value)) return { result: 'done' }
      length = held?.length ?? 0
    }
    return { result: 'refused', reason: `The field accepted only ${length} of ${value.length} characters` }
  }

  async fillRun(value: string): Promise<ActResult> {
    const characters = Array.from(value)
    const { refs } = this.#elements
    if (characters.length > refs.length) {
      return {
        result: 'refused',
        reason: `There are ${refs.length} boxes for ${characters.length} characters`,
      }
    }
    for (const leads of ['page', 'us'] as const) {
      if (!(await this.#take(0))) return LOST
      for (const [index, character] of characters.entries()) {
        const hasFocus = index === 0 || (await this.#arriveAt(index, leads))
        if (hasFocus === 'gone')
          return { result: 'gone', reason: 'The page navigated before everything was typed' }
        if (!hasFocus) return LOST
        await this.#keyboard.type(character)
      }
      const held = await this.#heldByAll()
      if (held === 'gone' || characters.every((_each, index) => held[index]?.length === 1))
        return { result: 'done' }
    }
    return { result: 'refused', reason: 'The boxes did not accept one character each' }
  }

  /** Clicks into the field like a user, and selects its content. */
  async #take(index: number): Promise<boolean> {
    const ref = this.#elements.refs[index]!
    if ((await this.#elements.focused()) !== index) await this.#elements.click(ref)
    if ((await this.#elements.focused()) !== index) await this.#elements.focus(ref)
    if ((await this.#elements.focused()) !== index) return false
    await this.#elements.selectAll(ref)
    return true
  }

  async #typeAll(characters: readonly string[]): Promise<'all' | ActResult> {
    for (const character of characters) {
      this.#signal.throwIfAborted()
      const focused = await this.#focused()
      if (focused === 'gone')
        return { result: 'gone', reason: 'The page navigated before everything was typed' }
      if (focused !== 0) return LOST
      await this.#keyboard.type(character)
    }
    return 'all'
  }

  async #insert(value: string): Promise<void> {
    if ((await this.#focused()) === 0) await this.#keyboard.insert(value)
  }

  /** Waits until the page focuses the next box, or focuses it itself. */
  async #arriveAt(index: number, leads: 'page' | 'us'): Promise<boolean | 'gone'> {
    this.#signal.throwIfAborted()
    const ref = this.#elements.refs[index]!
    const deadline = performance.now() + (leads === 'page' ? MOVE_MS : 0)
    let focused = await this.#focused()
    while (focused !== index && focused !== 'gone' && performance.now() < deadline) {
      await pause(LOOK_EVERY_MS, this.#signal)
      focused = await this.#focused()
    }
    if (focused !== index && focused !== 'gone') {
      await this.#elements.focus(ref)
      focused = await this.#focused()
    }
    if (focused === 'gone') return 'gone'
    // Select the content, because a full box accepts no more characters.
    if (focused === index) await this.#elements.selectAll(ref)
    return focused === index
  }

  #focused(): Promise<number | 'gone'> {
    return orGone(() => this.#elements.focused())
  }

  async #held(index: number): Promise<Held | 'gone' | null | undefined> {
    const held = await this.#heldByAll()
    return held === 'gone' ? 'gone' : held[index]
  }

  #heldByAll(): Promise<(Held | null)[] | 'gone'> {
    return orGone(() => this.#elements.held())
  }
}

async function orGone<T>(ask: () => Promise<T>): Promise<T | 'gone'> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof PageGone) return 'gone'
    throw error
  }
}

/** Compares only lengths. Input masks add characters and some fields drop spaces, but letters and digits stay. */
function isTaken(held: Held | null | undefined, value: string): boolean {
  if (!held) return false
  return held.length === value.length || (held.signs > 0 && held.signs === signsOf(value))
}

function signsOf(value: string): number {
  return value.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}
