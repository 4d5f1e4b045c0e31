// Telemetry on one server: connects collectors, storage and readers.
import { Readable } from 'node:stream'
import type { IncomingHttpHeaders } from 'node:http'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { TelemetryEvent } from '@berth/contracts/telemetry'
import type { Session } from '../session/session.ts'
import { KeyedLimit } from '@berth/kit/keyed-limit'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { OffsetPage } from '../../http/call.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { Collector, type CollectorOptions } from './collector.ts'
import { Feed } from './feed.ts'
import { harOf } from './har.ts'
import { readPage, type HistoryQuery } from './history.ts'
import { Inbox } from './inbox.ts'
import { ndjsonOf, type LinesRequest } from './ndjson.ts'
import { ProjectShare } from './project-share.ts'
import { Recorder } from './recorder.ts'
import { openStream, translatorFor } from './stream.ts'

/** Concurrent streams of one session on one server. */
const MAX_STREAMS_PER_SESSION = 64

export interface TelemetryOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly storage: StorageLimits
  /** Stored bytes per session. */
  readonly maxBytes: number
  readonly version: string
  readonly log: Logger
}

export class Telemetry {
  readonly #options: TelemetryOptions
  readonly #feed: Feed
  readonly #recorder: Recorder
  readonly #collectors = new Map<string, Collector>()
  readonly #streams = new KeyedLimit(MAX_STREAMS_PER_SESSION)
  #droppedBefore = 0
  readonly inbox: Inbox

  constructor(options: TelemetryOptions) {
    this.#options = options
    this.#feed = new Feed(options)
    const share = new ProjectShare({
      ...options,
      onDropped: (sessionId, leftBytes) => this.#collectors.get(sessionId)?.dropped({ leftBytes }),
      onTrimmed: (projectId) => {
        for (const each of this.#collectors.values()) if (each.projectId === projectId) each.tellTrimmed()
      },
    })
    this.#recorder = new Recorder({ ...options, feed: this.#feed, share })
    this.inbox = new Inbox(options)
  }

  /** Events that this server knows were lost. */
  get droppedCount(): number {
    const current = [...this.#collectors.values()].reduce((sum, { droppedCount }) => sum + droppedCount, 0)
    return this.#droppedBefore + current + this.inbox.droppedCount
  }

  /** For a session of this server, until it is closed or released. */
  collector(
    sessionId: string,
    { projectId, instance, before }: Pick<CollectorOptions, 'projectId' | 'instance' | 'before'>,
  ): Collector {
    const { db, box, log } = this.#options
    const recorder = this.#recorder
    const collector = new Collector({ sessionId, projectId, instance, before, db, box, recorder, log })
    this.#collectors.set(sessionId, collector)
    return collector
  }

  forget({ sessionId, droppedCount }: Collector): void {
    this.#collectors.delete(sessionId)
    this.#droppedBefore += droppedCount
  }

  /** A server stored events of a session up to this sequence number, or `end` after the last. */
  stored(sessionId: string, upTo: string): void {
    this.#feed.announced(sessionId, upTo)
  }

  /** Another server left events of a session that runs here. */
  inboxFilled(sessionId: string): void {
    this.#collectors.get(sessionId)?.takeInbox()
  }

  async stream(
    session: Session,
    { headers, replay }: { headers: IncomingHttpHeaders; replay: string | undefined },
  ): Promise<Readable> {
    const place = this.#streams.enter(session.id)
    if (!place) {
      const message = `Cannot follow the session: ${MAX_STREAMS_PER_SESSION} other streams follow it already`
      throw new AppError('too_many_requests', message, { headers: { 'retry-after': '1' } })
    }
    const onClose = () => place[Symbol.dispose]()
    return openStream({ session, feed: this.#feed, headers, replay, onClose })
  }

  async page(
    sessionId: string,
    query: HistoryQuery,
    headers: IncomingHttpHeaders,
  ): Promise<OffsetPage<TelemetryEvent[]>> {
    await this.#settle(sessionId)
    const page = await readPage(this.#options, sessionId, query)
    const translate = translatorFor(headers)
    return {
      ...page,
      items: page.items.map((item) => JSON.parse(translate(JSON.stringify(item))) as TelemetryEvent),
    }
  }

  async har(sessionId: string): Promise<Readable> {
    await this.#settle(sessionId)
    const creator = { name: 'Berth', version: this.#options.version }
    return Readable.from(harOf(this.#options, sessionId, creator), { objectMode: false })
  }

  async lines(sessionId: string, request: LinesRequest): Promise<Readable> {
    await this.#settle(sessionId)
    return Readable.from(ndjsonOf(this.#options, sessionId, request), { objectMode: false })
  }

  /** Stores pending events first, so that the reader sees them. */
  async #settle(sessionId: string): Promise<void> {
    const collector = this.#collectors.get(sessionId)
    if (collector) await this.#recorder.flush(collector, 1_000)
  }
}
