// Reports clients that connect and disconnect to telemetry.
import { randomUUID } from 'node:crypto'
import type { ClientPurpose } from '../session/client-purpose.ts'
import type { GatewaySession } from './session.ts'
import type { Pipe, EndedBy } from './splice.ts'

/** The telemetry reason for each end of a connection. */
const reasons: Readonly<Record<EndedBy, string>> = {
  client: 'client_close',
  // Chromium closes its connections when it exits, and is then restarted.
  browser: 'upstream_changed',
  broken: 'upstream_error',
  us: 'context_cancelled',
}

export class Visit {
  readonly #session: Pick<GatewaySession, 'publish'>
  readonly #purpose: ClientPurpose
  readonly #startedAt = performance.now()
  /** Tells several viewers apart. */
  readonly #viewerId = randomUUID()
  #isOver = false

  constructor(session: Pick<GatewaySession, 'publish'>, purpose: ClientPurpose) {
    this.#session = session
    this.#purpose = purpose
  }

  get #isCdp(): boolean {
    return this.#purpose === 'cdp' || this.#purpose === 'devtools'
  }

  get ms(): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  begin(): void {
    if (this.#isCdp) this.#session.publish({ type: 'cdp_connect' })
    if (this.#purpose === 'live') {
      this.#session.publish({ type: 'live_view_connect', data: { session_id: this.#viewerId } })
    }
  }

  /** Only the first call counts. */
  end({ messages, endedBy = 'us' }: Pick<Pipe, 'messages' | 'endedBy'>): void {
    if (this.#isOver) return
    this.#isOver = true
    const duration_ms = this.ms
    if (this.#isCdp) {
      const data = { duration_ms, message_count: messages, reason: reasons[endedBy] }
      this.#session.publish({ type: 'cdp_disconnect', data })
    }
    if (this.#purpose === 'live') {
      const data = { session_id: this.#viewerId, duration_ms }
      this.#session.publish({ type: 'live_view_disconnect', data })
    }
  }
}
