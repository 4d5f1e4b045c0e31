import type { ArchiveFormat, Profile, ProfileVersion } from '@berth/contracts/profiles'
import type { BrowserService, Caller } from '../browsers/service.ts'
import { awake, type Session } from '../session/session.ts'
import { announceChange } from '../../platform/database/changes.ts'
import { uniqueNames } from '../../platform/database/unique-names.ts'
import { wasDeleted } from '../../platform/database/deleted-rows.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import { ArchiveTurns } from '../../http/archive-turns.ts'
import type { BodyStream, Commit, OffsetPage, RawAnswer } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf } from '../../http/principal.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import { waitForChromium } from '../../instances/agent/state.ts'
import { ArchiveTooLarge, WrongArchive } from './archive.ts'
import type { SaveWatch } from './save-watch.ts'
import { isDiskFull, readFrom } from './saver.ts'
import * as store from './store.ts'
import type { ProfileSummary, StoredArchive } from './types.ts'
import { unpacked } from './unpacked.ts'
import { addVersion, conflict, type AddedVersion, type VersionOptions } from './versions.ts'
import { toProfile, toVersion } from './view.ts'

const withFreeName = uniqueNames({ constraint: 'profiles_name', what: 'profile' })

const SAVE_TIMEOUT_MS = 120_000
const IMPORT_TIMEOUT_MS = 600_000
/** Each decoder has a window of up to 8 MiB. */
const MAX_DECODERS = 8
const MAX_DECODERS_PER_PROJECT = 2
const RETRY_AFTER_SECONDS = '1'

/** A kind of resource that needs its profile. */
export interface ProfileUse {
  readonly what: string
  readonly countUsing: (tx: Db, profileId: string) => Promise<number>
}

export interface ProfileServiceOptions {
  readonly db: Db
  readonly versions: VersionOptions
  readonly browsers: BrowserService
  readonly findSession: (id: string) => Session | undefined | Promise<Session | undefined>
  readonly watch: SaveWatch
  readonly uses: readonly ProfileUse[]
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
}

export class ProfileService {
  readonly #options: ProfileServiceOptions
  readonly #decoders = new ArchiveTurns({ atOnce: MAX_DECODERS, atOncePerProject: MAX_DECODERS_PER_PROJECT })

  constructor(options: ProfileServiceOptions) {
    this.#options = options
  }

  async create(tx: Db, caller: Caller, { name }: { name?: string }): Promise<Profile> {
    const projectId = projectOf(caller) ?? (await this.#options.defaultProject(tx)).id
    return toProfile(await withFreeName(name, () => store.insertProfile(tx, projectId, name ?? null)))
  }

  async list(
    db: Db,
    caller: Caller,
    query: { limit?: number; offset?: number; query?: string; name?: string },
  ): Promise<OffsetPage<Profile[]>> {
    const { limit = 20, offset = 0, ...filters } = query
    const projectId = projectOf(caller)
    const rows = await store.listProfiles(db, { ...filters, projectId, limit: limit + 1, offset })
    return toPage(rows.map(toProfile), limit)
  }

  async get(db: Db, caller: Caller, idOrName: string): Promise<Profile> {
    return toProfile(await find(db, caller, idOrName))
  }

  async rename(tx: Db, caller: Caller, idOrName: string, name: string): Promise<Profile> {
    const { id, project_id } = await find(tx, caller, idOrName)
    await withFreeName(name, () => store.renameProfile(tx, project_id, id, name))
    return toProfile(await find(tx, caller, id))
  }

  async delete(caller: Caller, idOrName: string, commit: Commit): Promise<void> {
    const { db, versions, uses } = this.#options
    const { archives } = versions
    // Deleting twice succeeds, because a client that lost the first answer repeats the request.
    if (await wasDeleted(db, 'profiles', { projectId: projectOf(caller), id: idOrName }))
      return commit(() => Promise.resolve())
    const { id, project_id } = await find(db, caller, idOrName)
    const blobs = await commit(async (tx) => {
      await store.lockProfile(tx, id)
      for (const { what, countUsing } of uses) {
        const count = await countUsing(tx, id)
        if (count === 0) continue
        throw new AppError(
          'resource_in_use',
          `Cannot delete profile "${idOrName}": ${count} ${what} keep it logged in; delete them first`,
        )
      }
      const removed = await store.deleteProfile(tx, project_id, id)
      await archives.blobs.forget(tx, removed)
      await announceChange(tx, 'profileChanged', { profileId: id })
      return removed
    })
    for (const blob of blobs) await archives.blobs.remove(db, blob)
  }

  async download(
    caller: Caller,
    idOrName: string,
    { format = 'tar.zst', version }: { format?: ArchiveFormat; version?: number },
    signal: AbortSignal,
  ): Promise<RawAnswer> {
    const { db, versions } = this.#options
    const { archives } = versions
    let profile = await find(db, caller, idOrName)
    const isOutOfDate = () => version === undefined && profile.is_saving
    if (isOutOfDate()) {
      await this.#options.watch.whenSaved(profile.id, signal)
      profile = await find(db, caller, profile.id)
    }
    const number = version ?? profile.current_version
    if (number === null || isOutOfDate()) {
      return { status: 202, headers: { 'retry-after': RETRY_AFTER_SECONDS }, body: '' }
    }
    const found = await store.findVersion(db, profile.id, number)
    if (!found) throw noVersion(profile, number)
    const isPacked = format === 'tar.zst'
    return {
      headers: {
        'content-length': isPacked ? found.packed_bytes : found.size_bytes,
        'content-disposition': `attachment; filename="${profile.id}-${number}.${format}"`,
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
      },
      body: isPacked ? archives.openPacked(found) : archives.open(found),
    }
  }

  async import(
    caller: Caller,
    idOrName: string,
    stream: BodyStream | undefined,
    { signal, commit }: { signal: AbortSignal; commit: Commit },
  ): Promise<ProfileVersion> {
    const profile = await find(this.#options.db, caller, idOrName)
    if (!stream) throw invalidInput('body', 'must be a tar archive; send it with a Content-Type')
    using uploads = new DisposableStack()
    uploads.use(
      await this.#options.versions.storage.begin({
        projectId: profile.project_id,
        kind: 'profiles',
        action: 'import the archive',
      }),
    )
    const over = AbortSignal.any([signal, AbortSignal.timeout(IMPORT_TIMEOUT_MS)])
    const source = unpacked(stream.body, {
      enter: () => this.#decoders.enter(profile.project_id, { action: 'import the archive', signal: over }),
    })
    const archive = await this.#store(source, over, 'import the archive')
    const added = await this.#add(archive, () =>
      commit(async (tx) => {
        const { id: profileId, project_id: projectId } = profile
        const version = { projectId, profileId, source: 'import', archive, browserId: null } as const
        const outcome = await addVersion(tx, { ...version, onConflict: 'replace' }, this.#options.versions)
        if (!outcome) throw notFound(idOrName)
        return outcome
      }),
    )
    return toVersion(added.version, added.version.number)
  }

  async listVersions(
    db: Db,
    caller: Caller,
    idOrName: string,
    { limit = 20, offset = 0 }: { limit?: number; offset?: number },
  ): Promise<OffsetPage<ProfileVersion[]>> {
    const profile = await find(db, caller, idOrName)
    const rows = await store.listVersions(db, profile.id, { limit: limit + 1, offset })
    return toPage(
      rows.map((row) => toVersion(row, profile.current_version)),
      limit,
    )
  }

  async restore(tx: Db, caller: Caller, idOrName: string, number: number): Promise<Profile> {
    const profile = await find(tx, caller, idOrName)
    await this.#options.versions.onChange(tx, profile.project_id, profile.id)
    // Saves prune old versions; the lock keeps them from removing this one.
    await store.lockProfile(tx, profile.id)
    if (!(await store.findVersion(tx, profile.id, number))) throw noVersion(profile, number)
    await store.setCurrentVersion(tx, profile.id, number)
    await announceChange(tx, 'profileChanged', { profileId: profile.id })
    return toProfile(await find(tx, caller, profile.id))
  }

  /** Saves a session that keeps running. */
  async save(
    caller: Caller,
    idOrName: string,
    { force = false }: { force?: boolean },
    commit: Commit,
  ): Promise<ProfileVersion> {
    const { db, browsers, findSession } = this.#options
    const browser = await browsers.find(caller, idOrName)
    const { id: browserId, profile_id: profileId, profile_version } = browser
    if (profileId === null) {
      throw new AppError('conflict', 'Cannot save the session: it has no profile; attach one by PATCH first')
    }
    const profile = await store.findProfileBy(db, browser.project_id, 'id', profileId)
    if (!profile) throw notFound(profileId)
    // Check before Chromium is restarted; the save itself checks again.
    if (!force && profile.current_version !== profile_version) throw conflict(profile, profile_version)
    const session = await findSession(browserId)
    if (!session) throw new AppError('not_found', `Cannot find browser session "${idOrName}"`)
    using uploads = new DisposableStack()
    uploads.use(
      await this.#options.versions.storage.begin({
        projectId: browser.project_id,
        kind: 'profiles',
        action: 'save the session',
      }),
    )
    const archive = await this.#read(session)
    const added = await this.#add(archive, () =>
      commit(async (tx) => {
        const projectId = browser.project_id
        const version = { projectId, profileId, source: 'save', archive, browserId } as const
        const onConflict = force ? 'replace' : 'refuse'
        const outcome = await addVersion(tx, { ...version, onConflict }, this.#options.versions)
        if (!outcome) throw notFound(profileId)
        await store.setBase(tx, browserId, outcome.version.number)
        return outcome
      }),
    )
    return toVersion(added.version, added.version.number)
  }

  async #read(session: Session): Promise<StoredArchive> {
    const failed = new AbortController()
    const over = AbortSignal.any([session.ending, failed.signal, AbortSignal.timeout(SAVE_TIMEOUT_MS)])
    try {
      return await awake(session, async (agent) => {
        const source = await readFrom(agent, 'reopen', over)
        const archive = await this.#store(source, over, 'save the session')
        // The caller may reconnect right after the answer.
        await waitForChromium(agent, { signal: session.ending })
        return archive
      })
    } catch (error) {
      // Chromium restarts only once the reading has stopped.
      failed.abort(error)
      if (session.ending.aborted)
        throw new AppError('not_found', 'Cannot save the session: it has ended', { cause: error })
      if (!(error instanceof AgentError)) throw error
      throw new AppError('unavailable', 'Cannot save the session now; try again', { cause: error })
    }
  }

  async #store(
    source: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
    action: string,
  ): Promise<StoredArchive> {
    try {
      return await this.#options.versions.archives.store(source, signal)
    } catch (error) {
      throw refusalOf(error, action)
    }
  }

  /** Removes the archive if its row was not stored, and the blobs of pruned versions otherwise. */
  async #add(archive: StoredArchive, write: () => Promise<AddedVersion>): Promise<AddedVersion> {
    const { db, versions } = this.#options
    const { archives } = versions
    let added: AddedVersion
    try {
      added = await write()
    } catch (error) {
      const isKnown = await store.isVersionKnown(db, archive.versionId).catch(() => true)
      if (!isKnown) await archives.discard(db, archive).catch(() => {})
      throw error
    }
    for (const blob of added.removedBlobs) await archives.blobs.remove(db, blob)
    return added
  }
}

/** A profile of another project looks exactly like one that does not exist. */
async function find(db: Db, caller: Caller, idOrName: string): Promise<ProfileSummary> {
  const profile = await store.findProfile(db, projectOf(caller), idOrName)
  if (!profile) throw notFound(idOrName)
  return profile
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find profile "${idOrName}"`)
}

function noVersion({ id, name }: ProfileSummary, number: number): AppError {
  return new AppError('not_found', `Cannot find version ${number} of profile "${name ?? id}"`)
}

function refusalOf(error: unknown, action: string): unknown {
  const fail = (code: 'bad_request' | 'payload_too_large' | 'insufficient_storage', why: string) =>
    new AppError(code, `Cannot ${action}: ${why}`, { cause: error })
  if (error instanceof WrongArchive) return fail('bad_request', error.message)
  if (error instanceof ArchiveTooLarge) return fail('payload_too_large', error.message)
  if (isDiskFull(error)) return fail('insufficient_storage', 'the disk of the server is full')
  return error
}
