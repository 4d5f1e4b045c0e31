// Takes a screenshot when something happens, at most one every two seconds, and none of an idle page. Takes none of a
// login with secrets, because a page may show them anywhere.
import type { Scene, Target } from './target.ts'

const EVERY_MS = 2_000
/** Delay after an event, so that its effect is visible. */
const DELAY_MS = 150
const ANSWER_MS = 5_000
const MAX_BYTES = 730 * 1024
const MAX_ATTEMPTS = 4
const MIN_SCALE = 0.1

interface Metrics {
  readonly cssVisualViewport: {
    readonly pageX: number
    readonly pageY: number
    readonly clientWidth: number
    readonly clientHeight: number
  }
}

export class ScreenshotWatch {
  readonly #scene: Scene
  #takenAt = -Infinity
  #isBusy = false
  #timer: NodeJS.Timeout | undefined
  #scale = 1

  constructor(scene: Scene) {
    this.#scene = scene
  }

  onActivity(target: Target): void {
    if (!this.#isWanted || target.type !== 'page' || this.#timer || this.#isBusy) return
    const wait = Math.max(DELAY_MS, this.#takenAt + EVERY_MS - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#isBusy = true
      this.#takenAt = performance.now()
      void this.#take(target)
        // The page is gone or does not paint.
        .catch(() => {})
        .finally(() => (this.#isBusy = false))
    }, wait)
  }

  get #isWanted(): boolean {
    return this.#scene.categories().has('screenshot') && !this.#scene.hasSecrets()
  }

  async #take(target: Target): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const png = await this.#capture(target)
      const bytes = png.length * 0.75
      if (bytes <= MAX_BYTES) {
        if (!this.#isWanted) return
        this.#scene.emit({
          type: 'monitor_screenshot',
          source: { kind: 'cdp', event: 'Page.captureScreenshot' },
          data: { png },
        })
        return
      }
      // The size is roughly proportional to the area.
      this.#scale = Math.max(MIN_SCALE, this.#scale * Math.sqrt(MAX_BYTES / bytes) * 0.9)
    }
  }

  async #capture(target: Target): Promise<string> {
    const params: Record<string, unknown> = { format: 'png' }
    if (this.#scale < 1) {
      const { cssVisualViewport: view } = await this.#call<Metrics>(target, 'Page.getLayoutMetrics', {})
      const { pageX: x, pageY: y, clientWidth: width, clientHeight: height } = view
      params['clip'] = { x, y, width, height, scale: this.#scale }
    }
    return (await this.#call<{ data: string }>(target, 'Page.captureScreenshot', params)).data
  }

  async #call<T>(target: Target, method: string, params: object): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('It takes too long')), ANSWER_MS)
    const asked = this.#scene.call<T>(target, method, params)
    try {
      return await Promise.race([asked, promise])
    } finally {
      clearTimeout(timer)
      asked.catch(() => {})
    }
  }
}
