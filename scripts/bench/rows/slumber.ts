// How long a session has been on standby, by its own account: its uptime does not grow meanwhile. One
// look when it is left alone and one later are enough, so nobody has to watch it.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import type { SessionServer } from '../arms/session-server.ts'

const MIN_PAUSE_MS = 100
/** Until it falls asleep, and for a machine that is busy. */
const MARGIN_MS = 30_000

/** So that no session ends while it is slept over. */
export const LONG_TIMEOUT_SECONDS = 3_600

export class Slumber {
  readonly #server: SessionServer
  readonly #id: string
  readonly #leftAt: number
  readonly #uptimeMs: number

  private constructor(server: SessionServer, { session_id: id, usage }: Browser, leftAt: number) {
    this.#server = server
    this.#id = id
    this.#leftAt = leftAt
    this.#uptimeMs = usage!.uptime_ms
  }

  /** For a session that was just left alone. */
  static async begin(server: SessionServer, browser: Browser): Promise<Slumber> {
    const leftAt = performance.now()
    return new Slumber(server, await server.get(browser.session_id), leftAt)
  }

  /** Resolves when it has been frozen for so long. */
  async lasts(seconds: number): Promise<void> {
    const wantedMs = seconds * 1000
    for (;;) {
      const frozenMs = await this.#frozenMs()
      if (frozenMs >= wantedMs) return
      const isLate = performance.now() - this.#leftAt > wantedMs + MARGIN_MS
      assert.ok(!isLate, 'a session that nobody uses is not put on standby')
      await pause(Math.max(MIN_PAUSE_MS, wantedMs - frozenMs))
    }
  }

  async #frozenMs(): Promise<number> {
    const { usage } = await this.#server.get(this.#id)
    return performance.now() - this.#leftAt - (usage!.uptime_ms - this.#uptimeMs)
  }
}
