// Watches a Chromium that runs, by a connection of its own. That it closes is the first sign that
// Chromium is on its way out. One that hangs keeps it open, so it is asked something now and then; and
// it is asked before a client is let in.
import { pause } from '@berth/kit/pause'
import { CdpConnection } from './cdp-connection.ts'

const ASK_EVERY_MS = 5_000
// Questions are counted, not seconds: those spent frozen must not count, and no clock stands still meanwhile.
const MOST_UNANSWERED = 6
/** A Chromium without pages either ends within this time, or goes on without. */
const ENDING_MS = 1_000

export interface VigilOptions {
  readonly port: number
  readonly path: string
  /** Chromium hung up. */
  readonly onGoodbye: () => void
  /** Chromium gave no answer for half a minute. */
  readonly onHung: () => void
}

export class Vigil {
  readonly #connection: CdpConnection
  readonly #onHung: () => void
  #isOver = false
  #unanswered = 0
  #answers = 0

  private constructor(connection: CdpConnection, { onGoodbye, onHung }: VigilOptions) {
    this.#connection = connection
    this.#onHung = onHung
    const timer = setInterval(() => this.#ask(), ASK_EVERY_MS)
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
   * Whether a client that comes now would be cut off. Chromium answers Browser.close first, closes then,
   * and for some tens of milliseconds takes new connections; but a question that comes after that answer
   * finds its pages gone.
   */
  async isEnding(): Promise<boolean> {
    if (await this.#hasPages()) return false
    await Promise.race([this.#connection.closed, pause(ENDING_MS)])
    return this.#isOver
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

  #ask(): void {
    const { answerCount } = this.#connection
    if (answerCount !== this.#answers) this.#unanswered = 0
    this.#answers = answerCount
    if (this.#unanswered === MOST_UNANSWERED) return this.#onHung()
    this.#unanswered++
    // Answered by the browser process itself, however busy its pages are.
    this.#connection.dispatch('Browser.getVersion')
  }
}
