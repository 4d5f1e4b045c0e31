// What nobody may read who reads what is told of this instance: events of its pages, and logs. Values are replaced in
// every spelling that pages are known to send them in.
import { spellingsOf } from './spellings.ts'

const MARKER = '[redacted]'
/** A shorter one would be found everywhere, and say more by where it is missing than it hides. */
const SHORTEST = 3
const MAX_VALUES = 1_000
/** A text that is cut short may end in the middle of a value. As much of its beginning is taken for it. */
const MIN_BEGINNING = 4
/** Shorter texts are told whole. */
const MIN_CUT_LENGTH = 100

export class Secrets {
  readonly #values = new Set<string>()
  #spellings: readonly string[] = []
  #pattern: RegExp | undefined
  #isInUse = false

  /** From now on, and for good: what was a secret is one when it is old, too. */
  add(values: readonly string[]): void {
    this.#isInUse = true
    for (const value of values) {
      if (value.length >= SHORTEST && this.#values.size < MAX_VALUES) this.#values.add(value)
    }
    const spellings = new Set([...this.#values].flatMap(spellingsOf))
    // The longest first: one may be a part of another.
    this.#spellings = [...spellings].toSorted((one, other) => other.length - one.length)
    this.#pattern =
      this.#spellings.length === 0 ? undefined : new RegExp(this.#spellings.map(escaped).join('|'), 'g')
  }

  /** Whether there are any, be they too short to be found: whatever shows more than texts is to be left out. */
  get isInUse(): boolean {
    return this.#isInUse
  }

  redact(text: string): string {
    if (!this.#pattern) return text
    const told = text.replaceAll(this.#pattern, MARKER)
    return told.length >= MIN_CUT_LENGTH ? this.#withoutBeginning(told) : told
  }

  /** All texts in it, names of fields too. */
  redactAll<T>(value: T): T {
    if (!this.#pattern) return value
    // SAFETY: it is of the same shape, only texts are others.
    return this.#redactAny(value) as T
  }

  #redactAny(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value)
    if (Array.isArray(value)) return value.map((each) => this.#redactAny(each))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [this.redact(name), this.#redactAny(each)]),
    )
  }

  #withoutBeginning(text: string): string {
    for (const spelling of this.#spellings) {
      for (let length = spelling.length - 1; length >= MIN_BEGINNING; length--) {
        if (text.endsWith(spelling.slice(0, length))) return text.slice(0, -length) + MARKER
      }
    }
    return text
  }
}

/** One for the whole process: parts that are packed have modules of their own, but no secrets of their own. */
const KEY = Symbol.for('berth.secrets')
const shared = globalThis as { [KEY]?: Secrets }
export const secrets: Secrets = (shared[KEY] ??= new Secrets())

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}
