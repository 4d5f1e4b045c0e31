// Values that must not appear in this instance's telemetry or logs. They are replaced in every spelling that pages
// are known to send.
import { spellingsOf } from './spellings.ts'

const MARKER = '[redacted]'
/** A shorter value would match everywhere, and the gaps would reveal it. */
const MIN_LENGTH = 3
const MAX_VALUES = 1_000
/** A truncated text may end in the middle of a value. This many of its first characters count as the value. */
const MIN_BEGINNING = 4
/** Shorter texts are never truncated. */
const MIN_CUT_LENGTH = 100

export class Secrets {
  readonly #values = new Set<string>()
  #spellings: readonly string[] = []
  #pattern: RegExp | undefined
  #isInUse = false
  #isTyped = false

  /** Values are never removed: an old secret is still a secret. */
  add(values: readonly string[]): void {
    this.#isInUse = true
    for (const value of values) {
      if (value.length >= MIN_LENGTH && this.#values.size < MAX_VALUES) this.#values.add(value)
    }
    const spellings = new Set([...this.#values].flatMap(spellingsOf))
    // Longest first, because one may contain another.
    this.#spellings = [...spellings].toSorted((one, other) => other.length - one.length)
    this.#pattern =
      this.#spellings.length === 0 ? undefined : new RegExp(this.#spellings.map(escaped).join('|'), 'g')
  }

  /** True even if every value is too short to redact. Screenshots and the like are then left out. */
  get isInUse(): boolean {
    return this.#isInUse
  }

  /** A value is about to be typed into a page, which may send it on in spellings that nobody can list. */
  type(): void {
    this.#isInUse = true
    this.#isTyped = true
  }

  /**
   * Stays true until the instance ends, as it does with its login: a page may send a value late, and from any of its
   * documents.
   */
  get isTyped(): boolean {
    return this.#isTyped
  }

  redact(text: string): string {
    if (!this.#pattern) return text
    const told = text.replaceAll(this.#pattern, MARKER)
    return told.length >= MIN_CUT_LENGTH ? this.#withoutBeginning(told) : told
  }

  /** Redacts every text in the value, field names included. */
  redactAll<T>(value: T): T {
    if (!this.#pattern) return value
    // SAFETY: the result has the same shape; only texts differ.
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

/** One registry for the whole process: packed modules have their own copy of this module, but share the secrets. */
const KEY = Symbol.for('berth.secrets')
const shared = globalThis as { [KEY]?: Secrets }
export const secrets: Secrets = (shared[KEY] ??= new Secrets())

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}
