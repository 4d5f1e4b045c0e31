import { randomBytes, randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Pool } from 'pg'
import {
  DEFAULT_FRAMERATE,
  MOST_FRAMERATE_WITHOUT_GPU,
  REPLAY_AUDIENCE,
  REPLAY_PAGE,
  REPLAY_VIDEO,
  type Replay,
  type ReplayEnd,
  type StartReplayRequest,
} from '@berth/contracts/replays'
import type { PlayedReplay } from '@berth/web/replay'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import { CONTENT_KEY_BYTES, openContent } from '../../platform/blobs/sealed-content.ts'
import type { ResizeGuard } from '../browsers/resize.ts'
import type { Act, BrowserService, Caller } from '../browsers/service.ts'
import { awake, type Session } from '../browsers/session.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { crashPoint } from '../../platform/crash-point.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { AppError, invalidInput } from '../../platform/errors.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import type { Commit, RawAnswer } from '../../http/call.ts'
import { readRange } from '../../http/ranges.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import { AgentError, AgentRefusal } from '../../instances/agent/errors.ts'
import { forgetRecording, startRecording, stopRecording } from '../../instances/agent/recordings.ts'
import type { Chapter } from './mp4/movie.ts'
import { chaptersContext, keyContext, videoContext, type Recordings } from './recordings.ts'
import * as store from './store.ts'
import type { ReplayRecord } from './types.ts'

/** Of one session, ended ones among them. */
const MOST_REPLAYS = 1_000
const RETRY_AFTER_SECONDS = '1'
/** Of an agent's, in an error to the caller. */
const MAX_REASON_LENGTH = 500

export interface ReplayServiceOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly browsers: BrowserService
  readonly findSession: (id: string) => Session | undefined | Promise<Session | undefined>
  readonly recordings: Recordings
  readonly tokens: Pick<SessionTokens, 'sign' | 'verify'>
}

interface Wanted {
  readonly framerate: number
  readonly maxDurationSeconds: number | null
  readonly continuesId: string | null
}

/** What somebody with the token of a recording sees of it. */
export type Viewed =
  | { readonly state: 'ready'; readonly played: PlayedReplay }
  | { readonly state: 'recording' | 'finishing' | 'failed' }

export class ReplayService implements ResizeGuard {
  readonly #options: ReplayServiceOptions

  constructor(options: ReplayServiceOptions) {
    this.#options = options
  }

  async start(caller: Caller, idOrName: string, body: StartReplayRequest, act: Act): Promise<Replay> {
    const browser = await this.#options.browsers.find(caller, idOrName)
    const replay = await this.#begin(browser, wanted(body, browser), act)
    return this.#show(replay, caller.origin)
  }

  /** Of a session that is just being created; throws for what cannot be recorded. */
  check(record: boolean | StartReplayRequest | undefined, { gpu }: { gpu: boolean }): Wanted | undefined {
    if (record === undefined || record === false) return undefined
    return wanted(record === true ? {} : record, { gpu }, 'record.')
  }

  async recordFromStart(browser: BrowserRecord, options: Wanted, signal?: AbortSignal): Promise<void> {
    await this.#begin(browser, options, { commit: this.#commit, ...(signal && { signal }) })
  }

  async list(caller: Caller, idOrName: string): Promise<Replay[]> {
    const { db, browsers } = this.#options
    const browser = await browsers.find(caller, idOrName, { includeDeleted: true })
    return (await store.listOfBrowser(db, browser.id)).map((replay) => this.#show(replay, caller.origin))
  }

  async stop(caller: Caller, idOrName: string, replayId: string, commit: Commit): Promise<void> {
    const replay = await this.#find(caller, idOrName, replayId)
    if (replay.state !== 'recording') return commit(() => Promise.resolve())
    await this.#end(replay)
    await commit(async (tx) => {
      await store.markFinishing(tx, replay.id, 'stopped')
      await announceChange(tx, `replays:${replay.browser_id}`)
    })
  }

  async download(
    caller: Caller,
    idOrName: string,
    replayId: string,
    range: string | undefined,
  ): Promise<RawAnswer> {
    const replay = await this.#find(caller, idOrName, replayId)
    if (replay.state === 'ready') return this.#video(replay, { range, disposition: 'attachment' })
    if (replay.state === 'failed')
      throw notThere(replayId, 'has no video: it was cut off before its first picture')
    return { status: 202, headers: { 'retry-after': RETRY_AFTER_SECONDS }, body: '' }
  }

  /** For who has its token. */
  async view(token: string, replayId: string): Promise<Viewed> {
    const replay = await this.#admit(token, replayId)
    if (replay.state !== 'ready') return { state: replay.state === 'starting' ? 'recording' : replay.state }
    const query = new URLSearchParams({ jwt: token, replay_id: replay.id })
    return {
      state: 'ready',
      played: {
        videoUrl: `${REPLAY_VIDEO}?${query.toString()}`,
        startedAt: replay.started_at ?? replay.created_at,
        durationMs: Number(replay.duration_ms),
        sizeBytes: Number(replay.size_bytes),
        lostMs: Number(replay.lost_ms),
        endReason: replay.end_reason,
        chapters: this.#chaptersOf(replay),
      },
    }
  }

  async watch(token: string, replayId: string, range: string | undefined): Promise<RawAnswer> {
    const replay = await this.#admit(token, replayId)
    if (replay.state !== 'ready') throw notThere(replayId, 'is not ready yet')
    return this.#video(replay, { range, disposition: 'inline' })
  }

  async obstacle({ id }: Session): Promise<string | undefined> {
    const running = await store.listRunning(this.#options.db, id)
    return running.length > 0 ? 'it is being recorded' : undefined
  }

  /** A video has one size: one ends, and another goes on from it. */
  async makeWay(browser: BrowserRecord): Promise<() => Promise<void>> {
    const running = await this.endRunning(browser.id, 'resized')
    return async () => {
      for (const replay of running) {
        const options = continued(replay)
        if (options) await this.#begin(browser, options, { commit: this.#commit })
      }
    }
  }

  /** Those that a session is being recorded by, if any. */
  async endRunning(browserId: string, reason: ReplayEnd): Promise<ReplayRecord[]> {
    const { db, recordings } = this.#options
    const running = await store.listRunning(db, browserId)
    if (running.length === 0) return []
    for (const replay of running) {
      await store.markFinishing(db, replay.id, reason)
      await this.#end(replay)
    }
    // Those of them that are collected here have told all they had.
    await recordings.endAll(browserId, reason)
    return running
  }

  readonly #commit: Commit = (work) => inTransaction(this.#options.pool, ({ db: tx }) => work(tx))

  /** The row first, then the recording, then the row says that there is one. */
  async #begin(browser: BrowserRecord, options: Wanted, { commit, signal }: Act): Promise<ReplayRecord> {
    const { db, box, recordings, findSession } = this.#options
    const session = await findSession(browser.id)
    if (!session) throw new AppError('not_found', `Cannot find browser session "${browser.id}"`)
    if ((await store.countOfBrowser(db, browser.id)) >= MOST_REPLAYS) {
      throw new AppError('conflict', `Cannot record: the session has ${MOST_REPLAYS} recordings already`)
    }
    const id = randomUUID()
    const key = randomBytes(CONTENT_KEY_BYTES).toString('base64')
    await store.insertReplay(db, {
      ...options,
      id,
      projectId: browser.project_id,
      browserId: browser.id,
      serverId: browser.server_id,
      sealedKey: box.seal(key, keyContext(id)),
    })
    crashPoint('replay-inserted')
    const { framerate, maxDurationSeconds } = options
    const maxMs = maxDurationSeconds === null ? null : maxDurationSeconds * 1000
    try {
      await awake(session, (agent) => startRecording(agent, { id, framerate, maxMs }, { signal }))
      crashPoint('replay-started')
      const replay = await commit(async (tx) => {
        // Nobody would know of the recording, nor end it.
        signal?.throwIfAborted()
        const started = await store.markRecording(tx, id)
        if (!started) throw new AppError('conflict', 'Cannot record: the session has ended meanwhile')
        // Whichever server has the session collects it.
        await announceChange(tx, `replays:${browser.id}`)
        return started
      })
      recordings.collect(replay)
      return replay
    } catch (error) {
      await store.deleteReplay(db, id).catch(() => {})
      await awake(session, (agent) => forgetRecording(agent, id)).catch(() => {})
      throw refusalOf(error, session)
    }
  }

  /** The agent ends it; what it had is then collected by the server that has the session. */
  async #end({ id, browser_id }: ReplayRecord): Promise<void> {
    const session = await this.#options.findSession(browser_id)
    if (!session || session.ending.aborted) return
    await awake(session, (agent) => stopRecording(agent, id)).catch((error: unknown) => {
      // It has ended by itself, or its session is about to.
      if (!(error instanceof AgentError)) throw error
    })
  }

  async #find(caller: Caller, idOrName: string, replayId: string): Promise<ReplayRecord> {
    const { db, browsers } = this.#options
    const browser = await browsers.find(caller, idOrName, { includeDeleted: true })
    const replay = await store.findReplay(db, replayId)
    if (replay?.browser_id !== browser.id) throw notThere(replayId, 'is not one of this session')
    return replay
  }

  async #admit(token: string, replayId: string): Promise<ReplayRecord> {
    const { tokens, db } = this.#options
    // Its token names the recording in the place of a session.
    const { sessionId: named } = await tokens.verify(token, REPLAY_AUDIENCE)
    const replay = named === replayId ? await store.findReplay(db, replayId) : undefined
    if (!replay) throw notThere(replayId, 'is not there any more')
    return replay
  }

  #video(replay: ReplayRecord, options: { range: string | undefined; disposition: string }): RawAnswer {
    const sizeBytes = Number(replay.size_bytes)
    const range = readRange(options.range, sizeBytes)
    const { start, end } = range ?? { start: 0, end: sizeBytes - 1 }
    return {
      status: range ? 206 : 200,
      headers: {
        'accept-ranges': 'bytes',
        'content-length': String(end - start + 1),
        ...(range && { 'content-range': `bytes ${start}-${end}/${sizeBytes}` }),
        'content-disposition': `${options.disposition}; filename="${replay.id}.mp4"`,
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
      },
      body: this.#bytes(replay, { sizeBytes, start, end }),
    }
  }

  #bytes(replay: ReplayRecord, range: { sizeBytes: number; start: number; end: number }): Readable {
    const { blobs, box } = this.#options
    const key = Buffer.from(box.open(replay.sealed_key, keyContext(replay.id)), 'base64')
    const lock = { key, context: videoContext(replay.id) }
    return openContent((sealed) => blobs.read(replay.blob_id!, sealed), lock, range)
  }

  #chaptersOf({ id, chapters }: ReplayRecord): Chapter[] {
    // SAFETY: we wrote it.
    return chapters ? (JSON.parse(this.#options.box.open(chapters, chaptersContext(id))) as Chapter[]) : []
  }

  #show(replay: ReplayRecord, origin: string): Replay {
    const jwt = this.#options.tokens.sign({ sessionId: replay.id, audience: [REPLAY_AUDIENCE] })
    return {
      replay_id: replay.id,
      started_at: replay.started_at,
      finished_at: replay.finished_at,
      replay_view_url: `${origin}${REPLAY_PAGE}?jwt=${jwt}&replay_id=${replay.id}`,
      framerate: replay.framerate,
      ...(replay.end_reason !== null && { end_reason: replay.end_reason }),
      ...(replay.duration_ms !== null && { duration_ms: Number(replay.duration_ms) }),
      ...(replay.size_bytes !== null && { size_bytes: Number(replay.size_bytes) }),
      ...(Number(replay.lost_ms) > 0 && { lost_ms: Number(replay.lost_ms) }),
      ...(replay.continues_id !== null && { continues: replay.continues_id }),
    }
  }
}

function wanted(body: StartReplayRequest, { gpu }: { gpu: boolean }, prefix = ''): Wanted {
  const { framerate = DEFAULT_FRAMERATE, max_duration_in_seconds, record_audio } = body
  if (record_audio) {
    throw invalidInput(`${prefix}record_audio`, 'cannot be had: sessions of this server have no sound')
  }
  if (framerate > MOST_FRAMERATE_WITHOUT_GPU && !gpu) {
    throw invalidInput(
      `${prefix}framerate`,
      `must not be above ${MOST_FRAMERATE_WITHOUT_GPU} in a session without gpu`,
    )
  }
  return { framerate, maxDurationSeconds: max_duration_in_seconds ?? null, continuesId: null }
}

/** Undefined when its time was over anyway. */
function continued({ id, framerate, max_duration_seconds, started_at }: ReplayRecord): Wanted | undefined {
  if (max_duration_seconds === null) return { framerate, maxDurationSeconds: null, continuesId: id }
  const seconds = Math.floor((Date.now() - Date.parse(started_at!)) / 1000)
  const left = max_duration_seconds - seconds
  return left > 0 ? { framerate, maxDurationSeconds: left, continuesId: id } : undefined
}

function refusalOf(error: unknown, session: Session): unknown {
  if (session.ending.aborted)
    return new AppError('not_found', 'Cannot record: the session has ended meanwhile')
  if (error instanceof AgentRefusal && error.status === 409) {
    return new AppError('conflict', `Cannot record: ${error.message.slice(0, MAX_REASON_LENGTH)}`)
  }
  if (!(error instanceof AgentError)) return error
  return new AppError('unavailable', 'Cannot record the session now; try again', { cause: error })
}

function notThere(replayId: string, why: string): AppError {
  return new AppError('not_found', `Cannot find replay "${replayId}": it ${why}`)
}
