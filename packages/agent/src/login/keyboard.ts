// Real keys, for the page that has them: whoever listens to keys, to input or to both sees what a person would cause.
import type { CdpConnection } from '../chromium/cdp-connection.ts'
import { keysymOfCharacter } from '../control/computer/keys/keysyms.ts'
import { ALT, CONTROL, META, pageKeyOf, SHIFT, type PageKey } from '../control/computer/cdp/keys.ts'

/** What a page takes longer for is held up; it has it all the same. */
const TAKE_MS = 3_000

const ENTER: PageKey = { key: 'Enter', code: 'Enter', number: 13, text: '\r' }
const BACKSPACE: PageKey = { key: 'Backspace', code: 'Backspace', number: 8 }
const SHIFT_KEY: PageKey = { key: 'Shift', code: 'ShiftLeft', number: 16, location: 1, modifier: SHIFT }

export class Keyboard {
  readonly #cdp: CdpConnection
  readonly #sessionId: string

  constructor(cdp: CdpConnection, sessionId: string) {
    this.#cdp = cdp
    this.#sessionId = sessionId
  }

  /** One character. */
  async type(character: string): Promise<void> {
    const key = keyOf(character)
    if (!key) return this.insert(character)
    if (key.isShifted) void this.#send('down', SHIFT_KEY, SHIFT)
    const modifiers = key.isShifted ? SHIFT : 0
    const isTaken = this.#send('down', key, modifiers)
    void this.#send('up', key, modifiers)
    if (key.isShifted) void this.#send('up', SHIFT_KEY, 0)
    await isTaken
  }

  /** All at once, as if it was pasted. */
  async insert(text: string): Promise<void> {
    await this.#cdp.call('Input.insertText', { text }, this.#sessionId, TAKE_MS).catch(() => {})
  }

  async enter(): Promise<void> {
    const isTaken = this.#send('down', ENTER, 0)
    void this.#send('up', ENTER, 0)
    await isTaken
  }

  async backspace(): Promise<void> {
    const isTaken = this.#send('down', BACKSPACE, 0)
    void this.#send('up', BACKSPACE, 0)
    await isTaken
  }

  /** A page may be gone with a key, and take the answer with it: that is no failure. */
  async #send(direction: 'down' | 'up', key: PageKey, modifiers: number): Promise<void> {
    const isTyped = direction === 'down' && key.text !== undefined && !(modifiers & (ALT | CONTROL | META))
    const event = {
      type: direction === 'up' ? 'keyUp' : isTyped ? 'keyDown' : 'rawKeyDown',
      key: key.key,
      code: key.code,
      windowsVirtualKeyCode: key.number,
      modifiers,
      location: key.location ?? 0,
      ...(isTyped && { text: key.text, unmodifiedText: key.text }),
    }
    await this.#cdp.call('Input.dispatchKeyEvent', event, this.#sessionId, TAKE_MS).catch(() => {})
  }
}

/** Undefined for what no key gives, such as a tabulator in a text. */
function keyOf(character: string): PageKey | undefined {
  if (/\p{C}/u.test(character)) return undefined
  const keysym = keysymOfCharacter(character.codePointAt(0)!)
  return keysym === undefined ? undefined : pageKeyOf(keysym, { isShiftHeld: false })
}
