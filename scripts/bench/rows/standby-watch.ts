// Measures how long a session has been on standby, by its uptime, which stops during standby. It reads the uptime
// once at the start and once later, so that reading does not wake the session.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from '@berth/contracts/browsers'
import type { SessionServer } from '../subjects/session-server.ts'

const MIN_PAUSE_MS = 100
/** The time until standby begins, plus some for a busy machine. */
const MARGIN_MS = 30_000

/** Long enough that no session ends while it is on standby. */
export const LONG_TIMEOUT_SECONDS = 3_600

export class StandbyWatch {
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

  /** Call it right after the session was left alone. */
  static async begin(server: SessionServer, browser: Browser): Promise<StandbyWatch> {
    const leftAt = performance.now()
    return new StandbyWatch(server, await server.get(browser.session_id), leftAt)
  }

  /** Resolves when the session has been frozen for `seconds`. */
  async lasts(seconds: number): Promise<void> {
    const wantedMs = seconds * 1000
    for (;;) {
      const frozenMs = await this.#frozenMs()
      if (frozenMs >= wantedMs) return
      const isLate = performance.now() - this.#leftAt > wantedMs + MARGIN_MS
      assert.ok(!isLate, 'the unused session did not go on standby in time')
      await pause(Math.max(MIN_PAUSE_MS, wantedMs - frozenMs))
    }
  }

  async #frozenMs(): Promise<number> {
    const { usage } = await this.#server.get(this.#id)
    return performance.now() - this.#leftAt - (usage!.uptime_ms - this.#uptimeMs)
  }
}
