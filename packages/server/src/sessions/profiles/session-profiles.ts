// Loads a profile into a session: before its Chromium starts, or later by restarting Chromium.
import type { CreateBrowserRequest } from '@berth/contracts/browsers'
import type { Profile, ProfileRequest } from '@berth/contracts/profiles'
import { FairTurns } from '@berth/kit/fair-turns'
import type { SessionExtra, ExtraSource, LookUp } from '../browsers/extras.ts'
import type { ProfileAttachments } from '../browsers/service.ts'
import { awake, type Session } from '../session/session.ts'
import { openedUrl } from '../browsers/start-url.ts'
import type { BrowserRecord, NewBrowser } from '../browsers/types.ts'
import type { Db } from '../../platform/database/schema.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { AgentClient } from '../../instances/agent/client.ts'
import { keepTabs, writeUserData } from '../../instances/agent/user-data.ts'
import type { SaveWatch } from './save-watch.ts'
import * as store from './store.ts'
import type { SessionProfile, VersionRecord } from './types.ts'
import type { ArchiveStore } from './archive-store.ts'
import { toProfile } from './view.ts'

/** Each attachment holds a database connection while Chromium restarts. */
const ATTACHES_AT_ONCE = 3
/** However slowly the sessions of one project take their profile, there is a place for another. */
const ATTACHES_AT_ONCE_PER_PROJECT = 2

export interface SessionProfilesOptions {
  readonly db: Db
  readonly archives: ArchiveStore
  readonly watch: SaveWatch
  readonly findSession: (id: string) => Session | undefined | Promise<Session | undefined>
}

interface Asked extends SessionProfile {
  /** Undefined when the profile is empty. */
  readonly archive: VersionRecord | undefined
}

export class SessionProfiles implements ExtraSource, ProfileAttachments {
  readonly #options: SessionProfilesOptions
  readonly #attaching = new FairTurns({
    atOnce: ATTACHES_AT_ONCE,
    atOncePerKey: ATTACHES_AT_ONCE_PER_PROJECT,
    maxWaitingPerKey: Number.POSITIVE_INFINITY,
  })

  constructor(options: SessionProfilesOptions) {
    this.#options = options
  }

  async extraFor(
    { profile }: Pick<CreateBrowserRequest, 'profile'>,
    { projectId, startUrl }: Pick<NewBrowser, 'projectId' | 'startUrl'>,
    lookUp: LookUp,
  ): Promise<SessionExtra | undefined> {
    if (!profile) return undefined
    const asked = await this.#find(projectId, profile, lookUp)
    // A start URL replaces the tabs that were open.
    const tabs = openedUrl(startUrl) === undefined ? 'keep' : 'drop'
    return {
      refersTo: { profileId: asked.profileId },
      needsStart: asked.archive !== undefined,
      bring: ({ agent }) => this.#bring(agent, asked, tabs),
      keep: (tx, browser) => this.#give(tx, browser, asked),
    }
  }

  async shown(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Profile>> {
    const found = await store.listByIds(db, [...new Set(ids)])
    return new Map(found.map((record) => [record.id, toProfile(record)]))
  }

  /** For a session without a profile. The returned function loads it while it holds the caller's transaction open. */
  async attach(
    browser: BrowserRecord,
    profile: ProfileRequest,
    signal?: AbortSignal,
  ): Promise<(tx: Db) => Promise<void>> {
    if (browser.profile_id !== null) throw hasOne()
    const { db } = this.#options
    const asked = await this.#find(browser.project_id, profile, { db, waits: true, signal })
    const session = await this.#options.findSession(browser.id)
    if (!session) throw ended()
    return async (tx) => {
      // The last chance to stop: a session with half a profile would be useless.
      signal?.throwIfAborted()
      // Two at once could leave one profile in the instance and the other in the row.
      if (!(await store.lockAttaching(tx, browser.id))) throw underWay()
      if (await store.hasProfile(tx, browser.id)) throw hasOne()
      await awake(session, (agent) => this.#bring(agent, asked, 'keep')).catch((error: unknown) => {
        throw session.ending.aborted ? ended(error) : error
      })
      await this.#give(tx, browser, asked)
    }
  }

  /** Limits attachments, because each holds a database connection. */
  turn(projectId: string, signal?: AbortSignal): Promise<Disposable> {
    return this.#attaching.enter(projectId, signal)
  }

  async #find(projectId: string, request: ProfileRequest, { db, waits, signal }: LookUp): Promise<Asked> {
    const { id = '', name = '', save_changes = false, on_conflict = 'replace' } = request
    if ((id === '') === (name === ''))
      throw invalidInput('profile', 'must have an id or a name, and not both')
    const look = () =>
      id === ''
        ? store.findProfileBy(db, projectId, 'name', name)
        : store.findProfileBy(db, projectId, 'id', id)
    let profile = await look()
    if (waits && profile?.is_saving) {
      await this.#options.watch.whenSaved(profile.id, signal)
      profile = await look()
    }
    if (!profile) throw absent(id || name)
    const { current_version: version } = profile
    const archive = version === null ? undefined : await store.findVersion(db, profile.id, version)
    return {
      profileId: profile.id,
      version,
      savesChanges: save_changes,
      onConflict: on_conflict,
      archive,
    }
  }

  async #bring(agent: AgentClient, { archive }: Asked, tabs: 'keep' | 'drop'): Promise<void> {
    if (!archive) return keepTabs(agent)
    const content = this.#options.archives.openPacked(archive)
    try {
      await writeUserData(agent, content, { bytes: Number(archive.packed_bytes), tabs })
    } finally {
      content.destroy()
    }
  }

  async #give(tx: Db, browser: BrowserRecord, asked: Asked): Promise<BrowserRecord> {
    if (!(await store.markUsed(tx, browser.project_id, asked.profileId))) {
      throw absent(asked.profileId)
    }
    if (!(await store.giveToBrowser(tx, browser.id, asked))) throw ended()
    return {
      ...browser,
      profile_id: asked.profileId,
      profile_version: asked.version,
      profile_save_changes: asked.savesChanges,
      profile_on_conflict: asked.onConflict,
    }
  }
}

const absent = (idOrName: string) =>
  invalidInput('profile', `names "${idOrName}", which does not exist in the project`)
const hasOne = () =>
  new AppError('conflict', 'Cannot attach a profile: the session has one already; create another session')
const underWay = () => new AppError('conflict', 'Cannot attach a profile: another profile is being attached')
const ended = (cause?: unknown) =>
  new AppError('not_found', 'Cannot attach a profile: the session has ended', { cause })
