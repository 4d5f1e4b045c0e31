// Copy and paste between this device and the session. Pasting needs no permission, because the browser passes on what the
// person pastes. Copying needs one; if the browser refuses, the panel shows the text.
import type RFB from '@novnc/novnc'
import { element } from '../shared/elements.ts'
import { keysyms, keysymOf } from './keys.ts'
import { toast } from '../shared/toasts.ts'

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)
/** Apple devices use Command, all others Control. */
const APPLE_SHORTCUTS = 'acxyzft'
/** How long after the viewer copied the text of the session may arrive. */
const COPY_WITHIN_MS = 3_000
/** After this time the session has the text; it sends no confirmation. */
const PASTE_AFTER_MS = 60

export interface ClipboardOptions {
  readonly rfb: () => RFB | undefined
  readonly onFiles: (files: Iterable<File>) => void
}

export class Clipboard {
  readonly #options: ClipboardOptions
  readonly #panel = element('clipboard-panel')
  readonly #text = element('clipboard-text') as HTMLTextAreaElement
  readonly #button = element('clipboard')
  #isControlHeld = false
  #copiedAt = -Infinity

  constructor(options: ClipboardOptions) {
    this.#options = options
    this.#button.addEventListener('click', () => this.#toggle())
    element('clipboard-send').addEventListener('click', () => {
      this.#options.rfb()?.clipboardPasteFrom(this.#text.value)
      this.#toggle(false)
      toast('Sent: paste it in the session')
    })
    element('clipboard-copy').addEventListener('click', () => void this.#copy(this.#text.value))
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#toggle(false)
      event.stopPropagation()
    })
    // Before noVNC, which would handle the keys, so that the browser would not paste.
    document.addEventListener('keydown', (event) => this.#onKey(event), { capture: true })
    document.addEventListener(
      'keyup',
      (event) => {
        if (event.key === 'Control') this.#isControlHeld = false
      },
      { capture: true },
    )
    window.addEventListener('blur', () => (this.#isControlHeld = false))
    document.addEventListener('paste', (event) => this.#onPaste(event))
  }

  /**
   * Something was copied in the session. It reaches this device's clipboard only after the viewer copied; otherwise any
   * page in there could put there what the viewer pastes next. The panel has it in any case.
   */
  received(text: string): void {
    this.#text.value = text
    if (performance.now() - this.#copiedAt > COPY_WITHIN_MS || !document.hasFocus()) return
    this.#copiedAt = -Infinity
    navigator.clipboard?.writeText(text).catch(() => {})
  }

  #toggle(isOpen = this.#panel.hidden): void {
    this.#panel.hidden = !isOpen
    this.#button.setAttribute('aria-expanded', String(isOpen))
    element('tools').dataset['open'] = String(isOpen)
    if (isOpen) this.#text.focus()
    else this.#options.rfb()?.focus()
  }

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      // The page is embedded without the permission.
      this.#text.select()
      document.execCommand('copy')
    }
    toast('Copied')
  }

  #onKey(event: KeyboardEvent): void {
    const rfb = this.#options.rfb()
    if (!rfb || !this.#isForScreen(event)) return
    const key = event.key.toLowerCase()
    if (event.key === 'Control') this.#isControlHeld = true
    const isCommand = isApple ? event.metaKey : event.ctrlKey
    if (!isCommand || event.altKey) return
    if (event.isTrusted && (key === 'c' || key === 'x')) this.#copiedAt = performance.now()
    if (key === 'v') {
      // The browser pastes, and noVNC does not see the keys.
      event.stopImmediatePropagation()
      return
    }
    if (!isApple || !APPLE_SHORTCUTS.includes(key)) return
    event.stopImmediatePropagation()
    event.preventDefault()
    this.#shortcut(rfb, key)
  }

  #onPaste(event: ClipboardEvent): void {
    const rfb = this.#options.rfb()
    if (!rfb || !this.#isForScreen(event)) return
    event.preventDefault()
    const { files } = event.clipboardData ?? {}
    if (files && files.length > 0) return this.#options.onFiles(files)
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (text) rfb.clipboardPasteFrom(text)
    setTimeout(() => this.#shortcut(rfb, 'v'), text ? PASTE_AFTER_MS : 0)
  }

  #isForScreen({ target }: Event): boolean {
    const own = [this.#panel, element('handover')]
    return !(target instanceof Node && own.some((part) => part.contains(target)))
  }

  #shortcut(rfb: RFB, key: string): void {
    const code = `Key${key.toUpperCase()}`
    // The person still holds Control, so it must stay pressed in the session too.
    if (this.#isControlHeld) return rfb.sendKey(keysymOf(key), code)
    // Command was sent when it was pressed. Releases it, so that the session does not combine it with this shortcut.
    if (isApple) {
      rfb.sendKey(keysyms.superLeft, 'MetaLeft', false)
      rfb.sendKey(keysyms.superRight, 'MetaRight', false)
    }
    rfb.sendKey(keysyms.controlLeft, 'ControlLeft', true)
    rfb.sendKey(keysymOf(key), code)
    rfb.sendKey(keysyms.controlLeft, 'ControlLeft', false)
  }
}
