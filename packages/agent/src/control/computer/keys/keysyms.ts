// Finds keysyms by the names that X, xdotool and pages use.
import { ControlError } from '../../calls/operation.ts'
import { KEYSYM_ALIASES, KEYSYM_NAMES } from './keysym-names.ts'

/** Added to the code point of a character beyond Latin-1 to get its keysym. */
const UNICODE = 0x01000000

export const RETURN = 0xff0d
export const TAB = 0xff09
export const BACKSPACE = 0xff08
export const ESCAPE = 0xff1b
export const DELETE = 0xffff
export const SHIFT_L = 0xffe1

// In lower case: xdotool's names beyond those of X, and the DOM key names.
const FURTHER_NAMES: Readonly<Record<string, string>> = {
  alt: 'Alt_L',
  option: 'Alt_L',
  altgr: 'ISO_Level3_Shift',
  ctrl: 'Control_L',
  control: 'Control_L',
  shift: 'Shift_L',
  meta: 'Super_L',
  super: 'Super_L',
  cmd: 'Super_L',
  command: 'Super_L',
  win: 'Super_L',
  enter: 'Return',
  return: 'Return',
  esc: 'Escape',
  del: 'Delete',
  ins: 'Insert',
  spacebar: 'space',
  backspace: 'BackSpace',
  capslock: 'Caps_Lock',
  numlock: 'Num_Lock',
  scrolllock: 'Scroll_Lock',
  printscreen: 'Print',
  pageup: 'Page_Up',
  pagedown: 'Page_Down',
  pgup: 'Page_Up',
  pgdn: 'Page_Down',
  arrowup: 'Up',
  arrowdown: 'Down',
  arrowleft: 'Left',
  arrowright: 'Right',
  contextmenu: 'Menu',
}

/** The keys for control characters in a text. */
const CONTROLS: Readonly<Record<number, number>> = {
  0x08: BACKSPACE,
  0x09: TAB,
  0x0a: RETURN,
  0x0d: RETURN,
  0x1b: ESCAPE,
  0x7f: DELETE,
}

let byName: Map<string, number> | undefined
let bySmallName: Map<string, number> | undefined

/** Read on first use, because most instances never need it. */
function readNames(): Map<string, number> {
  const names = new Map<string, number>()
  let keysym = 0
  for (const word of KEYSYM_NAMES.split('\n').flatMap((line) => splitLine(line))) {
    if (typeof word === 'number') keysym = word
    else {
      if (word !== '-') names.set(word, keysym)
      keysym++
    }
  }
  for (const pair of KEYSYM_ALIASES.split(/\s+/)) {
    const [alias = '', name = ''] = pair.split('=')
    const meant = names.get(name)
    if (meant !== undefined) names.set(alias, meant)
  }
  return names
}

/** The words of a line; an unindented line starts with a number. */
function splitLine(line: string): (string | number)[] {
  const [first = '', ...words] = line.split(' ')
  return first === '' ? words : [Number.parseInt(first, 16), ...words]
}

export function keysymOfCharacter(codePoint: number): number | undefined {
  if (codePoint < 0x20 || codePoint === 0x7f) return CONTROLS[codePoint]
  if (codePoint < 0x80 || (codePoint >= 0xa0 && codePoint <= 0xff)) return codePoint
  return codePoint < 0xa0 ? undefined : UNICODE + codePoint
}

export function characterOfKeysym(keysym: number): number | undefined {
  if ((keysym >= 0x20 && keysym < 0x7f) || (keysym >= 0xa0 && keysym <= 0xff)) return keysym
  return keysym > UNICODE && keysym <= UNICODE + 0x10ffff ? keysym - UNICODE : undefined
}

function keysymOfName(name: string): number {
  byName ??= readNames()
  const exact = byName.get(name)
  if (exact !== undefined) return exact
  const [character, ...more] = name
  if (more.length === 0) {
    const keysym = keysymOfCharacter(character!.codePointAt(0)!)
    if (keysym !== undefined) return keysym
  }
  const small = name.toLowerCase()
  const further = Object.hasOwn(FURTHER_NAMES, small) ? byName.get(FURTHER_NAMES[small]!) : undefined
  if (further !== undefined) return further
  const number = /^U([0-9A-Fa-f]{4,6})$/.exec(name)?.[1]
  const codePoint = number === undefined ? Number.NaN : Number.parseInt(number, 16)
  if (codePoint >= 0xa0 && codePoint <= 0x10ffff) return keysymOfCharacter(codePoint)!
  bySmallName ??= new Map([...byName].toReversed().map(([known, keysym]) => [known.toLowerCase(), keysym]))
  const inAnyCase = bySmallName.get(small)
  if (inAnyCase === undefined)
    throw new ControlError('bad_request', `Cannot press "${name}": there is no such key`)
  return inAnyCase
}

/** Refuses lone surrogates, which JSON allows. */
export function checkWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new ControlError('bad_request', 'text: must be whole characters')
}

/** The keys of "ctrl+shift+t", in that order. */
export function keysymsOf(combination: string): number[] {
  // A plus after a plus, or alone, is the plus key.
  const names =
    combination === '+'
      ? ['plus']
      : combination.endsWith('++')
        ? [...combination.slice(0, -2).split('+'), 'plus']
        : combination.split('+')
  return names.map((name) => {
    if (name === '')
      throw new ControlError('bad_request', `Cannot press "${combination}": a key is missing in it`)
    return keysymOfName(name)
  })
}

/** The keys that type a text, one per character; CR LF counts as one. */
export function keysymsOfText(text: string): number[] {
  checkWellFormed(text)
  const keysyms: number[] = []
  for (const character of text.replaceAll('\r\n', '\n')) {
    const codePoint = character.codePointAt(0)!
    const keysym = keysymOfCharacter(codePoint)
    if (keysym === undefined) {
      const name = codePoint.toString(16).toUpperCase().padStart(4, '0')
      throw new ControlError('bad_request', `Cannot type U+${name}: it is a control character`)
    }
    keysyms.push(keysym)
  }
  return keysyms
}
