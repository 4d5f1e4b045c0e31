import {
  type Browser,
  type CreateBrowserRequest,
  type EndReason,
  type Tags,
  type UpdateBrowserRequest,
} from '@berth/contracts/browsers'
import { hasPolicy, type ChromePolicy } from '@berth/contracts/chrome-policy'
import type { BrowserStart } from '@berth/contracts/link'
import { newId } from '@berth/kit/ids'
import { pause } from '@berth/kit/pause'
import { crashPoint } from '../../platform/errors/crash-point.ts'
import { announceChange } from '../../platform/database/changes.ts'
import { uniqueNames } from '../../platform/database/unique-names.ts'
import type { Db } from '../../platform/database/schema.ts'
import { inOneTrip, inTransaction } from '../../platform/database/transaction.ts'
import { AppError, invalidInput } from '../../platform/errors/app-error.ts'
import type { Commit, OffsetPage } from '../../http/call.ts'
import { toPage } from '../../http/paging.ts'
import { projectOf, type Principal } from '../../http/principal.ts'
import { NoCapacity, NoGpu, type Instances } from '../../instances/stock/instances.ts'
import { AgentError } from '../../instances/agent/errors.ts'
import { isTimeZone, localeOf, speaks } from '../stealth/locale-of.ts'
import { selectAtCreation, selectAtUpdate, type Age } from '../telemetry/selection.ts'
import { collectExtras, type SessionExtra, type ExtraSource, type LookUp } from './extras.ts'
import type { Profile, ProfileRequest } from '@berth/contracts/profiles'
import type { HostRoom } from './host-room.ts'
import { claimOf } from './lease-claim.ts'
import type { SessionMemory } from './memory.ts'
import { full, fullEverywhere, isFull } from './no-room.ts'
import { checkRegion } from './region.ts'
import type { Asker, RoomElsewhere, WantedSession } from './room-elsewhere.ts'
import { resizeAmong, type ResizeGuard } from './resize.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { SessionExports } from './session-exports.ts'
import { SessionEnded, type Session } from '../session/session.ts'
import type { Sessions } from './sessions.ts'
import { toStartUrl } from './start-url.ts'
import { endUnready, isOver, isUsable, transition } from './state.ts'
import * as store from './store.ts'
import type { BrowserRecord, EndedBrowser, NewBrowser, ProxyChange } from './types.ts'
import { toViewport } from './viewport.ts'
import type { Belongings, BrowserView } from './view.ts'
import type { Pool } from 'pg'

/** Retry interval while the database does not say what became of a session. */
const LOOK_AGAIN_MS = 1_000

export const withFreeName = uniqueNames({ constraint: 'browsers_name', what: 'active session' })

/** The origin of a call: its project, and the address that URLs in the answer start with. */
export interface Caller {
  readonly principal: Principal
  /** From a header; null without one. */
  readonly projectId: string | null
  /** Such as https://berth.example. */
  readonly origin: string
  /** The telemetry API style of the caller: opt-out or opt-in. */
  readonly telemetryAge: Age
}

/** Records a session from its beginning. */
export interface SessionRecorder<Options = object> {
  /** Undefined when no recording was requested. Throws for an impossible request. */
  check(record: CreateBrowserRequest['record'], browser: { gpu: boolean }): Options | undefined
  recordFromStart(browser: BrowserRecord, options: Options, signal?: AbortSignal): Promise<void>
}

/** The Chromium policies of sessions. */
export interface SessionPolicies {
  /** Keyed by session id. A list contains only small policies. */
  of(
    browsers: readonly Pick<BrowserRecord, 'id' | 'has_chrome_policy'>[],
    options: { isList: boolean },
  ): Promise<ReadonlyMap<string, ChromePolicy>>
}

/** The profiles of sessions. */
export interface ProfileAttachments {
  /** Keyed by profile id. */
  shown(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Profile>>
  /** Attaches a profile to a running session. The returned function stores this in the caller's transaction. */
  attach(
    browser: BrowserRecord,
    request: ProfileRequest,
    signal?: AbortSignal,
  ): Promise<(tx: Db) => Promise<void>>
  /** Limits how many attachments run at once. */
  turn(projectId: string, signal?: AbortSignal): Promise<Disposable>
}

export interface BrowserServiceOptions {
  readonly db: Db
  readonly pool: Pool
  readonly sessions: Sessions
  readonly live: LiveSessions
  readonly instances: Instances
  readonly view: BrowserView
  readonly policies: SessionPolicies
  readonly serverId: string
  readonly maxSessions: number
  readonly defaultProject: (db: Db) => Promise<{ id: string }>
  readonly resizeGuards: readonly ResizeGuard[]
  readonly recorder: SessionRecorder
  readonly extraSources: readonly ExtraSource[]
  readonly proxies: SessionProxyChanges
  readonly exports: SessionExports
  readonly profiles: ProfileAttachments
  readonly saves: SessionSaves
  readonly memory: SessionMemory
  /** That of this server. */
  readonly region: string
  readonly room: HostRoom
  readonly elsewhere: RoomElsewhere
}

/** The saves of ended sessions. */
export interface SessionSaves {
  /** Resolves when the session is saved, at once if there is nothing to save, and after a timeout in any case. */
  whenEndSaved(ended: EndedBrowser, signal: AbortSignal): Promise<void>
}

/** Knows which proxies a session may have. */
export interface SessionProxyChanges {
  /** What a request to create a session says about its network. Throws when it is invalid. */
  choiceFor(
    db: Db,
    body: CreateBrowserRequest,
    projectId: string,
  ): Promise<Pick<NewBrowser, 'proxyId' | 'isDefaultProxyDisabled' | 'privateHosts'>>
  /** Two-letter code of the country that the proxy's traffic comes from; undefined when unknown. */
  countryOf(db: Db, proxyId: string, projectId: string): Promise<string | undefined>
  /** Those that have a name, by proxy id. */
  namesOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Undefined when nothing changes. Throws for an impossible change. */
  changeOf(record: BrowserRecord, body: UpdateBrowserRequest): Promise<ProxyChange | undefined>
  /** Locks the proxy in the transaction that makes a session use it, so that nobody deletes it in between. */
  hold(tx: Db, projectId: string, change: ProxyChange): Promise<void>
}

/** The request behind a change. */
export interface Act {
  readonly commit: Commit
  /** Aborts when the caller leaves. */
  readonly signal?: AbortSignal
}

/** A checked request whose session does not exist yet. */
export interface PlannedBrowser {
  readonly browser: NewBrowser
  readonly extras: readonly SessionExtra[]
}

/** With which the row of a session is inserted. */
export interface ReservedIds {
  readonly id: string
  readonly instanceId: string
}

export interface Opening<T> {
  /** A new one by default. */
  readonly id?: string
  /** Inserts the row, which counts against the limits; throws when a limit is reached. */
  readonly reserve: (ids: ReservedIds) => Promise<BrowserRecord>
  /** Called when the session runs. An error it throws ends the session. */
  readonly finish: (reserved: BrowserRecord) => Promise<T>
  /** Aborts when the caller leaves. The session is then removed, however far it got. */
  readonly signal?: AbortSignal | undefined
}

export class BrowserService {
  readonly #options: BrowserServiceOptions

  constructor(options: BrowserServiceOptions) {
    this.#options = options
  }

  /**
   * Inserts the row first, which counts against the limits, then starts the instance, then marks the row as ready. The
   * row makes it possible to find and undo an interrupted creation. A caller that leaves before the last commit also
   * undoes it. When this host has no room, another server starts the session.
   */
  async create(caller: Caller, body: CreateBrowserRequest, act: Act): Promise<Browser> {
    const { db, defaultProject, recorder } = this.#options
    const { commit, signal } = act
    const projectId = projectOf(caller) ?? (await defaultProject(db)).id
    const place = { projectId, telemetryAge: caller.telemetryAge }
    const planned = await this.plan(body, place, { db, waits: true, signal })
    const recording = recorder.check(body.record, planned.browser)
    try {
      return await this.open(planned, {
        signal,
        reserve: (ids) => this.#reserve(planned, ids),
        finish: async (reserved) => {
          if (recording) await recorder.recordFromStart(reserved, recording, signal)
          return commit(async (tx) => {
            // The last chance to stop: a committed session stays, even if its caller never gets the answer.
            signal?.throwIfAborted()
            return this.show(tx, await markStarted(tx, reserved.id), caller)
          })
        },
      })
    } catch (error) {
      // Instances elsewhere have one pool of room for all servers.
      if (!isFull(error) || this.#options.instances.capabilities.isElsewhere) throw error
      return this.#createElsewhere(caller, { ...place, browser: body }, act, error)
    }
  }

  /** The other server's row is made ready here, with the audit record and the answer to repeated requests. */
  async #createElsewhere(
    caller: Caller,
    wanted: WantedSession,
    { commit, signal }: Act,
    here: AppError,
  ): Promise<Browser> {
    const { started, refusals } = await this.#options.elsewhere.start(wanted, signal)
    if (!started) throw fullEverywhere(here, refusals)
    crashPoint('elsewhere-started')
    try {
      return await commit(async (tx) => {
        signal?.throwIfAborted()
        const shown = await this.show(tx, await markStarted(tx, started.id), caller)
        // The last moment to notice it: nobody wants a session of a server that is gone.
        started.lost.throwIfAborted()
        return shown
      })
    } catch (error) {
      // Not awaited: the transaction may still hold the row, until this error has ended it.
      void this.#options.sessions.endElsewhere(started.id, 'start_failed')
      throw error
    } finally {
      started.release()
    }
  }

  /**
   * Starts a session for another server, which makes it ready in its own transaction. If it has not done so when it
   * releases the session or is gone, the session ends.
   */
  async startFor(
    asker: Asker,
    { id, browser: body, ...place }: WantedSession & { id: string },
  ): Promise<void> {
    const { db, recorder } = this.#options
    const { left: signal } = asker
    const planned = await this.plan(body, place, { db, waits: true, signal })
    const recording = recorder.check(body.record, planned.browser)
    await this.open(planned, {
      id,
      signal,
      reserve: (ids) => this.#reserve(planned, ids),
      finish: async (reserved) => {
        if (recording) await recorder.recordFromStart(reserved, recording, signal)
        crashPoint('started-for-another')
        await asker.released()
        if (await this.#endIfUnready(id, asker.closing)) {
          throw new AppError('conflict', 'Cannot keep the session: the server that asked for it did not')
        }
      },
    })
  }

  /** Whether the session was still starting. Asks until the database answers, as nobody else would end the session. */
  async #endIfUnready(id: string, closing: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        return (await endUnready(this.#options.db, id)) !== undefined
      } catch (error) {
        if (closing.aborted) throw error
        await pause(LOOK_AGAIN_MS, closing)
      }
    }
  }

  /** Checks a request; throws when this server cannot fulfil it. */
  async plan(
    body: CreateBrowserRequest,
    place: { projectId: string; telemetryAge: Age },
    lookUp: LookUp = { db: this.#options.db, waits: true },
  ): Promise<PlannedBrowser> {
    const browser = await this.#toNewBrowser(place, body, lookUp.db)
    return { browser, extras: await collectExtras(this.#options.extraSources, body, browser, lookUp) }
  }

  /** Turns a plan into a session: reserves its row, starts it and calls `finish`. */
  async open<T>(planned: PlannedBrowser, { id = newId(), reserve, finish, signal }: Opening<T>): Promise<T> {
    const { sessions, instances, room } = this.#options
    if (instances.shortcomings.length > 0) {
      throw new AppError(
        'sessions_unavailable',
        `Cannot create a session: ${instances.shortcomings.join('; ')}`,
      )
    }
    signal?.throwIfAborted()
    try {
      using place = new DisposableStack()
      place.use(await room.take(id, signal))
      return await this.#openAt(id, planned, { reserve, finish, signal })
    } catch (error) {
      // After an abort, the abort is the cause of the failure.
      signal?.throwIfAborted()
      if (error instanceof NoGpu) throw withoutGpu(error.message)
      if (!(error instanceof NoCapacity)) throw unavailable('create a session', error)
      sessions.roomChanged()
      throw full(error.message, error)
    }
  }

  async #openAt<T>(
    id: string,
    { browser, extras }: PlannedBrowser,
    { reserve, finish, signal }: Opening<T>,
  ): Promise<T> {
    const { sessions, instances } = this.#options
    const claim = instances.claim(browser.projectId, toStart(browser), extras)
    crashPoint('browser-claimed')
    const reserved = await reserve({ id, instanceId: claim.instanceId }).catch((error: unknown) => {
      claim.giveBack()
      throw error
    })
    crashPoint('browser-reserved')
    try {
      await sessions.start(reserved, claim, signal)
      crashPoint('browser-started')
      return await finish(reserved)
    } catch (error) {
      await sessions.end(reserved.id, 'start_failed')
      throw error
    }
  }

  async #reserve({ browser, extras }: PlannedBrowser, ids: ReservedIds): Promise<BrowserRecord> {
    const { db, pool, serverId, maxSessions } = this.#options
    const { projectId } = browser
    const insert = (tx: Db) => store.insertBrowserIfRoom(tx, browser, { ...ids, serverId, maxSessions })
    const keepers = extras.flatMap((each) => each.keep?.bind(each) ?? [])
    return withFreeName(browser.name, async () => {
      for (;;) {
        // The row is confirmed when the session is ready. Until then nobody was told of it.
        const inserted =
          keepers.length === 0
            ? await inOneTrip(pool, insert)
            : await inTransaction(pool, async ({ db: tx }) => {
                let record = await insert(tx)
                for (const keep of keepers) record &&= (await keep(tx, record)) ?? record
                return record
              })
        if (inserted) return inserted
        const { ofOrganization, ofProject, projectCap } = await store.readOccupancy(db, projectId)
        if (ofOrganization >= maxSessions) throw tooMany('the organisation', maxSessions)
        if (projectCap !== null && ofProject >= projectCap) throw tooMany('the project', projectCap)
        // A session has ended since, so there is room.
      }
    })
  }

  async #toNewBrowser(
    { projectId, telemetryAge: age }: { projectId: string; telemetryAge: Age },
    body: CreateBrowserRequest,
    db: Db,
  ): Promise<NewBrowser> {
    const { instances } = this.#options
    const { headless = false, gpu = false } = body
    if (gpu && headless) throw invalidInput('gpu', 'needs headless to be false')
    const { gpus, problems } = instances.capabilities.gpu
    if (gpu && gpus.length === 0) throw withoutGpu(problems.join('; '))
    const stealth = body.stealth ?? false
    const { region, memory, proxies } = this.#options
    checkRegion(body.region, region)
    const memoryMb = memory.mbFor(body, { hasScreen: !isWithoutScreen({ headless, stealth }) })
    const network = await proxies.choiceFor(db, body, projectId)
    if (!isWithoutScreen({ headless, stealth }) && !instances.capabilities.headful) {
      throw headless
        ? invalidInput('stealth', "is not available: this server's host has no X server installed")
        : invalidInput('headless', "must be true: this server's host has no X server installed")
    }
    return {
      projectId,
      name: body.name ?? null,
      tags: body.tags ?? {},
      headless,
      stealth,
      gpu,
      kioskMode: body.kiosk_mode ?? false,
      timeoutSeconds: body.timeout_seconds ?? 60,
      standbyAfterSeconds: this.#standbyAfter(body),
      viewport: toViewport(body.viewport, { gpu }),
      startUrl: toStartUrl(body.start_url),
      ...network,
      region,
      memoryMb,
      ...(await this.#surroundings(body, { projectId, proxyId: network.proxyId }, db)),
      hasChromePolicy: hasPolicy(body),
      telemetry: selectAtCreation({ request: body.telemetry, age }),
    }
  }

  /** The requested locale and time zone. A stealth session that requests neither gets those of its proxy's country. */
  async #surroundings(
    body: CreateBrowserRequest,
    { projectId, proxyId }: Pick<NewBrowser, 'projectId' | 'proxyId'>,
    db: Db,
  ): Promise<Pick<NewBrowser, 'locale' | 'timezone'>> {
    const { locale = null, timezone = null, stealth = false } = body
    const { locales } = this.#options.instances.capabilities
    if (timezone !== null && !isTimeZone(timezone)) {
      throw invalidInput('timezone', `must be a time zone such as Europe/Berlin, but is "${timezone}"`)
    }
    if (locale !== null && !speaks(locales, locale)) {
      throw invalidInput(
        'locale',
        `is not available: this server's Chromium does not support "${locale}"; is chromium-l10n installed?`,
      )
    }
    if (!stealth || proxyId === null || locale !== null || timezone !== null) return { locale, timezone }
    const country = await this.#options.proxies.countryOf(db, proxyId, projectId)
    const there = country === undefined ? undefined : localeOf(country)
    if (!there) return { locale, timezone }
    return { locale: speaks(locales, there.locale) ? there.locale : null, timezone: there.timezone }
  }

  #standbyAfter({ standby_after_seconds, gpu = false }: CreateBrowserRequest): number | null {
    if (standby_after_seconds !== undefined && gpu) {
      throw invalidInput(
        'standby_after_seconds',
        'is not available with gpu: a frozen session would keep its place on the GPU; use timeout_seconds',
      )
    }
    const { freeze, isElsewhere } = this.#options.instances.capabilities
    if (standby_after_seconds !== undefined && !freeze) {
      throw invalidInput(
        'standby_after_seconds',
        isElsewhere
          ? 'is not available: sessions run in Pods, and the nodes have no helper that freezes them; use timeout_seconds'
          : "is not available: this server's host has no freezer",
      )
    }
    return standby_after_seconds ?? null
  }

  async list(
    caller: Caller,
    query: {
      limit?: number
      offset?: number
      status?: 'active' | 'deleted' | 'all'
      include_deleted?: boolean
      query?: string
      region?: string
      tags?: Tags
    },
  ): Promise<OffsetPage<Browser[]>> {
    const { limit = 20, offset = 0, include_deleted, status = 'active', query: part, tags = {} } = query
    const { db, region: own } = this.#options
    const rows = await store.listBrowsers(db, {
      projectId: projectOf(caller),
      status: include_deleted ? 'all' : status,
      ...(part && { query: part }),
      ...(query.region && { region: { asked: query.region, own } }),
      tags,
      limit: limit + 1,
      offset,
    })
    const shown = rows.slice(0, limit)
    const belongings = await this.#belongingsOf(db, shown, { isList: true })
    return toPage(
      rows.map((row) => this.#options.view.show(row, caller, belongings)),
      limit,
    )
  }

  /** Includes the session's profile and policy. */
  async show(db: Db, record: BrowserRecord, caller: Caller): Promise<Browser> {
    return this.#options.view.show(record, caller, await this.#belongingsOf(db, [record], { isList: false }))
  }

  async #belongingsOf(
    db: Db,
    rows: readonly BrowserRecord[],
    { isList }: { isList: boolean },
  ): Promise<Belongings> {
    const ids = rows.flatMap(({ profile_id }) => profile_id ?? [])
    const proxyIds = rows.flatMap(({ proxy_id }) => proxy_id ?? [])
    return {
      profiles: ids.length === 0 ? new Map() : await this.#options.profiles.shown(db, ids),
      proxyNames: proxyIds.length === 0 ? new Map() : await this.#options.proxies.namesOf(db, proxyIds),
      policies: await this.#options.policies.of(rows, { isList }),
    }
  }

  async get(
    caller: Caller,
    idOrName: string,
    { includeDeleted }: { includeDeleted: boolean },
  ): Promise<Browser> {
    const record = await this.find(caller, idOrName, { includeDeleted })
    return this.show(this.#options.db, record, caller)
  }

  async update(
    caller: Caller,
    idOrName: string,
    body: UpdateBrowserRequest,
    { commit, signal }: Act,
  ): Promise<Browser> {
    const { sessions } = this.#options
    const record = await this.find(caller, idOrName)
    const asked = { request: body.telemetry, age: caller.telemetryAge }
    const telemetry = selectAtUpdate(asked, record.telemetry)
    const exportTo = this.#options.exports.choiceOf(record, body.telemetry, telemetry)
    const proxy = await this.#options.proxies.changeOf(record, body)
    const viewport = body.viewport && toViewport(body.viewport, record)
    if (viewport) {
      await this.#resize(record, viewport, { force: body.viewport?.force ?? false }).catch(
        (error: unknown) => {
          throw unavailable('change the session', error)
        },
      )
    }
    const change: store.BrowserChange = {
      // Null keeps both, as it keeps the proxy and the telemetry.
      ...(typeof body.name === 'string' && { name: body.name || null }),
      ...(body.tags && { tags: body.tags }),
      ...(body.start_url !== undefined && { startUrl: toStartUrl(body.start_url) }),
      ...(body.timeout_seconds !== undefined && { timeoutSeconds: body.timeout_seconds }),
      ...(viewport && { viewport }),
      ...(telemetry !== undefined && { telemetry }),
      ...(proxy && { proxy }),
    }
    const { profiles } = this.#options
    const attach = body.profile && (await profiles.attach(record, body.profile, signal))
    let updated: BrowserRecord | undefined
    using turn = new DisposableStack()
    if (attach) turn.use(await profiles.turn(record.project_id, signal))
    const answer = await withFreeName(body.name ?? null, () =>
      commit(async (tx) => {
        await attach?.(tx)
        if (proxy) await this.#options.proxies.hold(tx, record.project_id, proxy)
        const row = await store.updateBrowser(tx, record.id, change)
        if (!row) throw notFound(idOrName)
        const changed = await this.#options.exports.apply(tx, row, exportTo)
        await announceChange(tx, 'sessionChanged', { sessionId: record.id })
        updated = changed
        return this.show(tx, changed, caller)
      }),
    ).catch((error: unknown) => {
      throw unavailable('change the session', error)
    })
    // Events after the answer must be captured with the new selection.
    if (telemetry !== undefined) await sessions.capture(updated!)
    // After the answer, no traffic uses the old egress route. This also runs when a caller retries after a 503.
    const isAboutProxy = (body.proxy ?? body.proxy_id ?? body.disable_default_proxy) !== undefined
    if (isAboutProxy) await sessions.reroute(updated!)
    sessions.open(record.id, body.start_url)
    return answer
  }

  async #resize(
    browser: BrowserRecord,
    { width, height }: NewBrowser['viewport'],
    { force }: { force: boolean },
  ): Promise<void> {
    const { sessions } = this.#options
    const isSame = width === browser.viewport_width && height === browser.viewport_height
    const session = isSame ? undefined : await sessions.find(browser.id)
    const resize = () => sessions.shape(browser.id, { width, height })
    if (!session) return resize()
    await resizeAmong(this.#options.resizeGuards, { session, browser, force, resize })
  }

  /** Resets viewport and proxy of a pooled browser for its next lease. */
  async putBack(
    record: BrowserRecord,
    { viewport: asked, proxy_id: proxyId = '' }: Pick<CreateBrowserRequest, 'viewport' | 'proxy_id'>,
  ): Promise<BrowserRecord> {
    const { sessions, pool } = this.#options
    const { proxies } = this.#options
    const viewport = toViewport(asked, record)
    const { width, height } = viewport
    const isResized = width !== record.viewport_width || height !== record.viewport_height
    const isRerouted = (record.proxy_id ?? '') !== proxyId || record.is_default_proxy_disabled
    if (!isResized && !isRerouted) return record
    // Throws when the proxy no longer exists.
    await proxies.changeOf(record, { proxy_id: proxyId })
    if (isResized) await sessions.shape(record.id, { width, height })
    const proxy = { proxyId: proxyId || null, isDefaultProxyDisabled: false }
    const updated = await inTransaction(pool, async ({ db: tx }) => {
      if (isRerouted) await proxies.hold(tx, record.project_id, proxy)
      const changed = await store.updateBrowser(tx, record.id, { viewport, ...(isRerouted && { proxy }) })
      if (!changed) throw notFound(record.id)
      await announceChange(tx, 'sessionChanged', { sessionId: record.id })
      return changed
    })
    if (isRerouted) await sessions.reroute(updated)
    return updated
  }

  /** Resolves when the session is saved, if it has a profile to save; the instance may end a moment later. */
  async delete(
    caller: Caller,
    idOrName: string,
    { commit, signal }: Required<Act>,
    options: { leaseId: string | undefined; revokesReplayLinks: boolean },
  ): Promise<void> {
    const record = await this.find(caller, idOrName, { includeDeleted: true })
    await this.#delete(caller, record, commit, options)
    await this.#options.saves.whenEndSaved(record, signal)
  }

  async #delete(
    caller: Caller,
    record: BrowserRecord,
    commit: Commit,
    { leaseId, revokesReplayLinks }: { leaseId: string | undefined; revokesReplayLinks: boolean },
  ): Promise<void> {
    const revoke = revokesReplayLinks ? (tx: Db) => store.revokeReplayLinks(tx, record.id) : undefined
    if (isOver(record)) {
      if (revoke) await commit(revoke)
      return
    }
    if (record.leased_at === null) {
      if (leaseId !== undefined) throw invalidInput('lease_id', 'is only for a session that a pool leases')
      return this.end(record, 'deleted', commit, revoke)
    }
    const claim = claimOf(record, { leaseId, keyId: caller.principal.keyId })
    if (claim === 'none') throw invalidInput('lease_id', `is not one of session "${record.id}"`)
    // What the caller had of it has ended already.
    if (claim === 'over' && leaseId !== undefined) return
    if (claim === 'over') throw overtaken(record)
    await this.end(record, 'deleted', commit, async (tx) => {
      const now = await store.lockBrowser(tx, record.id)
      const isSame = now?.leased_at === record.leased_at && now.lease_started === record.lease_started
      if (now && !isOver(now) && !isSame) throw overtaken(record)
      await revoke?.(tx)
    })
  }

  /** `first` runs in the same transaction. */
  async end(
    record: BrowserRecord,
    reason: EndReason,
    commit: Commit,
    first?: (tx: Db) => Promise<void>,
  ): Promise<void> {
    const uptimeMs = this.#options.live.uptimeOf(record.id)
    await commit(async (tx) => {
      await first?.(tx)
      await transition(tx, record.id, { to: 'ending', reason, ...(uptimeMs !== undefined && { uptimeMs }) })
      // The server that runs the session ends it.
      await announceChange(tx, 'sessionChanged', { sessionId: record.id })
    })
    crashPoint('browser-deleted')
    // The announcement takes a moment, but no client may connect after the answer.
    this.#options.sessions.shut(record, reason)
  }

  /** Finds a usable session. One that runs on this server needs no database query. */
  async session(caller: Caller, idOrName: string): Promise<Session> {
    const { sessions } = this.#options
    const here = sessions.findHere(idOrName)
    const projectId = projectOf(caller)
    const isSeen = here && (projectId === null || here.projectId === projectId)
    if (isSeen && !here.ending.aborted && !here.isIdle) return here.current
    const record = await this.find(caller, idOrName)
    const session = await sessions.findAt(record.id, record.lease_number)
    if (!session || session.ending.aborted) throw notFound(idOrName)
    return session
  }

  /** Also finds sessions that have ended. */
  async idOf(caller: Caller, idOrName: string): Promise<string> {
    return (await this.find(caller, idOrName, { includeDeleted: true })).id
  }

  /** The project of a usable session; undefined once this lease is over. */
  async projectOf(sessionId: string, leaseNumber: number): Promise<string | undefined> {
    const here = this.#options.sessions.findHere(sessionId)
    if (here?.ending.aborted) return undefined
    if (here?.leaseNumber === leaseNumber && !here.isIdle) return here.projectId
    const record = await store.findBrowserById(this.#options.db, sessionId)
    if (!record || !isUsable(record) || record.lease_number !== leaseNumber) return undefined
    return record.pool_id === null || record.leased_at !== null ? record.project_id : undefined
  }

  async find(
    caller: Caller,
    idOrName: string,
    { includeDeleted = false }: { includeDeleted?: boolean } = {},
  ): Promise<BrowserRecord> {
    const record = await store.findBrowser(this.#options.db, projectOf(caller), idOrName)
    if (!record || record.state === 'starting' || (isOver(record) && !includeDeleted))
      throw notFound(idOrName)
    return record
  }
}

function overtaken({ id }: BrowserRecord): AppError {
  return new AppError(
    'conflict',
    `Cannot end session "${id}": your lease of it is over, and another one may have begun; send the lease_id that you mean`,
  )
}

async function markStarted(tx: Db, id: string): Promise<BrowserRecord> {
  const started = await transition(tx, id, { to: 'ready' })
  if (!started) throw new AppError('conflict', 'Cannot create the session: it was ended while it started')
  return started
}

/**
 * Headless Chromium reveals itself in its user agent and to scripts. A flag can hide that, but then its client hints
 * are empty, which reveals it too. So a stealth session always has a screen, even when it is requested as headless.
 */
function isWithoutScreen({ headless, stealth }: Pick<NewBrowser, 'headless' | 'stealth'>): boolean {
  return headless && !stealth
}

function toStart(browser: NewBrowser): BrowserStart {
  const { viewport, kioskMode, locale, timezone, stealth, gpu } = browser
  return {
    headless: isWithoutScreen(browser),
    width: viewport.width,
    height: viewport.height,
    kiosk: kioskMode,
    ...(locale !== null && { locale }),
    ...(timezone !== null && { timezone }),
    // Without it, a page could tell by window.open() that nobody uses this browser.
    ...(stealth && { blocksPopups: true }),
    ...(gpu && { gpu }),
  }
}

/** Translates errors of the agent and of ended sessions; returns any other error unchanged. */
function unavailable(action: string, error: unknown): unknown {
  if (error instanceof SessionEnded) {
    return new AppError('conflict', `Cannot ${action}: it has just ended`, { cause: error })
  }
  if (!(error instanceof AgentError)) return error
  // The other lines are program output, which is in the log.
  const [why] = error.message.split('\n', 1)
  return new AppError('unavailable', `Cannot ${action}: ${why}`, { cause: error })
}

function tooMany(whose: string, cap: number): AppError {
  return new AppError(
    'too_many_sessions',
    `Cannot create a session: ${whose} has reached its limit of ${cap} concurrent sessions; end one or raise the limit`,
    { headers: { 'retry-after': '1' } },
  )
}

function withoutGpu(why: string): AppError {
  return invalidInput('gpu', `is not available: ${why}; or leave gpu out`)
}

function notFound(idOrName: string): AppError {
  return new AppError('not_found', `Cannot find browser session "${idOrName}"`)
}
