// Finds the display's keys by keysym. A keysym without a key, such as most of Unicode, is assigned to an unused
// key. Programs are notified of every such change, and the next change waits until they have read it.
// https://www.x.org/releases/current/doc/kbproto/xkbproto.html
import type { XConnection } from '../../../display/x-connection.ts'
import { ControlError } from '../../calls/operation.ts'
import type { TypeOptions } from '../device/device.ts'
import { characterOfKeysym, keysymOfCharacter, SHIFT_L } from '../keys/keysyms.ts'
import { Focus } from './focus.ts'
import { ONE_LEVEL, TWO_LEVEL, Xkb, type KeyMap } from './xkb.ts'
import type { XTest } from './xtest.ts'

const MAPPING_NOTIFY = 34
const KEYBOARD_MAPPING = 1
/** Unused keys that are left for others, such as viewers of the screen. */
const LEFT_TO_OTHERS = 3
/** How many characters are sent before waiting for the program. */
const STRETCH = 200

interface Key {
  readonly keycode: number
  readonly isShifted: boolean
}

interface HeldKey {
  readonly keycode: number
  /** The Shift key pressed for this key. */
  readonly shift: number | undefined
}

export class XKeyboard {
  readonly #x: XConnection
  readonly #xtest: XTest
  readonly #xkb: Xkb
  readonly #focus: Focus
  #maps = new Map<number, KeyMap>()
  #keys = new Map<number, Key>()
  /** Keys that are down; these are not reassigned. */
  readonly #held = new Map<number, HeldKey>()
  /** Keycodes the agent may assign, least recently used first. */
  #spare: number[] = []
  #isKnown = false
  #isChanging = false

  private constructor(x: XConnection, xtest: XTest, xkb: Xkb) {
    this.#x = x
    this.#xtest = xtest
    this.#xkb = xkb
    this.#focus = new Focus(x)
    x.on(MAPPING_NOTIFY, (event) => {
      if (event[4] === KEYBOARD_MAPPING && !this.#isChanging) this.#isKnown = false
    })
  }

  static async open(x: XConnection, xtest: XTest): Promise<XKeyboard> {
    return new XKeyboard(x, xtest, await Xkb.open(x))
  }

  /** Assigns keys to these keysyms, a handful at most; resolves when programs know. */
  async provide(keysyms: Iterable<number>): Promise<void> {
    if (!this.#isKnown) await this.#read()
    const missing = [...new Set(keysyms)].filter((keysym) => !this.#keys.has(keysym))
    if (missing.length > 0) await this.#bind(missing, new Set(keysyms))
  }

  press(keysym: number): void {
    const { keycode, isShifted } = this.#keyFor(keysym)
    const shift = isShifted && !this.#held.has(SHIFT_L) ? this.#keyFor(SHIFT_L).keycode : undefined
    if (shift !== undefined) this.#xtest.key(shift, true)
    this.#xtest.key(keycode, true)
    this.#held.set(keysym, { keycode, shift })
  }

  release(keysym: number): void {
    const held = this.#held.get(keysym)
    if (!held) return
    this.#held.delete(keysym)
    this.#xtest.key(held.keycode, false)
    if (held.shift !== undefined) this.#xtest.key(held.shift, false)
  }

  async type(keysyms: readonly number[], { between, signal }: TypeOptions): Promise<void> {
    const wasLocked = await this.#xkb.isCapsLocked()
    if (wasLocked) this.#xkb.setCapsLock(false)
    try {
      if (!this.#isKnown) await this.#read()
      for (let at = 0; at < keysyms.length;) {
        const end = this.#stretchFrom(keysyms, at)
        await this.provide([SHIFT_L, ...keysyms.slice(at, end)])
        signal.throwIfAborted()
        for (; at < end; at++) {
          this.press(keysyms[at]!)
          this.release(keysyms[at]!)
          if (!between || at === keysyms.length - 1) continue
          this.#x.flush()
          await between()
        }
        // The next keys may be reassigned, or be more than the program can buffer.
        if (at < keysyms.length) await this.#focus.hasTakenAll()
      }
    } finally {
      if (wasLocked) this.#xkb.setCapsLock(true)
      this.#x.flush()
    }
  }

  /** The end of the run of keysyms that the spare keys can cover. */
  #stretchFrom(keysyms: readonly number[], start: number): number {
    const slots = new Set<number>()
    const most = Math.min(keysyms.length, start + STRETCH)
    for (let at = start; at < most; at++) {
      const keysym = keysyms[at]!
      const key = this.#keys.get(keysym)
      if (key && !this.#spare.includes(key.keycode)) continue
      slots.add(casesOf(keysym)[0]!)
      if (slots.size <= this.#spare.length) continue
      if (at === start) throw noSpareKey()
      return at
    }
    return most
  }

  #keyFor(keysym: number): Key {
    const key = this.#keys.get(keysym)
    if (!key) throw new Error(`No key gives the keysym ${keysym.toString(16)}`)
    return key
  }

  async #read(): Promise<void> {
    this.#isKnown = true
    this.#maps = await this.#xkb.readMap()
    this.#keys = new Map()
    const empty: number[] = []
    for (const [keycode, { keysyms, groups, width }] of this.#maps) {
      if (keysyms.every((keysym) => keysym === 0 || isBeyondLatin(keysym))) empty.push(keycode)
      const levels = (groups & 0x0f) === 0 ? 0 : Math.min(width, 2)
      for (let level = 0; level < levels; level++) {
        const keysym = keysyms[level]!
        const isKeypad = keysym >= 0xff80 && keysym <= 0xffb9
        const isShifted = level === 1
        // Num_Lock selects level 2 of the keypad. The first key that gives a keysym is the usual one.
        if (keysym === 0 || this.#keys.has(keysym) || (isKeypad && isShifted)) continue
        this.#keys.set(keysym, { keycode, isShifted })
      }
    }
    // Keys that the agent assigned before are still its own, unless something else changed them.
    const ours = this.#spare.filter((keycode) => this.#maps.has(keycode))
    const found = empty.filter((keycode) => !ours.includes(keycode))
    this.#spare = [...found.slice(0, Math.max(0, found.length - LEFT_TO_OTHERS)), ...ours]
  }

  async #bind(missing: readonly number[], needed: ReadonlySet<number>): Promise<void> {
    const inUse = new Set([...needed].map((keysym) => this.#keys.get(keysym)?.keycode))
    for (const { keycode } of this.#held.values()) inUse.add(keycode)
    const free = this.#spare.filter((keycode) => !inUse.has(keycode))
    const changed: number[] = []
    for (const keysym of missing) {
      if (this.#keys.has(keysym)) continue
      const keycode = free.shift()
      if (keycode === undefined) throw noSpareKey()
      for (const [known, key] of this.#keys) if (key.keycode === keycode) this.#keys.delete(known)
      const cases = casesOf(keysym)
      for (const [level, each] of cases.entries()) {
        if (!this.#keys.has(each)) this.#keys.set(each, { keycode, isShifted: level === 1 })
      }
      const type = cases.length === 1 ? ONE_LEVEL : TWO_LEVEL
      this.#maps.set(keycode, { types: [type, 0, 0, 0], groups: 1, width: cases.length, keysyms: cases })
      this.#spare = [...this.#spare.filter((other) => other !== keycode), keycode]
      changed.push(keycode)
    }
    await this.#tell(Math.min(...changed), Math.max(...changed))
  }

  async #tell(first: number, last: number): Promise<void> {
    const keycodes = Array.from({ length: last - first + 1 }, (_none, index) => first + index)
    this.#isChanging = true
    try {
      this.#xkb.writeMap(
        first,
        keycodes.map((keycode) => this.#maps.get(keycode)!),
      )
      await this.#x.sync()
    } finally {
      this.#isChanging = false
    }
    await this.#focus.hasNewKeyboard()
  }
}

/** Layouts use older keysyms for their letters, so the agent assigned this one over an earlier connection. */
const isBeyondLatin = (keysym: number) => keysym > 0x01000100 && characterOfKeysym(keysym) !== undefined

function noSpareKey(): ControlError {
  return new ControlError('conflict', 'Cannot type: the keyboard has too few keys that mean nothing else')
}

/** Lower and upper case share a key, as on a real keyboard. */
function casesOf(keysym: number): number[] {
  const codePoint = characterOfKeysym(keysym)
  if (codePoint === undefined) return [keysym]
  const character = String.fromCodePoint(codePoint)
  const [small, capital] = [character.toLowerCase(), character.toUpperCase()]
  const isPair = small !== capital && [small, capital].every((each) => Array.from(each).length === 1)
  // Some letters have no single counterpart in the other case, such as ligatures.
  if (!isPair || (character !== small && character !== capital)) return [keysym]
  if (small.toUpperCase() !== capital || capital.toLowerCase() !== small) return [keysym]
  return [small, capital].map((each) => keysymOfCharacter(each.codePointAt(0)!)!)
}
