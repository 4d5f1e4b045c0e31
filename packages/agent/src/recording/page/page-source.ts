// Pictures of a headless session, from Chromium's screencast of the front page. Chromium sends a picture when the page
// has painted, and the next one when this one was acknowledged.
import type { CdpConnection, CdpEvent } from '../../cdp/cdp-connection.ts'
import type { Chromium } from '../../chromium/chromium.ts'
import { ActivePage } from '../../cdp/active-page.ts'
import { evenSize, type PictureSource, type SourceEvents } from '../pictures/picture-source.ts'

const QUALITY = 85
const BOUNDARY = 'picture'
const LOOK_AGAIN_MS = 100
/** If the page paints nothing for this long and a picture may be missing, a screenshot replaces it. */
const STILL_MS = 250
/** Chromium sends at most this many without an acknowledgement. */
const FRAMES_IN_FLIGHT = 2
/** A picture is hardly older than this; the clock of the machine may have been set. */
const MAX_AGE_MS = 2_000

export async function openPage(chromium: Chromium, events: SourceEvents): Promise<PictureSource> {
  let page: PageSource | undefined
  const cdp = await chromium.openCdp((event) => page?.take(event))
  page = new PageSource(cdp, chromium, events)
  await page.start()
  return page.source
}

class PageSource {
  readonly #cdp: CdpConnection
  readonly #pages: ActivePage
  readonly #events: SourceEvents
  readonly #chromium: Chromium
  #isClosed = false
  #sessionId: string | undefined
  #picture: Buffer | undefined
  #shownAt: number | undefined
  /** Acknowledged when the picture is used, so that Chromium does not make more than are needed. */
  #unanswered: { readonly frame: number; readonly sessionId: string }[] = []
  #lookTimer: NodeJS.Timeout | undefined
  #stillTimer: NodeJS.Timeout | undefined
  readonly source: PictureSource

  constructor(cdp: CdpConnection, chromium: Chromium, events: SourceEvents) {
    this.#cdp = cdp
    this.#chromium = chromium
    this.#pages = new ActivePage(cdp, chromium.port)
    this.#events = events
    const size = evenSize(chromium.looks!)
    const { width, height } = size
    this.source = {
      size,
      // Multipart, because its parts have lengths. Without them, ffmpeg would know the end of a picture only with the next one.
      input: ['-f', 'mpjpeg'],
      // A page may be emulated in another size.
      filter:
        `scale=${width}:${height}:force_original_aspect_ratio=decrease:out_color_matrix=bt709:out_range=tv,` +
        `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2`,
      take: (work) => this.#hand(work),
      [Symbol.dispose]: () => this.#close(),
    }
    void cdp.closed.then(() => this.#isClosed || events.onLost())
  }

  async start(): Promise<void> {
    await this.#cdp.call('Target.setDiscoverTargets', { discover: true })
    await this.#follow()
    if (!this.#picture) this.#takeStillSoon()
  }

  take({ method, params, sessionId }: CdpEvent): void {
    switch (method) {
      case 'Page.screencastFrame':
        if (sessionId === undefined || sessionId !== this.#sessionId) return
        clearTimeout(this.#stillTimer)
        this.#unanswered.push({ frame: params['sessionId'] as number, sessionId })
        return this.#show(Buffer.from(params['data'] as string, 'base64'), shownAt(params['metadata']))
      case 'Page.screencastVisibilityChanged':
      case 'Target.targetCreated':
      case 'Target.targetDestroyed':
        return this.#lookAgain()
    }
  }

  #show(jpeg: Buffer, at?: number): void {
    this.#picture = jpeg
    this.#shownAt = at
    this.#events.onChange()
  }

  async #hand(work: (picture: Buffer, shownAt?: number) => Promise<void>): Promise<number> {
    const jpeg = this.#picture
    const at = this.#shownAt
    if (!jpeg) return 0
    this.#picture = undefined
    const answered = this.#unanswered
    this.#unanswered = []
    const head = `--${BOUNDARY}\r\nContent-type: image/jpeg\r\nContent-length: ${jpeg.length}\r\n\r\n`
    await work(Buffer.concat([Buffer.from(head), jpeg, Buffer.from('\r\n')]), at)
    if (this.#isClosed) return 1
    for (const { frame, sessionId } of answered) {
      this.#cdp.dispatch('Page.screencastFrameAck', { sessionId: frame }, sessionId)
    }
    // Chromium makes no more without an acknowledgement, and the one it left out may have been the last.
    if (answered.length >= FRAMES_IN_FLIGHT) this.#takeStillSoon()
    return 1
  }

  /** Follows the front page, which may have changed. */
  #lookAgain(): void {
    this.#lookTimer ??= setTimeout(() => {
      this.#lookTimer = undefined
      this.#follow().catch(() => {})
    }, LOOK_AGAIN_MS)
  }

  async #follow(): Promise<void> {
    const { sessionId } = await this.#pages.find()
    if (this.#isClosed || sessionId === this.#sessionId) return
    const before = this.#sessionId
    this.#sessionId = sessionId
    this.#unanswered = []
    if (before !== undefined) this.#cdp.dispatch('Page.stopScreencast', {}, before)
    const { width, height } = this.#chromium.looks!
    await this.#cdp.call('Page.enable', {}, sessionId)
    await this.#cdp.call(
      'Page.startScreencast',
      { format: 'jpeg', quality: QUALITY, maxWidth: width, maxHeight: height, everyNthFrame: 1 },
      sessionId,
    )
  }

  /** Takes a screenshot, unless the screencast sends a picture first. */
  #takeStillSoon(): void {
    clearTimeout(this.#stillTimer)
    this.#stillTimer = setTimeout(() => void this.#takeStill().catch(() => {}), STILL_MS)
  }

  async #takeStill(): Promise<void> {
    const sessionId = this.#sessionId
    if (this.#isClosed || sessionId === undefined) return
    const { data } = await this.#cdp.call<{ data: string }>(
      'Page.captureScreenshot',
      { format: 'jpeg', quality: QUALITY, optimizeForSpeed: true },
      sessionId,
    )
    if (!this.#picture && !this.#isClosed && sessionId === this.#sessionId)
      this.#show(Buffer.from(data, 'base64'))
  }

  #close(): void {
    this.#isClosed = true
    clearTimeout(this.#lookTimer)
    clearTimeout(this.#stillTimer)
    this.#cdp.close()
  }
}

/**
 * Chromium says when it showed a picture. Until the picture is here, a busy machine takes long, and its sound was played
 * before.
 */
function shownAt(metadata: unknown): number | undefined {
  const { timestamp } = (metadata ?? {}) as { timestamp?: unknown }
  if (typeof timestamp !== 'number') return undefined
  const ageMs = Date.now() - timestamp * 1000
  return ageMs >= 0 && ageMs < MAX_AGE_MS ? performance.now() - ageMs : undefined
}
