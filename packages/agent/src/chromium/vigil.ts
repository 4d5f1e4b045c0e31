// Watches a Chromium that runs, by a connection of its own. That it closes is the first sign that
// Chromium is on its way out. One that hangs, or can make no more pages, keeps it open: so it is looked
// after now and then; and it is asked before a client is let in.
import { pause } from '@berth/kit/pause'
import { CdpConnection } from './cdp-connection.ts'
import { isZygote, zygotesOf } from './zygote.ts'

const LOOK_EVERY_MS = 5_000
// Questions are counted, not seconds: those spent frozen must not count, and no clock stands still meanwhile.
const MAX_UNANSWERED = 6
/** A Chromium without pages either ends within this time, or goes on without. */
const ENDING_MS = 1_000

export interface VigilOptions {
  readonly pid: number
  readonly port: number
  readonly path: string
  /** Chromium hung up. */
  readonly onGoodbye: () => void
  /** It will not be of use again; may be told more than once. */
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
   * Whether a client that comes now would be cut off. Chromium answers Browser.close first, closes then,
   * and for some tens of milliseconds takes new connections; but a question that comes after that answer
   * finds its pages gone.
   */
  async isEnding(): Promise<boolean> {
    if (await this.#hasPages()) return false
    await Promise.race([this.#connection.closed, pause(ENDING_MS)])
    if (!this.#isOver) await this.#makePage()
    return this.#isOver
  }

  /** Somebody closed the last one, and whoever comes next expects to find one. */
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
    if (!this.#zygotes.every(isZygote)) return this.#onBroken('can make no more pages')
    const { answerCount } = this.#connection
    if (answerCount !== this.#answers) this.#unanswered = 0
    this.#answers = answerCount
    if (this.#unanswered === MAX_UNANSWERED) return this.#onBroken('does not answer any more')
    this.#unanswered++
    // Answered by the browser process itself, however busy its pages are.
    this.#connection.dispatch('Browser.getVersion')
  }
}
