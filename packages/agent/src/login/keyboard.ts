// Sends real key events, so that pages get the same key and input events as from a user.
import type { CdpConnection } from '../cdp/cdp-connection.ts'
import { keysymOfCharacter } from '../control/computer/keys/keysyms.ts'
import { ALT, CONTROL, META, pageKeyOf, SHIFT, type PageKey } from '../control/computer/cdp/keys.ts'

/** Do not wait longer for a slow page. It still gets the event. */
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

  /** Types one character. */
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

  /** Inserts the whole text, like a paste. */
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

  /** Ignores errors, because a key may make the page navigate before it responds. */
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

/** Undefined for characters without a key, such as a tab inside a text. */
function keyOf(character: string): PageKey | undefined {
  if (/\p{C}/u.test(character)) return undefined
  const keysym = keysymOfCharacter(character.codePointAt(0)!)
  return keysym === undefined ? undefined : pageKeyOf(keysym, { isShiftHeld: false })
}
