// Saves sessions into their profiles. When a session ends, its row is marked as saving and its instance stays until
// the save is done. If the server is killed, the next one saves again. At any moment the profile has either its old
// version or the complete new one.
import type { Readable } from 'node:stream'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { FairTurns } from '@berth/kit/fair-turns'
import { pause } from '@berth/kit/pause'
import { BlobStoreFailure } from '../../platform/blobs/store.ts'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { announceChange } from '../../platform/database/changes.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inTransaction } from '../../platform/database/transaction.ts'
import type { Instance } from '../../instances/driver/driver.ts'
import { AgentClient } from '../../instances/agent/client.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import { readUserData } from '../../instances/agent/user-data.ts'
import { StorageFull } from '../../tenancy/storage/use.ts'
import { ArchiveTooLarge, WrongArchive } from './archive.ts'
import * as store from './store.ts'
import type { StoredArchive } from './types.ts'
import { addVersion, type VersionOptions } from './versions.ts'

const RECONCILE_MS = 10_000
/** Added to the lease: after this silence, the instances of a server have ended themselves. */
const LOST_MARGIN_SECONDS = 30
/** Each save flushes a Chromium to disk and compresses an archive. */
const SAVES_AT_ONCE_PER_PROJECT = 4
/** However slowly the instances of one project give their state, there is a place for another. */
const SAVES_AT_ONCE = 6
/** All attempts for one session together. */
const SAVE_TIMEOUT_MS = 180_000
/** Time without a byte, which includes the end of Chromium. */
const SILENCE_TIMEOUT_MS = 30_000
const MAX_ATTEMPTS = 6
const RETRY_MS = 1_000

export interface SaverOptions {
  readonly db: Db
  readonly pool: Pool
  readonly versions: VersionOptions
  readonly serverId: string
  readonly leaseSeconds: number
  /** Whether the session is on this server, including ending ones. */
  readonly isHere: (sessionId: string) => boolean
  readonly log: Logger
}

export class ProfileSaver {
  readonly #options: SaverOptions
  /** Every session that ended waits for its turn, however long that takes. */
  readonly #turns = new FairTurns({
    atOnce: SAVES_AT_ONCE,
    atOncePerKey: SAVES_AT_ONCE_PER_PROJECT,
    maxWaitingPerKey: Number.POSITIVE_INFINITY,
  })
  readonly #saving = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: SaverOptions) {
    this.#options = options
  }

  /** Called after the sessions of an earlier run were resumed. Gives up saves whose instance is gone. */
  async resume(): Promise<void> {
    this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS)
    this.#timer.unref()
    await this.#reconcile()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Saves a session that has ended; resolves when its instance is no longer needed. */
  async saveAtEnd(
    { id: sessionId, projectId }: { id: string; projectId: string },
    instance: Instance,
  ): Promise<void> {
    const { log } = this.#options
    this.#saving.add(sessionId)
    try {
      using turn = new DisposableStack()
      turn.use(await this.#turns.enter(projectId))
      const over = new AbortController()
      void instance.ended.then(() => over.abort(new NotSaved('its instance has ended')))
      const timer = setTimeout(() => over.abort(new NotSaved('it took too long')), SAVE_TIMEOUT_MS)
      try {
        await this.#try(sessionId, instance, over.signal)
      } finally {
        clearTimeout(timer)
      }
    } catch (error) {
      log.warn({ err: error, sessionId }, 'cannot save a session into its profile')
      await this.#giveUp(sessionId, messageOf(error)).catch((err: unknown) =>
        log.warn({ err, sessionId }, 'cannot record the failed save of a session yet'),
      )
    } finally {
      this.#saving.delete(sessionId)
    }
  }

  /** Retries, because a full disk or an unreachable database may recover soon. */
  async #try(sessionId: string, instance: Instance, over: AbortSignal): Promise<void> {
    const { log } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#save(sessionId, instance, over)
      } catch (error) {
        if (over.aborted) throw over.reason
        if (attempt === MAX_ATTEMPTS || isFinal(error)) throw error
        log.info({ err: error, sessionId, attempt }, 'retrying the save of a session')
        await pause(RETRY_MS * attempt, over)
      }
    }
  }

  async #save(sessionId: string, instance: Instance, over: AbortSignal): Promise<void> {
    const { db, log } = this.#options
    const asked = await store.beginSave(db, sessionId)
    if (!asked) return
    crashPoint('profile-save-begun')
    const { storage } = this.#options.versions
    await storage.expectRoom({ projectId: asked.project_id, kind: 'profiles', action: 'save the session' })
    await instance.thaw()
    const agent = new AgentClient(instance)
    let archive: StoredArchive
    try {
      archive = await this.#options.versions.archives.store(await readFrom(agent, 'stay', over), over)
    } finally {
      agent.close()
    }
    crashPoint('profile-stored')
    const version = await this.#record(asked, archive)
    log.info(
      { sessionId, profileId: asked.profile_id, version, sizeBytes: archive.sizeBytes },
      'session saved into its profile',
    )
  }

  async #record(asked: store.BrowserSave, archive: StoredArchive): Promise<number | undefined> {
    const { db, pool, versions } = this.#options
    const { archives } = versions
    try {
      const added = await inTransaction(pool, async ({ db: tx }) => {
        const { id: browserId, project_id: projectId, profile_id: profileId, profile_on_conflict } = asked
        const outcome = await addVersion(
          tx,
          {
            projectId,
            profileId,
            source: 'session',
            archive,
            browserId,
            onConflict: profile_on_conflict ?? 'replace',
          },
          versions,
        )
        if (!outcome) throw new ProfileGone()
        const state = outcome.isCurrent ? 'saved' : 'conflict'
        await store.markSaved(tx, browserId, { state, version: outcome.version.number })
        return outcome
      })
      crashPoint('profile-committed')
      for (const id of added.removedBlobs) await archives.blobs.remove(db, id)
      return added.version.number
    } catch (error) {
      if (!(await this.#isKnown(archive))) await archives.discard(db, archive).catch(() => {})
      if (!(error instanceof ProfileGone)) throw error
      await this.#giveUp(asked.id, error.message)
      return undefined
    }
  }

  /** A commit may have succeeded although its answer was lost. */
  async #isKnown({ versionId }: StoredArchive): Promise<boolean> {
    const { db } = this.#options
    return store.isVersionKnown(db, versionId).catch(() => true)
  }

  async #giveUp(sessionId: string, why: string): Promise<void> {
    const { db } = this.#options
    const profileId = await store.markSaveFailed(db, sessionId, why)
    if (profileId) await announceChange(db, 'profileUnchanged', { profileId })
  }

  async #reconcile(): Promise<void> {
    const { db, serverId, leaseSeconds, isHere, log } = this.#options
    try {
      const lost = await store.listSavesOfLostServers(db, leaseSeconds + LOST_MARGIN_SECONDS)
      const own = await store.listSavesOf(db, serverId)
      const nobodys = own.filter(({ id }) => !this.#saving.has(id) && !isHere(id))
      for (const { id } of [...lost, ...nobodys]) await this.#giveUp(id, 'its instance was lost')
    } catch (error) {
      log.warn({ err: error }, 'cannot reconcile saves')
    }
  }
}

/** An error whose message may be shown to the session's owner. */
class NotSaved extends Error {}

class ProfileGone extends NotSaved {
  constructor() {
    super('the profile was deleted')
  }
}

/** Reads the user-data directory of an instance; fails when no data arrives for too long. */
export async function readFrom(
  agent: AgentClient,
  then: 'stay' | 'reopen',
  over: AbortSignal,
): Promise<AsyncIterable<Buffer>> {
  const silent = new AbortController()
  const setTimer = () =>
    setTimeout(() => silent.abort(new NotSaved('its instance did not answer')), SILENCE_TIMEOUT_MS)
  let timer = setTimer()
  try {
    const signal = AbortSignal.any([over, silent.signal])
    const answer: Readable = await readUserData(agent, then, { signal })
    return (async function* () {
      try {
        for await (const piece of answer as AsyncIterable<Buffer>) {
          clearTimeout(timer)
          yield piece
          timer = setTimer()
        }
      } finally {
        clearTimeout(timer)
        answer.destroy()
      }
    })()
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

/** Trying again would give the same. */
const isFinal = (error: unknown) =>
  error instanceof WrongArchive || error instanceof ArchiveTooLarge || error instanceof StorageFull

/** Leaves out internal details, which are in the operator's log. */
function messageOf(error: unknown): string {
  if (isDiskFull(error)) return 'the disk of the server is full'
  if (error instanceof WrongArchive || error instanceof ArchiveTooLarge)
    return `its archive is refused: ${error.message}`
  if (error instanceof StorageFull) return error.why
  if (error instanceof NotSaved) return error.message
  if (error instanceof BlobStoreFailure) return 'the store of files did not answer as it should'
  return error instanceof AgentError
    ? 'its instance did not return its state'
    : 'the server had an internal error'
}

export const isDiskFull = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOSPC'
