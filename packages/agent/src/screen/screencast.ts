// Pictures of the page in front, which a headless Chromium makes while somebody watches. It makes the next one
// when the previous one is acknowledged, and none while nothing changes.
import type { CdpConnection, CdpEvent } from '../cdp/cdp-connection.ts'
import type { Chromium } from '../chromium/chromium.ts'
import { ActivePage } from '../cdp/active-page.ts'
import { log } from '../log/log.ts'
import { jpegSize } from '@berth/codecs/video/jpeg-size'

const QUALITY = 70
/** The encoding's limit for a rectangle. */
const MAX_PIXELS = 2048
const MIN_INTERVAL_MS = 1000 / 20

export interface Picture {
  readonly jpeg: Buffer
  readonly width: number
  readonly height: number
  /** The page's size in CSS pixels, the unit of input coordinates. */
  readonly page: { readonly width: number; readonly height: number }
}

interface ScreencastFrame {
  readonly data: string
  readonly metadata: { readonly deviceWidth: number; readonly deviceHeight: number }
  /** Identifies the frame, despite its name. */
  readonly sessionId: number
}

export interface Audience {
  /** Whether the viewer is ready for another picture. */
  readonly isWaiting: boolean
  /** Called when there is a new picture. */
  show(): void
  over(): void
}

export class Screencast {
  readonly #chromium: Chromium
  readonly #audience = new Set<Audience>()
  #cdp: CdpConnection | undefined
  #pages: ActivePage | undefined
  #shown: string | undefined
  #isLooking = false
  #isStale = false
  #last: Picture | undefined
  /** The picture that is not acknowledged yet. */
  #unacknowledged: { readonly sessionId: string; readonly frame: number } | undefined
  #nextAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(chromium: Chromium) {
    this.#chromium = chromium
  }

  get last(): Picture | undefined {
    return this.#last
  }

  join(viewer: Audience): void {
    this.#audience.add(viewer)
    if (this.#audience.size === 1) this.#open().catch((error: unknown) => this.#close(error))
  }

  leave(viewer: Audience): void {
    if (this.#audience.delete(viewer) && this.#audience.size === 0) this.#close()
  }

  /** A viewer is ready for another picture. */
  wanted(): void {
    this.#acknowledge()
  }

  async #open(): Promise<void> {
    const cdp = await this.#chromium.openCdp((event) => this.#onEvent(event))
    // All viewers may have left by now, and others may have connected.
    if (this.#audience.size === 0 || this.#cdp) return cdp.close()
    this.#cdp = cdp
    this.#pages = new ActivePage(cdp, this.#chromium.port)
    void cdp.closed.then(() => this.#onClosed(cdp))
    await cdp.call('Target.setDiscoverTargets', { discover: true })
    await this.#look()
  }

  #onClosed(cdp: CdpConnection): void {
    if (this.#cdp === cdp) this.#close()
  }

  /** Viewers reconnect, and by then there may be a new Chromium. */
  #close(error?: unknown): void {
    if (error && this.#audience.size > 0) log('Cannot show the page', error)
    const audience = [...this.#audience]
    this.#audience.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
    const cdp = this.#cdp
    this.#cdp = undefined
    this.#pages = undefined
    this.#shown = undefined
    this.#unacknowledged = undefined
    this.#last = undefined
    cdp?.close()
    for (const viewer of audience) viewer.over()
  }

  #onEvent({ method, params, sessionId }: CdpEvent): void {
    switch (method) {
      case 'Page.screencastFrame':
        // SAFETY: as the protocol has it; a wrong one harms this instance only.
        if (sessionId !== undefined) this.#take(params as unknown as ScreencastFrame, sessionId)
        break
      case 'Page.screencastVisibilityChanged':
      case 'Target.targetCreated':
      case 'Target.targetDestroyed':
        void this.#look().catch((error: unknown) => this.#close(error))
        break
      default:
    }
  }

  /** Finds the page in front, and repeats if something changed during the search. */
  async #look(): Promise<void> {
    if (this.#isLooking) {
      this.#isStale = true
      return
    }
    this.#isLooking = true
    try {
      do {
        this.#isStale = false
        const [cdp, pages] = [this.#cdp, this.#pages]
        if (!cdp || !pages) return
        const { sessionId } = await pages.find()
        if (sessionId === this.#shown || cdp !== this.#cdp) continue
        if (this.#shown !== undefined) cdp.dispatch('Page.stopScreencast', {}, this.#shown)
        this.#shown = sessionId
        this.#unacknowledged = undefined
        await cdp.call(
          'Page.startScreencast',
          { format: 'jpeg', quality: QUALITY, maxWidth: MAX_PIXELS, maxHeight: MAX_PIXELS },
          sessionId,
        )
      } while (this.#isStale)
    } finally {
      this.#isLooking = false
    }
  }

  #take({ data, metadata, sessionId: frame }: ScreencastFrame, sessionId: string): void {
    if (sessionId !== this.#shown) return
    const jpeg = Buffer.from(data, 'base64')
    const size = jpegSize(jpeg)
    this.#unacknowledged = { sessionId, frame }
    this.#nextAt = performance.now() + MIN_INTERVAL_MS
    if (size) {
      const page = { width: metadata.deviceWidth, height: metadata.deviceHeight }
      this.#last = { jpeg, ...size, page }
      for (const viewer of this.#audience) viewer.show()
    }
    this.#acknowledge()
  }

  /** Acknowledges once the frame interval has passed and any viewer is ready, so a slow viewer does not delay others. */
  #acknowledge(): void {
    if (!this.#unacknowledged || this.#timer) return
    if (![...this.#audience].some((viewer) => viewer.isWaiting)) return
    const left = this.#nextAt - performance.now()
    if (left > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#acknowledge()
      }, left)
      return
    }
    const { sessionId, frame } = this.#unacknowledged
    this.#unacknowledged = undefined
    this.#cdp?.dispatch('Page.screencastFrameAck', { sessionId: frame }, sessionId)
  }
}
