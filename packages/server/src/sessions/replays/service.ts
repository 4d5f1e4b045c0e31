import type { Readable } from 'node:stream'
import {
  REPLAY_AUDIENCE,
  REPLAY_PAGE,
  REPLAY_VIDEO,
  type Replay,
  type StartReplayRequest,
} from '@berth/contracts/replays'
import type { PlayedReplay } from '@berth/web/replay/page'
import type { Blobs } from '../../platform/blobs/blobs.ts'
import { openContent } from '../../platform/blobs/sealed-content.ts'
import type { Act, BrowserService, Caller } from '../browsers/service.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import type { Commit, RawAnswer } from '../../http/call.ts'
import { readRange } from '../../http/ranges.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { Chapter } from '@berth/codecs/mp4/movie'
import { wanted, type ReplayRecorder } from './recorder.ts'
import { chaptersContext, keyContext, videoContext } from './recordings.ts'
import * as store from './store.ts'
import type { ReplayRecord } from './types.ts'

const RETRY_AFTER_SECONDS = '1'

export interface ReplayServiceOptions {
  readonly db: Db
  readonly box: SealedBox
  readonly blobs: Blobs
  readonly browsers: BrowserService
  readonly recorder: ReplayRecorder
  readonly tokens: Pick<SessionTokens, 'sign' | 'verify'>
  /** How long a link to a recording works. */
  readonly linkSeconds: number
}

/** A recording as the holder of its token sees it. */
export type Viewed =
  | { readonly state: 'ready'; readonly played: PlayedReplay }
  | { readonly state: 'recording' | 'finishing' | 'failed' }

export class ReplayService {
  readonly #options: ReplayServiceOptions

  constructor(options: ReplayServiceOptions) {
    this.#options = options
  }

  async start(caller: Caller, idOrName: string, body: StartReplayRequest, act: Act): Promise<Replay> {
    const browser = await this.#options.browsers.find(caller, idOrName)
    const replay = await this.#options.recorder.begin(browser, wanted(body, browser), act)
    return this.#show(replay, caller.origin)
  }

  async list(caller: Caller, idOrName: string): Promise<Replay[]> {
    const { db, browsers } = this.#options
    const browser = await browsers.find(caller, idOrName, { includeDeleted: true })
    return (await store.listOfBrowser(db, browser.id)).map((replay) => this.#show(replay, caller.origin))
  }

  async stop(caller: Caller, idOrName: string, replayId: string, commit: Commit): Promise<void> {
    const replay = await this.#find(caller, idOrName, replayId)
    if (replay.state !== 'recording') return commit(() => Promise.resolve())
    await this.#options.recorder.end(replay)
    await commit(async (tx) => {
      await store.markFinishing(tx, replay.id, 'stopped')
      await announceChange(tx, 'replaysChanged', { sessionId: replay.browser_id })
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

  /** For the holder of the recording's token. */
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

  async #find(caller: Caller, idOrName: string, replayId: string): Promise<ReplayRecord> {
    const { db, browsers } = this.#options
    const browser = await browsers.find(caller, idOrName, { includeDeleted: true })
    const replay = await store.findReplay(db, replayId)
    if (replay?.browser_id !== browser.id) throw notThere(replayId, 'does not belong to this session')
    return replay
  }

  async #admit(token: string, replayId: string): Promise<ReplayRecord> {
    const { tokens, db, linkSeconds } = this.#options
    // The token names the recording instead of a session.
    const { sessionId: named, issuedAt } = await tokens.verify(token, REPLAY_AUDIENCE)
    const replay = named === replayId ? await store.findReplay(db, replayId) : undefined
    if (!replay) throw notThere(replayId, 'no longer exists')
    // Links of older servers say that they are valid for a year.
    const isOld = issuedAt + linkSeconds * 1000 <= Date.now()
    const validFrom = replay.links_valid_from
    // Tokens know whole seconds, so one of the same second may be from before.
    if (isOld || (validFrom !== null && issuedAt <= Date.parse(validFrom))) throw linkOver()
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
    // SAFETY: only this server writes sealed chapters.
    return chapters ? (JSON.parse(this.#options.box.open(chapters, chaptersContext(id))) as Chapter[]) : []
  }

  #show(replay: ReplayRecord, origin: string): Replay {
    const { tokens, linkSeconds: lifeSeconds } = this.#options
    const jwt = tokens.sign({ sessionId: replay.id, audience: [REPLAY_AUDIENCE], lifeSeconds })
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

function linkOver(): AppError {
  return new AppError(
    'unauthorized',
    'Cannot show this recording: the link has expired or was revoked; get a new one from the list of replays',
  )
}

function notThere(replayId: string, why: string): AppError {
  return new AppError('not_found', `Cannot find replay "${replayId}": it ${why}`)
}
