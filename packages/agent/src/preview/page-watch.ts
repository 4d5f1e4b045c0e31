// Small pictures of the page in front of a headless Chromium, from its screencast: the page is not scaled for it, as it is
// for a small screenshot, which clients would see in their own. An unchanged page costs nothing: its screencast stays open
// and sends nothing. When it sends a second picture, the page has changed; then the screencast is closed until somebody
// asks, because an open one takes a picture of every frame of an animation.
import type { CdpConnection, CdpEvent } from '../cdp/cdp-connection.ts'
import { ActivePage } from '../cdp/active-page.ts'
import type { Chromium } from '../chromium/chromium.ts'
import { unlessAborted } from '@berth/kit/abort'
import { QUALITY, type Look, type Watch } from './look.ts'

/** How long a page may take to say whether it is visible. One that hangs is shown, too. */
const LOOK_MS = 250
/** Pages may be tall, as on phones. */
const MAX_HEIGHT_PER_WIDTH = 3

/** How often another page may come to the front during one look. */
const MAX_MOVES = 4

interface Frame {
  readonly data: string
}

export class PageWatch implements Watch {
  readonly #chromium: Chromium
  readonly #width: number
  #opening: Promise<CdpConnection> | undefined
  #pages: ActivePage | undefined
  /** Whether another page may be in front. */
  #mayHaveMoved = true
  #page: string | undefined
  #isOpen = false
  /** How many pictures the open screencast has sent. */
  #count = 0
  #last: Look | undefined
  #next = Promise.withResolvers<void>()
  #isClosed = false

  constructor(chromium: Chromium, width: number) {
    this.#chromium = chromium
    this.#width = width
  }

  async look(signal: AbortSignal): Promise<Look> {
    const cdp = await unlessAborted((this.#opening ??= this.#open()), signal)
    for (let count = 0; count < MAX_MOVES; count++) {
      if (this.#mayHaveMoved) await unlessAborted(this.#follow(cdp), signal)
      const isCurrent = this.#isOpen && this.#count > 0
      if (isCurrent && this.#last) return this.#last
      await unlessAborted(this.#begin(cdp), signal)
      if (this.#last && !this.#mayHaveMoved) return this.#last
    }
    throw new Error('No page stays in front')
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    void this.#opening?.then((cdp) => cdp.close()).catch(() => {})
  }

  async #open(): Promise<CdpConnection> {
    try {
      const cdp = await this.#chromium.openCdp((event) => this.#take(cdp, event))
      if (this.#isClosed) cdp.close()
      void cdp.closed.then(() => this.#forget())
      this.#pages = new ActivePage(cdp, this.#chromium.port, { lookMs: LOOK_MS })
      await cdp.call('Target.setDiscoverTargets', { discover: true })
      return cdp
    } catch (error) {
      this.#forget()
      throw error
    }
  }

  /** Chromium has ended or been restarted; the next look connects again. */
  #forget(): void {
    this.#opening = undefined
    this.#page = undefined
    this.#mayHaveMoved = true
    this.#isOpen = false
  }

  async #follow(cdp: CdpConnection): Promise<void> {
    this.#mayHaveMoved = false
    try {
      const { sessionId } = await this.#pages!.find()
      if (sessionId === this.#page) return
      this.#stop(cdp)
      this.#page = sessionId
      this.#last = undefined
    } catch (error) {
      this.#mayHaveMoved = true
      throw error
    }
  }

  /**
   * Resolves with the first picture, which comes at once, even if nothing moves and even if the page hangs; or when the page
   * says that it is not in front.
   */
  async #begin(cdp: CdpConnection): Promise<void> {
    // One that sent nothing in time would not begin again.
    this.#stop(cdp)
    this.#count = 0
    this.#next = Promise.withResolvers()
    this.#isOpen = true
    const size = { maxWidth: this.#width, maxHeight: this.#width * MAX_HEIGHT_PER_WIDTH }
    await cdp.call('Page.startScreencast', { format: 'jpeg', quality: QUALITY, ...size }, this.#page)
    await this.#next.promise
  }

  #stop(cdp: CdpConnection): void {
    if (this.#isOpen && this.#page !== undefined) cdp.dispatch('Page.stopScreencast', {}, this.#page)
    this.#isOpen = false
  }

  #take(cdp: CdpConnection, { method, params, sessionId }: CdpEvent): void {
    switch (method) {
      case 'Page.screencastFrame':
        // SAFETY: as the protocol has it; a wrong one harms this instance only.
        if (sessionId === this.#page) this.#show(cdp, params as unknown as Frame)
        break
      case 'Page.screencastVisibilityChanged':
        if (sessionId !== this.#page || params['visible'] === true) break
        this.#mayHaveMoved = true
        this.#next.resolve()
        break
      case 'Target.targetCreated':
      case 'Target.targetDestroyed':
      case 'Target.targetCrashed':
        this.#mayHaveMoved = true
        break
      default:
    }
  }

  #show(cdp: CdpConnection, { data }: Frame): void {
    const jpeg = Buffer.from(data, 'base64')
    if (!this.#last?.jpeg.equals(jpeg)) this.#last = { version: newVersion(), jpeg }
    this.#next.resolve()
    if (++this.#count > 1) this.#stop(cdp)
  }
}

let versions = 0
const newVersion = () => `p${Date.now().toString(36)}-${versions++}`
