// A page that keeps what it sees of mouse and keyboard, and has a field of each kind.
import { setTimeout as delay } from 'node:timers/promises'
import type { CdpConnection } from '../../../chromium/cdp-connection.ts'
import { attachToFirstPage } from '../../../chromium/settle.ts'

const PAGE = `<!doctype html><meta charset="utf-8"><title>Events</title>
<style>body { margin: 0; height: 3000px; width: 3000px; background: #fff }
  #red { position: absolute; left: 40px; top: 40px; width: 60px; height: 50px; background: #ff0000 }
  #input, #area, #rich { position: absolute; left: 200px; width: 400px }
  #input { top: 40px } #area { top: 100px; height: 120px } #rich { top: 260px; min-height: 40px }</style>
<div id="red"></div><input id="input"><textarea id="area"></textarea>
<div id="rich" contenteditable style="white-space: pre-wrap"></div>
<script>
  window.seen = []
  const kinds = ['mousedown', 'mouseup', 'click', 'dblclick', 'auxclick', 'contextmenu', 'wheel', 'keydown', 'keyup',
    'copy', 'paste']
  // Once for each frame.
  addEventListener('mousemove', (event) => keep('move', event), true)
  for (const kind of kinds) addEventListener(kind, (event) => {
    keep(kind, event)
    if (kind === 'contextmenu') event.preventDefault()
    // Otherwise it leads to the next field.
    if (kind === 'keydown' && event.key === 'Tab' && event.target.id) {
      event.preventDefault()
      document.execCommand('insertText', false, '\\t')
    }
  }, { capture: true, passive: false })
  function keep(kind, event) {
    const { isTrusted, clientX, clientY, screenX, screenY, button, buttons, detail, key, code, deltaX, deltaY } = event
    const modifiers = ['ctrl', 'shift', 'alt', 'meta'].filter((name) => event[name + 'Key']).join('+')
    seen.push({ kind, isTrusted, clientX, clientY, screenX, screenY, button, buttons, detail, key, code, deltaX, deltaY,
      modifiers, at: event.timeStamp })
  }
</script>`

export interface Seen {
  readonly kind: string
  readonly isTrusted: boolean
  readonly clientX: number
  readonly clientY: number
  readonly screenX: number
  readonly screenY: number
  readonly button: number
  readonly buttons: number
  readonly detail: number
  readonly key: string
  readonly code: string
  readonly deltaX: number
  readonly deltaY: number
  readonly modifiers: string
  /** When it was made, not when the page came to see it. */
  readonly at: number
}

export type Field = 'input' | 'area' | 'rich'

const WAIT_MS = 10_000

export class EventPage {
  readonly cdp: CdpConnection
  readonly #sessionId: string
  /** Where the page begins on the screen. */
  left = 0
  top = 0

  private constructor(cdp: CdpConnection, sessionId: string) {
    this.cdp = cdp
    this.#sessionId = sessionId
  }

  static async open(cdp: CdpConnection, { headless }: { headless: boolean }): Promise<EventPage> {
    const { sessionId } = await attachToFirstPage(cdp)
    const page = new EventPage(cdp, sessionId)
    await page.call('Page.navigate', { url: `data:text/html;charset=utf-8,${encodeURIComponent(PAGE)}` })
    await page.until('document.title === "Events" && document.readyState === "complete"')
    // Without a screen the page is all there is of one.
    if (headless) return page
    const place = '[screenX + (outerWidth - innerWidth), screenY + (outerHeight - innerHeight)]'
    const [left, top] = await page.evaluate<[number, number]>(place)
    page.left = left
    page.top = top
    return page
  }

  call<T = unknown>(method: string, params: object = {}): Promise<T> {
    return this.cdp.call<T>(method, params, this.#sessionId)
  }

  async evaluate<T = unknown>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.call<{
      result: { value: T }
      exceptionDetails?: { exception?: { description: string } }
    }>('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description)
    return result.value
  }

  async until(condition: string): Promise<void> {
    const deadline = performance.now() + WAIT_MS
    while (!(await this.evaluate<boolean>(condition))) {
      if (performance.now() > deadline) throw new Error(`Not after ${WAIT_MS} ms: ${condition}`)
      await delay(10)
    }
  }

  /** A point of the page as the screen has it. */
  at(x: number, y: number): { x: number; y: number } {
    return { x: this.left + x, y: this.top + y }
  }

  async forget(): Promise<void> {
    await this.evaluate('seen.length = 0')
  }

  /** What was seen of these kinds, once there are so many. */
  async seen(kinds: readonly string[], count: number): Promise<Seen[]> {
    const chosen = `seen.filter(({ kind }) => ${JSON.stringify(kinds)}.includes(kind))`
    await this.until(`${chosen}.length >= ${count}`)
    return this.evaluate<Seen[]>(chosen)
  }

  async focus(field: Field): Promise<void> {
    await this.evaluate(`${field}.focus(); ${field}.value = ''; ${field}.textContent = ''`)
  }

  /** What is in a field, once it is as long as expected, or when it does not grow any more. */
  async textOf(field: Field, length: number): Promise<string> {
    const text = field === 'rich' ? 'rich.innerText' : `${field}.value`
    await this.until(`${text}.length >= ${length}`).catch(() => {})
    return this.evaluate<string>(text)
  }
}
