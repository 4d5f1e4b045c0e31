// A connection of ours that stays open as long as Chromium runs. Its end is the first sign that
// Chromium is on its way out, and it is asked before a client is let in.
import { pause } from '@berth/kit/pause'
import { CdpConnection } from './cdp-connection.ts'

/** A Chromium without pages either ends within this time, or goes on without. */
const ENDING_MS = 1_000

export class Vigil {
  readonly #connection: CdpConnection
  #hasHadClients = false
  #isOver = false

  private constructor(connection: CdpConnection) {
    this.#connection = connection
    void connection.closed.then(() => (this.#isOver = true))
  }

  static async open(port: number, path: string): Promise<Vigil> {
    return new Vigil(await CdpConnection.open(port, path))
  }

  /** Resolves when Chromium hangs up. */
  get over(): Promise<void> {
    return this.#connection.closed
  }

  /**
   * Whether a client that comes now would be cut off. Chromium answers Browser.close first, closes then,
   * and for some tens of milliseconds takes new connections; but a question that comes after that answer
   * finds its pages gone. Nobody can have closed it before the first client.
   */
  async isEnding(): Promise<boolean> {
    if (!this.#hasHadClients) {
      this.#hasHadClients = true
      return this.#isOver
    }
    if (await this.#hasPages()) return false
    await Promise.race([this.over, pause(ENDING_MS)])
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
}
