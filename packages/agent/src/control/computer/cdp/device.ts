// Mouse, keyboard, screen and clipboard of a headless Chromium, over CDP. The page in front is the screen:
// screen coordinates are page coordinates, and a screenshot shows that page.
import type { Region } from '@berth/contracts/computer'
import type { CdpConnection } from '../../../cdp/cdp-connection.ts'
import type { Chromium } from '../../../chromium/chromium.ts'
import type { Size } from '../../../cdp/headless-size.ts'
import { ControlError } from '../../calls/operation.ts'
import type { Button, Device, Point, TypeOptions } from '../device/device.ts'
import { ActivePage } from '../../../cdp/active-page.ts'
import { readClipboard, writeClipboard } from './clipboard.ts'
import { ALT, CONTROL, META, pageKeyOf, SHIFT, type PageKey } from './keys.ts'

/** The same as one wheel tick on a display. */
const WHEEL_TICK = 120
/** A page that takes longer is blocked by a script or a dialog, but has received the input. */
const TAKE_MS = 2_000
const STRETCH = 100
/** Maximum time between the clicks of a double click, as in Chromium on a display. */
const DOUBLE_CLICK_MS = 500
const DOUBLE_CLICK_DISTANCE = 4

const buttonBits: Readonly<Record<Button, number>> = { left: 1, right: 2, middle: 4, back: 8, forward: 16 }

const SHIFT_KEY = pageKeyOf(0xffe1, { isShiftHeld: false })!

interface Click extends Point {
  readonly button: Button
  readonly count: number
  readonly at: number
}

interface Conversation {
  readonly cdp: CdpConnection
  readonly pages: ActivePage
}

export class CdpDevice implements Device {
  readonly #chromium: Chromium
  #conversation: Conversation | undefined
  #sessionId = ''
  #position: Point = { x: 0, y: 0 }
  #buttons = 0
  #modifiers = 0
  #lastClick: Click | undefined
  /** Held keysyms that need Shift. */
  readonly #shiftedFor = new Set<number>()
  readonly #steps = new Set<Promise<unknown>>()

  constructor(chromium: Chromium) {
    this.#chromium = chromium
  }

  get size(): Size {
    return this.#chromium.looks!
  }

  async begin(): Promise<void> {
    if (!this.#conversation) {
      const cdp = await this.#chromium.openCdp()
      const conversation = { cdp, pages: new ActivePage(cdp, this.#chromium.port) }
      this.#conversation = conversation
      void cdp.closed.then(() => this.#forget(conversation))
    }
    this.#sessionId = (await this.#conversation.pages.find()).sessionId
  }

  flush(): void {}

  async done(): Promise<void> {
    if (this.#steps.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, TAKE_MS)
    await Promise.race([Promise.all(this.#steps), promise])
    clearTimeout(timer)
    this.#steps.clear()
    if (!this.#conversation) throw new Error('The connection to Chromium was lost')
  }

  async position(): Promise<Point> {
    return this.#position
  }

  moveTo({ x, y }: Point): void {
    this.#position = { x, y }
    this.#mouse('mouseMoved')
  }

  press(button: Button): void {
    const { x, y } = this.#position
    const last = this.#lastClick
    const at = performance.now()
    const isAgain =
      last?.button === button &&
      at - last.at < DOUBLE_CLICK_MS &&
      Math.hypot(x - last.x, y - last.y) <= DOUBLE_CLICK_DISTANCE
    this.#lastClick = { x, y, button, at, count: isAgain ? last.count + 1 : 1 }
    this.#buttons |= buttonBits[button]
    this.#mouse('mousePressed', { button, clickCount: this.#lastClick.count })
  }

  release(button: Button): void {
    this.#buttons &= ~buttonBits[button]
    this.#mouse('mouseReleased', { button, clickCount: this.#lastClick?.count ?? 1 })
  }

  turnWheel(direction: 'up' | 'down' | 'left' | 'right'): void {
    const ticks = direction === 'down' || direction === 'right' ? WHEEL_TICK : -WHEEL_TICK
    const isDown = direction === 'up' || direction === 'down'
    this.#mouse('mouseWheel', { deltaX: isDown ? 0 : ticks, deltaY: isDown ? ticks : 0 })
  }

  async provideKeys(keysyms: readonly number[]): Promise<void> {
    const unknown = keysyms.find((keysym) => !pageKeyOf(keysym, { isShiftHeld: false }))
    if (unknown === undefined) return
    const name = unknown.toString(16)
    throw new ControlError('bad_request', `Cannot press keysym 0x${name}: a headless browser has no such key`)
  }

  pressKey(keysym: number): void {
    const key = this.#keyFor(keysym)
    if (key.isShifted && !(this.#modifiers & SHIFT)) {
      this.#shiftedFor.add(keysym)
      this.#key('down', SHIFT_KEY)
    }
    this.#key('down', key)
  }

  releaseKey(keysym: number): void {
    this.#key('up', this.#keyFor(keysym))
    if (this.#shiftedFor.delete(keysym)) this.#key('up', SHIFT_KEY)
  }

  async type(keysyms: readonly number[], { between, signal }: TypeOptions): Promise<void> {
    for (const [index, keysym] of keysyms.entries()) {
      this.pressKey(keysym)
      this.releaseKey(keysym)
      if (between && index < keysyms.length - 1) await between()
      if (index % STRETCH === STRETCH - 1) await this.done()
      signal.throwIfAborted()
    }
  }

  async capture(region: Region): Promise<Buffer> {
    const isWhole = region.width === this.size.width && region.height === this.size.height
    const clip = isWhole ? undefined : await this.#clipOf(region)
    const options = { format: 'png', optimizeForSpeed: true, ...(clip && { clip }) }
    const { data } = await this.#cdp.call<{ data: string }>(
      'Page.captureScreenshot',
      options,
      this.#sessionId,
    )
    return Buffer.from(data, 'base64')
  }

  /** A headless browser has no cursor. */
  async setCursorHidden(): Promise<void> {}

  async readClipboard(): Promise<string> {
    return readClipboard(this.#cdp)
  }

  async writeClipboard(text: string): Promise<void> {
    await writeClipboard(this.#cdp, text)
  }

  #forget(conversation: Conversation): void {
    if (this.#conversation === conversation) this.#conversation = undefined
  }

  #keyFor(keysym: number): PageKey {
    const key = pageKeyOf(keysym, { isShiftHeld: (this.#modifiers & SHIFT) !== 0 })
    if (!key) throw new Error(`No key gives the keysym ${keysym.toString(16)}`)
    return key
  }

  #key(direction: 'down' | 'up', key: PageKey): void {
    const { modifier = 0, text } = key
    if (direction === 'down') this.#modifiers |= modifier
    else this.#modifiers &= ~modifier
    // With one of these modifiers a key is a command, not a character.
    const isTyped = direction === 'down' && text !== undefined && !(this.#modifiers & (ALT | CONTROL | META))
    this.#step('Input.dispatchKeyEvent', {
      type: direction === 'up' ? 'keyUp' : isTyped ? 'keyDown' : 'rawKeyDown',
      key: key.key,
      code: key.code,
      windowsVirtualKeyCode: key.number,
      modifiers: this.#modifiers,
      location: key.location ?? 0,
      isKeypad: key.isKeypad ?? false,
      ...(isTyped && { text, unmodifiedText: text }),
    })
  }

  #mouse(type: string, more: object = {}): void {
    const options = { type, ...this.#position, modifiers: this.#modifiers, buttons: this.#buttons, ...more }
    this.#step('Input.dispatchMouseEvent', options)
  }

  /** Ignores failures, because a click may close the page before it answers. */
  #step(method: string, params: object): void {
    const step = this.#cdp.call(method, params, this.#sessionId).catch(() => {})
    this.#steps.add(step)
  }

  /** Clip coordinates start at the top of the document, which may be scrolled out of view. */
  async #clipOf({ x, y, width, height }: Region): Promise<object> {
    const { cssVisualViewport: seen } = await this.#cdp.call<{
      cssVisualViewport: { pageX: number; pageY: number }
    }>('Page.getLayoutMetrics', {}, this.#sessionId)
    return { x: seen.pageX + x, y: seen.pageY + y, width, height, scale: 1 }
  }

  get #cdp(): CdpConnection {
    if (!this.#conversation) throw new Error('The connection to Chromium is lost')
    return this.#conversation.cdp
  }
}
