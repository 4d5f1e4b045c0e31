// Starts and ends recordings of sessions on any server.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import {
  DEFAULT_FRAMERATE,
  MAX_FRAMERATE_WITHOUT_GPU,
  type ReplayEnd,
  type StartReplayRequest,
} from '@berth/contracts/replays'
import { CONTENT_KEY_BYTES } from '../../platform/blobs/sealed-content.ts'
import type { ResizeGuard } from '../browsers/resize.ts'
import type { Act, SessionRecorder } from '../browsers/service.ts'
import { awake, type Session } from '../session/session.ts'
import type { BrowserRecord } from '../browsers/types.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { Commit } from '../../http/call.ts'
import { AgentError, AgentRefusal } from '../../instances/agent/errors.ts'
import { forgetRecording, startRecording, stopRecording } from '../../instances/agent/recordings.ts'
import type { SealedBox } from '../../platform/secrets/sealed-box.ts'
import type { StorageLimits } from '../../tenancy/storage/storage-limits.ts'
import { keyContext, type Recordings } from './recordings.ts'
import * as store from './store.ts'
import type { ReplayRecord } from './types.ts'

/** Per session, including ended ones. */
const MAX_REPLAYS = 1_000
/** Limits the agent's text in an error to the caller. */
const MAX_REASON_LENGTH = 500

export interface ReplayRecorderOptions {
  readonly db: Db
  readonly pool: Pool
  readonly box: SealedBox
  readonly storage: StorageLimits
  readonly findSession: (id: string) => Session | undefined | Promise<Session | undefined>
  readonly recordings: Recordings
}

export interface Wanted {
  readonly framerate: number
  readonly maxDurationSeconds: number | null
  readonly recordsAudio: boolean
  readonly continuesId: string | null
}

export class ReplayRecorder implements ResizeGuard, SessionRecorder<Wanted> {
  readonly #options: ReplayRecorderOptions

  constructor(options: ReplayRecorderOptions) {
    this.#options = options
  }

  /** For a session that is being created; throws for an impossible request. */
  check(record: boolean | StartReplayRequest | undefined, { gpu }: { gpu: boolean }): Wanted | undefined {
    if (record === undefined || record === false) return undefined
    return wanted(record === true ? {} : record, { gpu }, 'record.')
  }

  async recordFromStart(browser: BrowserRecord, options: Wanted, signal?: AbortSignal): Promise<void> {
    await this.begin(browser, options, { commit: this.#commit, ...(signal && { signal }) })
  }

  async obstacle({ id }: Session): Promise<string | undefined> {
    const running = await store.listRunning(this.#options.db, id)
    return running.length > 0 ? 'it is being recorded' : undefined
  }

  /** A video has one size, so a resize ends a recording and another one continues it. */
  async makeWay(browser: BrowserRecord): Promise<() => Promise<void>> {
    const running = await this.endRunning(browser.id, 'resized')
    return async () => {
      for (const replay of running) {
        const options = continued(replay)
        if (options) await this.begin(browser, options, { commit: this.#commit })
      }
    }
  }

  /** Ends all running recordings of a session and returns them. */
  async endRunning(browserId: string, reason: ReplayEnd): Promise<ReplayRecord[]> {
    const { db, recordings } = this.#options
    const running = await store.listRunning(db, browserId)
    if (running.length === 0) return []
    for (const replay of running) {
      await store.markFinishing(db, replay.id, reason)
      await this.end(replay)
    }
    // Waits for the last records of those that are collected here.
    await recordings.endAll(browserId, reason)
    return running
  }

  readonly #commit: Commit = (work) => inTransaction(this.#options.pool, ({ db: tx }) => work(tx))

  /** Inserts the row, starts the recording, then marks the row as recording. */
  async begin(browser: BrowserRecord, options: Wanted, { commit, signal }: Act): Promise<ReplayRecord> {
    const { db, box, storage, recordings, findSession } = this.#options
    const session = await findSession(browser.id)
    if (!session) throw new AppError('not_found', `Cannot find browser session "${browser.id}"`)
    if ((await store.countOfBrowser(db, browser.id)) >= MAX_REPLAYS) {
      throw new AppError('conflict', `Cannot record: the session has ${MAX_REPLAYS} recordings already`)
    }
    // The continuation of a recording is stopped like the recording itself, so that a resize does not fail.
    if (options.continuesId === null) {
      await storage.expectRoom({ projectId: browser.project_id, kind: 'replays', action: 'record' })
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
    const { framerate, maxDurationSeconds, recordsAudio } = options
    const maxMs = maxDurationSeconds === null ? null : maxDurationSeconds * 1000
    // Agents of earlier versions know nothing of sound.
    const start = { id, framerate, maxMs, ...(recordsAudio && { hasSound: true }) }
    try {
      await awake(session, (agent) => startRecording(agent, start, { signal }))
      crashPoint('replay-started')
      const replay = await commit(async (tx) => {
        // Without a caller, nobody would know of the recording and end it.
        signal?.throwIfAborted()
        const started = await store.markRecording(tx, id)
        if (!started) throw new AppError('conflict', 'Cannot record: the session has ended')
        // The server that runs the session collects it.
        await announceChange(tx, 'replaysChanged', { sessionId: browser.id })
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

  /** Tells the agent to stop. The session's server collects the remaining records. */
  async end({ id, browser_id }: ReplayRecord): Promise<void> {
    const session = await this.#options.findSession(browser_id)
    if (!session || session.ending.aborted) return
    await awake(session, (agent) => stopRecording(agent, id)).catch((error: unknown) => {
      // The recording has already ended, or its session is ending.
      if (!(error instanceof AgentError)) throw error
    })
  }
}

export function wanted(body: StartReplayRequest, { gpu }: { gpu: boolean }, prefix = ''): Wanted {
  const { framerate = DEFAULT_FRAMERATE, max_duration_in_seconds, record_audio = false } = body
  if (framerate > MAX_FRAMERATE_WITHOUT_GPU && !gpu) {
    throw invalidInput(
      `${prefix}framerate`,
      `must not be above ${MAX_FRAMERATE_WITHOUT_GPU} in a session without gpu`,
    )
  }
  return {
    framerate,
    maxDurationSeconds: max_duration_in_seconds ?? null,
    recordsAudio: record_audio,
    continuesId: null,
  }
}

/** Undefined when the maximum duration is already over. */
function continued(replay: ReplayRecord): Wanted | undefined {
  const { id, framerate, max_duration_seconds, record_audio: recordsAudio, started_at } = replay
  if (max_duration_seconds === null) {
    return { framerate, maxDurationSeconds: null, recordsAudio, continuesId: id }
  }
  const seconds = Math.floor((Date.now() - Date.parse(started_at!)) / 1000)
  const left = max_duration_seconds - seconds
  return left > 0 ? { framerate, maxDurationSeconds: left, recordsAudio, continuesId: id } : undefined
}

function refusalOf(error: unknown, session: Session): unknown {
  if (session.ending.aborted) return new AppError('not_found', 'Cannot record: the session has ended')
  if (error instanceof AgentRefusal && error.status === 409) {
    return new AppError('conflict', `Cannot record: ${error.message.slice(0, MAX_REASON_LENGTH)}`)
  }
  if (!(error instanceof AgentError)) return error
  return new AppError('unavailable', 'Cannot record the session now; try again', { cause: error })
}
