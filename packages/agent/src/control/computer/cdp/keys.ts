// Maps keysyms to DOM keys: https://www.w3.org/TR/uievents-key/ and https://www.w3.org/TR/uievents-code/
import { characterOfKeysym } from '../keys/keysyms.ts'

/** The fields for Input.dispatchKeyEvent. */
export interface PageKey {
  readonly key: string
  readonly code: string
  /** The Windows key code, which pages see as keyCode. */
  readonly number: number
  readonly text?: string
  readonly location?: number
  /** The modifier bit, if the key is a modifier. */
  readonly modifier?: number
  /** Whether the key needs Shift. */
  readonly isShifted?: boolean
  readonly isKeypad?: boolean
}

export const ALT = 1
export const CONTROL = 2
export const META = 4
export const SHIFT = 8

const LEFT = 1
const RIGHT = 2
const KEYPAD = 3

/** US keyboard: code, number, and the character without and with Shift. */
const printable: readonly (readonly [string, number, string, string])[] = [
  ...Array.from('abcdefghijklmnopqrstuvwxyz', (letter): [string, number, string, string] => {
    const capital = letter.toUpperCase()
    return [`Key${capital}`, capital.charCodeAt(0), letter, capital]
  }),
  ...Array.from('0123456789', (digit, index): [string, number, string, string] => [
    `Digit${digit}`,
    48 + index,
    digit,
    ')!@#$%^&*('[index]!,
  ]),
  ['Space', 32, ' ', ' '],
  ['Semicolon', 186, ';', ':'],
  ['Equal', 187, '=', '+'],
  ['Comma', 188, ',', '<'],
  ['Minus', 189, '-', '_'],
  ['Period', 190, '.', '>'],
  ['Slash', 191, '/', '?'],
  ['Backquote', 192, '`', '~'],
  ['BracketLeft', 219, '[', '{'],
  ['Backslash', 220, '\\', '|'],
  ['BracketRight', 221, ']', '}'],
  ['Quote', 222, "'", '"'],
]

const key = (name: string, number: number, more: Partial<PageKey> = {}): PageKey => ({
  key: name,
  code: name,
  number,
  ...more,
})

const modifier = (name: string, bit: number, [left, right]: readonly [number, number], at: number) => {
  const isLeft = at === LEFT
  const code = `${name}${isLeft ? 'Left' : 'Right'}`
  return key(name, isLeft ? left : right, { code, location: at, modifier: bit })
}

const keypad = (name: string, code: string, number: number, text?: string) =>
  key(name, number, { code: `Numpad${code}`, location: KEYPAD, isKeypad: true, ...(text && { text }) })

/** X keysyms that have a DOM key name. */
const named: ReadonlyMap<number, PageKey> = new Map<number, PageKey>([
  [0xff08, key('Backspace', 8)],
  [0xff09, key('Tab', 9)],
  [0xfe20, key('Tab', 9, { isShifted: true })],
  [0xff0d, key('Enter', 13, { text: '\r' })],
  [0xff13, key('Pause', 19)],
  [0xff14, key('ScrollLock', 145)],
  [0xff1b, key('Escape', 27)],
  [0xffff, key('Delete', 46)],
  [0xff50, key('Home', 36)],
  [0xff51, key('ArrowLeft', 37)],
  [0xff52, key('ArrowUp', 38)],
  [0xff53, key('ArrowRight', 39)],
  [0xff54, key('ArrowDown', 40)],
  [0xff55, key('PageUp', 33)],
  [0xff56, key('PageDown', 34)],
  [0xff57, key('End', 35)],
  [0xff61, key('PrintScreen', 44)],
  [0xff63, key('Insert', 45)],
  [0xff67, key('ContextMenu', 93)],
  [0xff6a, key('Help', 47)],
  [0xff7f, key('NumLock', 144)],
  [0xffe5, key('CapsLock', 20)],
  [0xffe1, modifier('Shift', SHIFT, [16, 16], LEFT)],
  [0xffe2, modifier('Shift', SHIFT, [16, 16], RIGHT)],
  [0xffe3, modifier('Control', CONTROL, [17, 17], LEFT)],
  [0xffe4, modifier('Control', CONTROL, [17, 17], RIGHT)],
  [0xffe9, modifier('Alt', ALT, [18, 18], LEFT)],
  [0xffea, modifier('Alt', ALT, [18, 18], RIGHT)],
  [0xffe7, modifier('Meta', META, [91, 92], LEFT)],
  [0xffe8, modifier('Meta', META, [91, 92], RIGHT)],
  [0xffeb, modifier('Meta', META, [91, 92], LEFT)],
  [0xffec, modifier('Meta', META, [91, 92], RIGHT)],
  [0xfe03, key('AltGraph', 225, { code: 'AltRight', location: RIGHT })],
  ...Array.from({ length: 24 }, (_none, index): [number, PageKey] => [
    0xffbe + index,
    key(`F${index + 1}`, 112 + index),
  ]),
  ...Array.from({ length: 10 }, (_none, digit): [number, PageKey] => [
    0xffb0 + digit,
    keypad(String(digit), String(digit), 96 + digit, String(digit)),
  ]),
  [0xff80, keypad(' ', 'Space', 32, ' ')],
  [0xff89, keypad('Tab', 'Tab', 9)],
  [0xff8d, keypad('Enter', 'Enter', 13, '\r')],
  [0xffaa, keypad('*', 'Multiply', 106, '*')],
  [0xffab, keypad('+', 'Add', 107, '+')],
  [0xffac, keypad(',', 'Comma', 108, ',')],
  [0xffad, keypad('-', 'Subtract', 109, '-')],
  [0xffae, keypad('.', 'Decimal', 110, '.')],
  [0xffaf, keypad('/', 'Divide', 111, '/')],
  [0xffbd, keypad('=', 'Equal', 187, '=')],
  [0xff95, keypad('Home', '7', 36)],
  [0xff96, keypad('ArrowLeft', '4', 37)],
  [0xff97, keypad('ArrowUp', '8', 38)],
  [0xff98, keypad('ArrowRight', '6', 39)],
  [0xff99, keypad('ArrowDown', '2', 40)],
  [0xff9a, keypad('PageUp', '9', 33)],
  [0xff9b, keypad('PageDown', '3', 34)],
  [0xff9c, keypad('End', '1', 35)],
  [0xff9d, keypad('Clear', '5', 12)],
  [0xff9e, keypad('Insert', '0', 45)],
  [0xff9f, keypad('Delete', 'Decimal', 46)],
])

const byCharacter = new Map<string, PageKey>(
  printable.flatMap(([code, number, plain, shifted]) => [
    [shifted, { key: shifted, code, number, text: shifted, isShifted: shifted !== plain }] as const,
    [plain, { key: plain, code, number, text: plain }] as const,
  ]),
)
const shiftedOf = new Map(printable.map(([, , plain, shifted]) => [plain, shifted]))

/** Undefined for keys that pages do not know. */
export function pageKeyOf(keysym: number, { isShiftHeld }: { isShiftHeld: boolean }): PageKey | undefined {
  const known = named.get(keysym)
  if (known) return known
  const codePoint = characterOfKeysym(keysym)
  if (codePoint === undefined) return undefined
  const character = String.fromCodePoint(codePoint)
  const typed = isShiftHeld ? (shiftedOf.get(character) ?? character) : character
  return byCharacter.get(typed) ?? { key: typed, code: '', number: 0, text: typed }
}
