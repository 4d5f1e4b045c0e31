// Keeps the egress routes of this server's sessions in line with their rows. Any server may change a row. The server
// that runs the session applies the change and confirms it in the row.
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import { SerialQueue } from '@berth/kit/serial-queue'
import type { Db } from '../../platform/database/schema.ts'
import { CLOSED, type EgressRoute } from '../../instances/egress/route.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { LiveSession } from './live-session.ts'
import { isOver } from './state.ts'
import * as store from './store.ts'
import type { BrowserRecord } from './types.ts'

/** An announcement arrives within milliseconds; reconciliation finds a missed one within ten seconds. */
const WAIT_TIMEOUT_MS = 12_000
const LOOK_EVERY_MS = 50

/** Looks up the egress route for a session's row. */
export type RouteOf = (record: BrowserRecord) => Promise<EgressRoute>

export class Routing {
  readonly #db: Db
  readonly #routeOf: RouteOf
  readonly #log: Logger
  /** The last applied proxy version; missing for a resumed session. */
  readonly #followed = new WeakMap<LiveSession, number>()
  readonly #changes = new WeakMap<LiveSession, SerialQueue>()

  constructor({ db, routeOf, log }: { db: Db; routeOf: RouteOf; log: Logger }) {
    this.#db = db
    this.#routeOf = routeOf
    this.#log = log
  }

  /** Notes that the instance got its route before its browser started. */
  begin(session: LiveSession, { proxy_version }: BrowserRecord): void {
    this.#followed.set(session, proxy_version)
  }

  /** Applies changes one at a time and never an older one, because rows may arrive out of order. */
  follow(session: LiveSession, record: BrowserRecord): Promise<void> {
    const changes = this.#changes.get(session) ?? new SerialQueue()
    this.#changes.set(session, changes)
    return changes.run(() => this.#apply(session, record))
  }

  async #apply(session: LiveSession, record: BrowserRecord): Promise<void> {
    const { proxy_version: version } = record
    const followed = this.#followed.get(session) ?? -1
    if (version < followed || session.ending.aborted) return
    if (version > followed) await this.#change(session, record)
    if (record.proxy_applied_version < version) await store.markProxyApplied(this.#db, record.id, version)
  }

  async #change(session: LiveSession, record: BrowserRecord): Promise<void> {
    try {
      const route = await this.#routeOf(record)
      session.instance.setRoute(route)
      this.#followed.set(session, record.proxy_version)
    } catch (error) {
      // Neither the old route nor a direct one is right. The next read of the row tries again.
      session.instance.setRoute(CLOSED)
      this.#log.warn(
        { err: error, sessionId: session.id },
        'traffic of a session is blocked: cannot look up its proxy',
      )
      throw error
    }
  }

  /** Resolves when the session's server has applied the change. */
  async followedElsewhere({ id, proxy_version: version }: BrowserRecord): Promise<void> {
    const signal = AbortSignal.timeout(WAIT_TIMEOUT_MS)
    while (!signal.aborted) {
      const record = await store.findBrowserById(this.#db, id)
      if (!record || isOver(record) || record.proxy_applied_version >= version) return
      await pause(LOOK_EVERY_MS, signal)
    }
    throw new AppError(
      'unavailable',
      "Cannot change the proxy of the session yet: the session's server does not answer; the change applies when it does",
    )
  }
}
