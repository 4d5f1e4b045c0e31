// The keyboard of a phone types only into text fields, and may change earlier text. So an invisible field has the focus,
// and its changes become keys.
import type RFB from '@novnc/novnc'
import { element } from '../shared/elements.ts'
import { keysymOf, keysyms } from './keys.ts'

/** The field must not be empty; otherwise deleting would cause no event. */
const FILLER = ' '.repeat(64)
const MAX_FIELD_LENGTH = 512

export class Typing {
  readonly #rfb: () => RFB | undefined
  readonly #field = element('typing') as HTMLTextAreaElement
  readonly #button = element('keyboard')
  #before = FILLER
  #isComposing = false

  constructor(rfb: () => RFB | undefined) {
    this.#rfb = rfb
    this.#button.hidden = !matchMedia('(any-pointer: coarse)').matches
    // Not on click, because a click would take the focus from the field first.
    this.#button.addEventListener('pointerdown', (event) => {
      event.preventDefault()
      this.#toggle()
    })
    this.#button.addEventListener('click', (event) => {
      const isByKey = event.detail === 0
      if (isByKey) this.#toggle()
    })
    for (const event of ['focus', 'blur']) this.#field.addEventListener(event, () => this.update())
    this.#field.addEventListener('compositionstart', () => (this.#isComposing = true))
    this.#field.addEventListener('compositionend', () => (this.#isComposing = false))
    this.#field.addEventListener('input', () => this.#onInput())
    // Keys that change no text, such as arrows and Tab.
    this.#field.addEventListener('keydown', (event) => this.#onKey(event))
    this.#reset()
  }

  get isOpen(): boolean {
    return document.activeElement === this.#field
  }

  /** Keeps the keyboard open when the person taps on the screen. */
  update(): void {
    this.#button.setAttribute('aria-pressed', String(this.isOpen))
    const rfb = this.#rfb()
    if (rfb) rfb.focusOnClick = !this.isOpen
  }

  #toggle(): void {
    if (this.isOpen) this.#field.blur()
    else this.#field.focus({ preventScroll: true })
  }

  #onInput(): void {
    const rfb = this.#rfb()
    const now = this.#field.value
    let same = 0
    while (same < now.length && now[same] === this.#before[same]) same++
    const deleted = Array.from(this.#before.slice(same)).length
    if (rfb) {
      for (let count = 0; count < deleted; count++) rfb.sendKey(keysyms.backspace, 'Backspace')
      for (const character of now.slice(same)) rfb.sendKey(keysymOf(character), null)
    }
    this.#before = now
    const isWornOut = now.length > MAX_FIELD_LENGTH || now.length < FILLER.length / 2
    if (isWornOut && !this.#isComposing) this.#reset()
  }

  #onKey(event: KeyboardEvent): void {
    const keysym = others[event.key]
    if (keysym === undefined || event.isComposing) return
    event.preventDefault()
    this.#rfb()?.sendKey(keysym, event.code || null)
  }

  #reset(): void {
    this.#field.value = FILLER
    this.#before = FILLER
    this.#field.setSelectionRange(FILLER.length, FILLER.length)
  }
}

const others: Readonly<Record<string, number>> = {
  Tab: 0xff09,
  Escape: 0xff1b,
  ArrowLeft: 0xff51,
  ArrowUp: 0xff52,
  ArrowRight: 0xff53,
  ArrowDown: 0xff54,
}
