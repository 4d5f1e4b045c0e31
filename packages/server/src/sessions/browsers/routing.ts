// Keeps the way out of this server's sessions as their rows say. A change is made by whichever server got it;
// the one that has the session follows, and says so in the row for the other to see.
import type { Logger } from 'pino'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import { CLOSED, type EgressRoute } from '../../instances/egress/route.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { LiveSession } from './live-session.ts'
import { isOver } from './state.ts'
import * as store from './store.ts'
import type { BrowserRecord } from './types.ts'

/** It hears of a change within milliseconds; one it did not hear of is found within ten seconds. */
const WAIT_TIMEOUT_MS = 12_000
const LOOK_EVERY_MS = 50

/** Which way a session's traffic is to leave, by its row. */
export type RouteOf = (record: BrowserRecord) => Promise<EgressRoute>

export class Routing {
  readonly #db: Db
  readonly #routeOf: RouteOf
  readonly #log: Logger
  /** The change that a session has followed last; of one that was adopted nothing is known. */
  readonly #followed = new WeakMap<LiveSession, number>()
  readonly #last = new WeakMap<LiveSession, Promise<void>>()

  constructor({ db, routeOf, log }: { db: Db; routeOf: RouteOf; log: Logger }) {
    this.#db = db
    this.#routeOf = routeOf
    this.#log = log
  }

  /** Its instance was given the right way before its browser was started. */
  begin(session: LiveSession, { proxy_version }: BrowserRecord): void {
    this.#followed.set(session, proxy_version)
  }

  /** One after another, and never back: a row that was read early may come late. */
  follow(session: LiveSession, record: BrowserRecord): Promise<void> {
    const turn = (this.#last.get(session) ?? Promise.resolve()).then(() => this.#apply(session, record))
    this.#last.set(
      session,
      turn.catch(() => {}),
    )
    return turn
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
      // Neither the old way nor the direct one is right. It is tried again with the next look at the row.
      session.instance.setRoute(CLOSED)
      this.#log.warn(
        { err: error, sessionId: session.id },
        'nothing leaves a session: its proxy cannot be had',
      )
      throw error
    }
  }

  /** Until the server that has the session has followed. */
  async followedElsewhere({ id, proxy_version: version }: BrowserRecord): Promise<void> {
    const signal = AbortSignal.timeout(WAIT_TIMEOUT_MS)
    while (!signal.aborted) {
      const record = await store.findBrowserById(this.#db, id)
      if (!record || isOver(record) || record.proxy_applied_version >= version) return
      await pause(LOOK_EVERY_MS, signal)
    }
    throw new AppError(
      'unavailable',
      'Cannot change the proxy of the session yet: the server that has it does not answer; it follows when it does',
    )
  }
}
