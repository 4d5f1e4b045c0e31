// Watches a running Chromium over a separate connection. When that connection closes, Chromium is about
// to end. A Chromium that hangs or can open no more pages keeps it open, so it is also checked
// periodically, and before a client connects.
import { pause } from '@berth/kit/pause'
import { CdpConnection } from '../cdp/cdp-connection.ts'
import { isZygote, zygotesOf } from './zygote.ts'

const LOOK_EVERY_MS = 5_000
// Counts unanswered checks, not seconds: time spent frozen must not count, and every clock keeps running.
const MAX_UNANSWERED = 6
/** A Chromium without pages either ends within this time, or keeps running without any. */
const ENDING_MS = 1_000

export interface VigilOptions {
  readonly pid: number
  readonly port: number
  readonly path: string
  /** Chromium closed the connection. */
  readonly onGoodbye: () => void
  /** Chromium cannot recover; may be called more than once. */
  readonly onBroken: (why: string) => void
}

export class Vigil {
  readonly #connection: CdpConnection
  readonly #onBroken: VigilOptions['onBroken']
  readonly #zygotes: readonly number[]
  #isOver = false
  #unanswered = 0
  #answers = 0

  private constructor(connection: CdpConnection, { pid, onGoodbye, onBroken }: VigilOptions) {
    this.#connection = connection
    this.#onBroken = onBroken
    this.#zygotes = zygotesOf(pid)
    const timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    void connection.closed.then(() => {
      this.#isOver = true
      clearInterval(timer)
      return onGoodbye()
    })
  }

  static async open(options: VigilOptions): Promise<Vigil> {
    return new Vigil(await CdpConnection.open(options.port, options.path), options)
  }

  /**
   * Whether a client that connects now would be cut off. Chromium answers Browser.close, then closes, and
   * still accepts connections for tens of milliseconds; but after that answer its pages are already gone.
   */
  async isEnding(): Promise<boolean> {
    if (await this.#hasPages()) return false
    await Promise.race([this.#connection.closed, pause(ENDING_MS)])
    if (!this.#isOver) await this.#makePage()
    return this.#isOver
  }

  /** Opens a page after a client closed the last one, because the next client expects one. */
  async #makePage(): Promise<void> {
    await this.#connection.call('Target.createTarget', { url: 'about:blank' }).catch(() => {})
  }

  async #hasPages(): Promise<boolean> {
    try {
      const { targetInfos } = await this.#connection.call<{ targetInfos: { type: string }[] }>(
        'Target.getTargets',
      )
      return targetInfos.some(({ type }) => type === 'page')
    } catch {
      return false
    }
  }

  #look(): void {
    if (!this.#zygotes.every(isZygote)) return this.#onBroken('can open no more pages')
    const { answerCount } = this.#connection
    if (answerCount !== this.#answers) this.#unanswered = 0
    this.#answers = answerCount
    if (this.#unanswered === MAX_UNANSWERED) return this.#onBroken('no longer answers')
    this.#unanswered++
    // Answered by the browser process itself, however busy its pages are.
    this.#connection.dispatch('Browser.getVersion')
  }
}
