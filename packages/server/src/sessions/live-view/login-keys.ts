// What somebody may press who has the link of one login: what is needed to type into a page, and nothing that opens a tab,
// a menu, the address bar or the developer tools. Chromium decides by what is held together, so keys that are held count.

const SHIFTS: ReadonlySet<number> = new Set([0xffe1, 0xffe2])
const CONTROLS: ReadonlySet<number> = new Set([0xffe3, 0xffe4])
const ESCAPE = 0xff1b
/** Select all, copy, paste, cut, undo. */
const WITH_CONTROL: ReadonlySet<number> = new Set(Array.from('acvxz', (letter) => letter.charCodeAt(0)))
const EDITING: ReadonlySet<number> = new Set([
  0xff08, // backspace
  0xff09, // tab
  0xff0d, // return
  ESCAPE,
  ...Array.from({ length: 8 }, (_, index) => 0xff50 + index), // home, arrows, pages, end
  0xffff, // delete
  0xff8d, // return of the number pad
  ...Array.from({ length: 16 }, (_, index) => 0xffaa + index), // signs and digits of the number pad
  0xffe5, // caps lock
  0xfe03, // the third level, for signs such as @
])
/** More keys than anybody holds. */
const MAX_HELD = 32

export class LoginKeys {
  readonly #held = new Set<number>()

  get isControlHeld(): boolean {
    return this.#isAnyHeld(CONTROLS)
  }

  get isShiftHeld(): boolean {
    return this.#isAnyHeld(SHIFTS)
  }

  /** Whether the press or release may pass. A release passes if its press did. */
  take(keysym: number, isDown: boolean): boolean {
    if (!isDown) return this.#held.delete(keysym)
    if (this.#held.size >= MAX_HELD || !this.#mayPress(keysym)) return false
    this.#held.add(keysym)
    return true
  }

  #mayPress(keysym: number): boolean {
    // Otherwise a key that is held already would repeat as a shortcut.
    if (CONTROLS.has(keysym)) return [...this.#held].every((each) => CONTROLS.has(each))
    if (this.isControlHeld) return WITH_CONTROL.has(keysym)
    if (SHIFTS.has(keysym)) return !this.#held.has(ESCAPE)
    if (keysym === ESCAPE) return !this.isShiftHeld
    return EDITING.has(keysym) || isCharacter(keysym)
  }

  #isAnyHeld(keys: ReadonlySet<number>): boolean {
    return [...keys].some((each) => this.#held.has(each))
  }
}

/** Characters, and the keys that combine into one. */
function isCharacter(keysym: number): boolean {
  return (
    (keysym >= 0x20 && keysym < 0x3000) ||
    (keysym >= 0xfe50 && keysym <= 0xfe93) ||
    (keysym >= 0x01000020 && keysym <= 0x0110ffff)
  )
}
