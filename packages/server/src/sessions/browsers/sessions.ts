// The live sessions of this server: connects each row with its instance from start to end, also across a restart of
// the server.
import type { Logger } from 'pino'
import type { EndReason } from '@berth/contracts/browsers'
import type { Shape } from '@berth/contracts/link'
import { unlessAborted } from '@berth/kit/abort'
import { pause } from '@berth/kit/pause'
import type { Db } from '../../platform/database/schema.ts'
import { announceChange } from '../../platform/database/changes.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { OtherServers } from './other-servers.ts'
import type { Instance } from '../../instances/driver/driver.ts'
import type { Claim, Instances, ReadyInstance } from '../../instances/stock/instances.ts'
import { setShape } from '../../instances/agent/chromium.ts'
import { setTelemetry } from '../../instances/agent/telemetry.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { DeepStandby } from './deep-standby.ts'
import type { HostRoom } from './host-room.ts'
import type { LiveSessions } from './live-sessions.ts'
import { LiveSession } from './live-session.ts'
import { Routing, type RouteOf } from './routing.ts'
import { awake, type Session } from '../session/session.ts'
import type { PooledSession, CurrentLease } from './leased-session.ts'
import { openedUrl } from './start-url.ts'
import { isOver, isUsable, transition, type State } from './state.ts'
import * as store from './store.ts'
import type { BrowserRecord, EndedBrowser } from './types.ts'

/** An instance that nobody holds is frozen after this time. */
const STANDBY_AFTER_MS = 5_000
const standbyRule = ({ standby_after_seconds: seconds }: BrowserRecord) => ({
  whenFreeMs: STANDBY_AFTER_MS,
  whenSilentMs: seconds === null ? null : seconds * 1000,
})
const RECONCILE_MS = 10_000
/** Retry interval while the database refuses to record the end of a session. */
const RECORD_AGAIN_MS = 1_000
/** Where servers take sessions over from each other, they must do it well within the lease. */
const SIGNS_OF_LIFE_PER_LEASE = 8
const SILENT_PART_OF_LEASE = 0.4
const TAKEN_AT_ONCE = 20
/** The other servers hear at once that this one has turned full, or has room again, but not more often than this. */
const TELL_ROOM_AGAIN_MS = 1_000
/** Added to the lease: after this silence, the instances of a server have ended themselves. */
const LOST_MARGIN_SECONDS = 30

function leaseOf({ pool_id, lease_number: number, leased_at }: BrowserRecord): CurrentLease | undefined {
  return pool_id === null ? undefined : { number, isIdle: leased_at === null }
}

/** A browser that waits in its pool has no timeout. */
function timeoutOf(record: BrowserRecord): number | null {
  return leaseOf(record)?.isIdle ? null : record.timeout_seconds
}

function atLease(session: LiveSession | undefined, leaseNumber: number): PooledSession | undefined {
  return session?.leaseNumber === leaseNumber && !session.isIdle ? session.current : undefined
}

function useOf({ id, uptimeMs, depth, memory, lastWakeMs }: LiveSession): store.SessionUse {
  return { id, uptimeMs, depth, residentBytes: memory?.residentBytes, lastWakeMs }
}

export interface SessionsOptions {
  readonly live: LiveSessions
  readonly db: Db
  readonly instances: Instances
  readonly serverId: string
  readonly peers: OtherServers
  readonly leaseSeconds: number
  readonly region: string
  readonly room: Pick<HostRoom, 'free'>
  readonly deepStandby: Pick<DeepStandby, 'look' | 'refresh' | 'roomToWake'>
  /** Runs after a session has ended and before its instance is destroyed. */
  readonly beforeDestroy?: (ended: EndedSession) => Promise<void>
  readonly telemetry: Telemetry
  readonly routeOf: RouteOf
  readonly log: Logger
}

export interface EndedSession {
  readonly id: string
  readonly projectId: string
  readonly instance: Instance
  readonly reason: EndReason
  readonly hasProfile: boolean
}

interface End {
  readonly reason: EndReason
  readonly uptimeMs?: number
}

export class Sessions {
  readonly #options: SessionsOptions
  readonly #live: LiveSessions['running']
  readonly #ending: LiveSessions['ending']
  readonly #starting: LiveSessions['starting']
  /** Running updates of rows to ready or standby. */
  readonly #following = new Map<string, Promise<void>>()
  /** Ends that are not recorded in the database yet. */
  readonly #unrecorded = new Map<string, End>()
  readonly #routing: Routing
  readonly #timer: NodeJS.Timeout
  readonly #silentSeconds: number
  readonly #livingTimer: NodeJS.Timeout | undefined
  #takingOver: Promise<void> | undefined
  #isClosing = false
  #address: string | null = null
  /** What the other servers know; null: this one takes no sessions of theirs. */
  #toldRoom: number | null = null
  #tellingRoom: Promise<void> | undefined
  #mayRoomHaveTurned = false
  readonly #leaving = new AbortController()

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#live = options.live.running
    this.#ending = options.live.ending
    this.#starting = options.live.starting
    this.#routing = new Routing(options)
    const { instances, leaseSeconds } = options
    this.#silentSeconds = SILENT_PART_OF_LEASE * leaseSeconds
    this.#timer = setInterval(() => void this.#reconcile(), RECONCILE_MS)
    this.#timer.unref()
    if (!instances.areShared) return
    const everyMs = Math.min(RECONCILE_MS, (leaseSeconds * 1000) / SIGNS_OF_LIFE_PER_LEASE)
    this.#livingTimer = setInterval(() => void this.#showLife(), everyMs)
    this.#livingTimer.unref()
  }

  /** Finds only sessions of this server. */
  findHere(id: string): LiveSession | undefined {
    return this.#live.get(id)
  }

  /** Finds a session on any server, as its current lease holder sees it. */
  find(id: string): Session | undefined | Promise<Session | undefined> {
    return this.#live.get(id)?.current ?? this.#options.peers.find(id)
  }

  /** Finds the session for a token; undefined once the lease that the token was issued for is over. */
  findAt(id: string, leaseNumber: number): Session | undefined | Promise<Session | undefined> {
    const isHere = this.#live.has(id)
    return isHere ? this.findHereAt(id, leaseNumber) : this.#options.peers.find(id, leaseNumber)
  }

  /** Like `findAt`, but only for sessions of this server. */
  findHereAt(
    id: string,
    leaseNumber: number,
  ): PooledSession | undefined | Promise<PooledSession | undefined> {
    const session = this.#live.get(id)
    if (!session || session.leaseNumber === leaseNumber) return atLease(session, leaseNumber)
    // Another server may have just leased it, and the announcement has not arrived yet.
    return this.changed(id).then(() => atLease(this.#live.get(id), leaseNumber))
  }

  /** Publishes the address where other servers reach this one. */
  async listening(address: string): Promise<void> {
    this.#address = address
    await this.#sayHere()
  }

  /** Tells the other servers that this one takes no more sessions of theirs. */
  async leaving(): Promise<void> {
    this.#leaving.abort()
    await this.#sayHere().catch((error: unknown) =>
      this.#options.log.info({ err: error }, 'cannot tell the other servers that this one stops'),
    )
  }

  async #sayHere(): Promise<void> {
    const { db, serverId, region, room } = this.#options
    const free = await room.free()
    this.#toldRoom = this.#leaving.signal.aborted ? null : free
    await store.sawServer(db, { id: serverId, address: this.#address, region, room: this.#toldRoom })
  }

  /** How many more sessions this server has room for, as it said last. */
  get toldRoom(): number {
    return this.#toldRoom ?? 0
  }

  /** Call it when the host may have turned full, or may have room again. */
  roomChanged(): void {
    if (this.#toldRoom === null) return
    this.#mayRoomHaveTurned = true
    this.#tellingRoom ??= this.#tellRoom().finally(() => (this.#tellingRoom = undefined))
  }

  async #tellRoom(): Promise<void> {
    const { room, log } = this.#options
    while (this.#mayRoomHaveTurned && !this.#leaving.signal.aborted) {
      this.#mayRoomHaveTurned = false
      try {
        if (((await room.free()) === 0) !== (this.#toldRoom === 0)) await this.#sayHere()
      } catch (error) {
        log.debug({ err: error }, 'cannot tell the other servers yet how much room there is')
      }
      await pause(TELL_ROOM_AGAIN_MS, this.#leaving.signal)
    }
  }

  /** Matches rows and instances of an earlier run. Resumes the pairs and removes their instances from `found`. */
  async resume(found: Map<string, ReadyInstance>): Promise<void> {
    const { db, instances, serverId, log } = this.#options
    await this.#sayHere()
    let resumed = 0
    for (const record of await store.listOfServer(db, serverId)) {
      const { instance_id: instanceId } = record
      // Taken over from another server, and so not among those that this one started.
      const ready =
        instanceId === null ? undefined : (found.get(instanceId) ?? (await instances.takeOver(instanceId)))
      if (ready) found.delete(ready.instance.id)
      if (await this.#continue(record, ready)) resumed++
    }
    if (resumed > 0) await this.#options.deepStandby.refresh()
    if (resumed > 0) log.info({ sessions: resumed }, 'sessions resumed')
  }

  /** Returns whether the session lives on here. What is not used of an instance is ended. */
  async #continue(record: BrowserRecord, ready: ReadyInstance | undefined): Promise<boolean> {
    if (isOver(record) && record.profile_save === 'saving' && ready) {
      this.#resumeSave(record, ready)
      return false
    }
    if (isUsable(record) && ready) {
      this.#takeUp(record, ready)
      return true
    }
    await ready?.instance.destroy()
    if (isOver(record)) await this.#recordEnded(record.id)
    else await this.#endGone(record.id, record.state === 'starting' ? 'start_failed' : 'lost')
    return false
  }

  /** Says that this server lives, and takes over the sessions of those that do not. */
  async #showLife(): Promise<void> {
    try {
      await this.#sayHere()
      await this.takeOver()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cannot look after the sessions of other servers')
    }
  }

  /** Continues the sessions of servers that left or fell silent, where that can be done. */
  takeOver(): Promise<void> {
    this.#takingOver ??= this.#takeOverAll().finally(() => (this.#takingOver = undefined))
    return this.#takingOver
  }

  async #takeOverAll(): Promise<void> {
    const { db, instances, serverId, log } = this.#options
    if (!instances.areShared) return
    const wanted = { serverId, silentSeconds: this.#silentSeconds, limit: TAKEN_AT_ONCE }
    let count = TAKEN_AT_ONCE
    while (count === TAKEN_AT_ONCE && !this.#isClosing) {
      const records = await store.takeOverSessions(db, wanted)
      count = records.length
      await Promise.all(
        records.map(async (record) => {
          const { id, instance_id: instanceId } = record
          const ready = instanceId === null ? undefined : await instances.takeOver(instanceId)
          const isHere = await this.#continue(record, ready)
          if (isHere) await announceChange(db, 'sessionChanged', { sessionId: id })
          log.info({ sessionId: id, isHere }, 'took over a session of a server that is gone')
        }),
      )
    }
  }

  /** Another server has it now. */
  async #letGo(session: LiveSession): Promise<void> {
    if (this.#live.get(session.id) !== session) return
    this.#live.delete(session.id)
    session.release()
    await session.telemetry.release()
    this.#options.telemetry.forget(session.telemetry)
  }

  #takeUp(record: BrowserRecord, ready: ReadyInstance): void {
    const session = this.#watch(record, ready, { isAdopted: true })
    this.#follow(session, record.state)
    // Traffic stays blocked until the route is set. A failure is retried later.
    void this.#routing.follow(session, record).catch(() => {})
    void this.#capture(session, record)
  }

  /** Resumes a profile save; the instance was kept for it. */
  #resumeSave(
    { id, project_id: projectId, end_reason: reason }: BrowserRecord & { end_reason: EndReason },
    ready: ReadyInstance,
  ): void {
    const { instance } = ready
    const saved = this.#destroy({ id, projectId, instance, reason, hasProfile: true })
    this.#track(
      id,
      saved.then(() => this.#recordEnded(id)),
    )
  }

  /** Ends a session that has no instance any more. */
  async #endGone(id: string, reason: EndReason): Promise<void> {
    const { db } = this.#options
    await transition(db, id, { to: 'ending', reason })
    await transition(db, id, { to: 'ended' })
  }

  /** The caller ends the session when this fails or is aborted. */
  async start(record: BrowserRecord, claim: Claim, signal?: AbortSignal): Promise<void> {
    const session = this.#watch(record, await this.#open(record.id, claim, signal), { isAdopted: false })
    this.#routing.begin(session, record)
    // Capture starts first, so that it misses no event.
    if (record.telemetry) await unlessAborted(this.#capture(session, record), signal)
    const start_url = openedUrl(record.start_url)
    if (start_url !== undefined) {
      // Documented as fire and forget: a failed start URL does not fail the session.
      awake(session, (agent) => setShape(agent, { start_url }, { signal: session.ending })).catch(() => {})
    }
  }

  async #open(id: string, claim: Claim, signal: AbortSignal | undefined): Promise<ReadyInstance> {
    this.#starting.add(id)
    try {
      return await claim.open(signal)
    } finally {
      this.#starting.delete(id)
    }
  }

  #onStandby(session: LiveSession): void {
    this.#follow(session)
    this.#options.deepStandby.look()
    // What a session that was found in deep standby was not told then.
    if (session.state === 'ready' && !session.telemetry.isCurrent(session.telemetryVersion ?? 0)) {
      void this.changed(session.id)
    }
  }

  /**
   * Updates the row after the fact: neither standby nor waking waits for the database. The next reconciliation repairs
   * a missed update.
   */
  #follow(session: LiveSession, stored?: State): void {
    const { id } = session
    if (session.state === stored || this.#following.has(id)) return
    const following = this.#storeStandby(session)
      .catch((error: unknown) =>
        this.#options.log.debug(
          { err: error, sessionId: id },
          'cannot record the standby state of a session yet',
        ),
      )
      .finally(() => this.#following.delete(id))
    this.#following.set(id, following)
  }

  async #storeStandby(session: LiveSession): Promise<void> {
    let stored: State | undefined
    while (session.state !== stored && session.state !== 'ending') {
      stored = session.state
      // Changes nothing while the session is being created or after it has ended.
      await transition(this.#options.db, session.id, { to: stored })
    }
  }

  /** A failure does not end the session; it is retried later. */
  async #capture(
    session: LiveSession,
    { telemetry, telemetry_version: version }: BrowserRecord,
  ): Promise<void> {
    try {
      await session.capture(telemetry, version)
    } catch (error) {
      if (session.ending.aborted) return
      this.#options.log.warn(
        { err: error, sessionId: session.id },
        'cannot apply the telemetry selection of a session yet',
      )
    }
  }

  /** Applies the telemetry selection on any server. The session's own server applies it in any case, but later. */
  async capture(record: BrowserRecord): Promise<void> {
    const session = this.#live.get(record.id)
    if (session) return this.#capture(session, record)
    const { telemetry, telemetry_version: version } = record
    const remote = await this.#options.peers.find(record.id)
    if (!remote) return
    try {
      await awake(remote, (agent) => setTelemetry(agent, { categories: telemetry ?? [], version }))
    } catch {
      // The session's own server applies the change, too.
    }
  }

  /** Applies a changed proxy on any server. Once this resolves, no traffic uses the old route. */
  async reroute(record: BrowserRecord): Promise<void> {
    const session = this.#live.get(record.id)
    if (session) await this.#routing.follow(session, record)
    else await this.#routing.followedElsewhere(record)
  }

  #watch(
    record: BrowserRecord,
    { instance, agent, preparedClient }: ReadyInstance,
    { isAdopted }: { isAdopted: boolean },
  ): LiveSession {
    const { telemetry: selection, telemetry_version: version } = record
    const isTold = isAdopted && (selection !== null || version > 0)
    const before = { version: selection === null && !isTold ? version : -1, isTold }
    instance.setProject(record.project_id)
    const session = new LiveSession({
      telemetry: this.#options.telemetry.collector(record.id, {
        projectId: record.project_id,
        instance,
        before,
      }),
      id: record.id,
      projectId: record.project_id,
      instance,
      agent,
      preparedClient,
      timeoutSeconds: timeoutOf(record),
      lease: leaseOf(record),
      standby: this.#options.instances.capabilities.freeze && !record.gpu ? standbyRule(record) : null,
      uptimeMs: Number(record.uptime_ms),
      roomToWake: (bytes, signal) => this.#options.deepStandby.roomToWake(bytes, signal),
      onWoken: (depth, ms) => this.#options.live.wakes.add(depth, ms),
      telemetryVersion: version,
      hasProfile: record.profile_id !== null,
      log: this.#options.log,
      onStandby: (switched) => this.#onStandby(switched),
      onTaken: (taken) => void this.#letGo(taken),
      onEnd: (ended, reason) => void this.#finish(ended, reason),
    })
    this.#live.set(record.id, session)
    return session
  }

  async shape(id: string, shape: Shape): Promise<void> {
    const session = await this.find(id)
    if (!session) throw new AppError('conflict', 'Cannot change the session: it has just ended')
    await awake(session, (agent) => setShape(agent, shape, { signal: session.ending }))
  }

  /** Opens the start URL of a running session on any server; like the first one, it fails nothing. */
  open(id: string, url: string | null | undefined): void {
    const start_url = openedUrl(url)
    if (start_url !== undefined) this.shape(id, { start_url }).catch(() => {})
  }

  /** Called when this or another server changed the session's row. */
  async changed(id: string): Promise<void> {
    const { db, serverId, log, peers } = this.#options
    if (!this.#live.has(id) && !peers.isWatching(id)) return
    try {
      const record = await store.findBrowserById(db, id)
      if (!record) return
      const session = this.#live.get(id)
      // This server was silent for too long, and has not heard yet that it lost the session.
      if (session && record.server_id !== serverId) return await this.#letGo(session)
      if (session) session.hasProfile = record.profile_id !== null
      if (isOver(record)) {
        session?.end(record.end_reason)
        peers.ended(id, record.end_reason)
        return
      }
      peers.passed(id, record.lease_number)
      if (session) {
        // This row was read before a later change and arrives out of order.
        if (record.lease_number < session.leaseNumber) return
        const lease = leaseOf(record)
        if (lease) session.pass(lease)
        session.timeoutSeconds = timeoutOf(record)
        if (isUsable(record)) this.#follow(session, record.state)
        await this.#routing.follow(session, record).catch(() => {})
        await this.#capture(session, record)
      }
    } catch (error) {
      log.warn({ err: error, sessionId: id }, 'cannot read the changes of a session')
    }
  }

  /** Closes a session of this server to clients after its row has ended. Cleanup continues in the background. */
  shut({ id, profile_id }: EndedBrowser, reason: EndReason): void {
    const session = this.#live.get(id)
    if (!session) return
    session.hasProfile = profile_id !== null
    session.end(reason)
  }

  /** Resolves when the row has ended and the instance is gone. */
  async end(id: string, reason: EndReason): Promise<void> {
    const session = this.#live.get(id)
    if (!session) {
      this.#unrecorded.set(id, { reason })
      await this.#record(id)
      await this.#recordEnded(id)
      return
    }
    session.end(reason)
    await this.#ending.get(id)
  }

  /** Ends a session that another server runs. That server hears of it and cleans up. */
  async endElsewhere(id: string, reason: EndReason): Promise<void> {
    this.#unrecorded.set(id, { reason })
    await this.#record(id)
  }

  #finish(session: LiveSession, reason: EndReason): Promise<void> {
    const { log } = this.#options
    const finishing = (async () => {
      const uptimeMs = session.uptimeMs
      this.#unrecorded.set(session.id, { reason, uptimeMs })
      const { id, projectId, instance, hasProfile } = session
      await Promise.all([this.#destroy({ id, projectId, instance, reason, hasProfile }), this.#record(id)])
      await session.telemetry.close()
      await this.#recordEnded(id)
      log.info({ sessionId: session.id, reason, uptimeMs }, 'session ended')
    })()
      .catch((error: unknown) => log.error({ err: error, sessionId: session.id }, 'cannot end a session'))
      .finally(() => {
        this.#live.delete(session.id)
        this.#ending.delete(session.id)
        this.#options.telemetry.forget(session.telemetry)
        if (this.#toldRoom === 0) this.roomChanged()
      })
    this.#ending.set(session.id, finishing)
    return finishing
  }

  async #destroy(ended: EndedSession): Promise<void> {
    await this.#options.beforeDestroy?.(ended).catch((error: unknown) => {
      const sessionId = ended.id
      this.#options.log.warn(
        { err: error, sessionId },
        'cannot collect everything from an instance before its end',
      )
    })
    await ended.instance.destroy()
  }

  /** Tracks the remaining work of a session that has ended. */
  #track(id: string, work: Promise<void>): void {
    const { log } = this.#options
    const tracked = work
      .catch((error: unknown) => log.error({ err: error, sessionId: id }, 'cannot end a session'))
      .finally(() => this.#ending.delete(id))
    this.#ending.set(id, tracked)
  }

  async #record(id: string): Promise<void> {
    const end = this.#unrecorded.get(id)
    if (!end) return
    try {
      const { db } = this.#options
      // Clients may be connected to other servers, which pass the reason on.
      if (await transition(db, id, { to: 'ending', ...end })) {
        await announceChange(db, 'sessionChanged', { sessionId: id })
      }
      this.#unrecorded.delete(id)
    } catch (error) {
      this.#options.log.warn({ err: error, sessionId: id }, 'cannot record the end of a session yet')
      setTimeout(() => void this.#record(id), RECORD_AGAIN_MS).unref()
    }
  }

  /** Records that nothing of the session is left. A failure is retried later. */
  async #recordEnded(id: string): Promise<void> {
    const { db, log } = this.#options
    await transition(db, id, { to: 'ended' }).catch((error: unknown) =>
      log.debug({ err: error, sessionId: id }, 'cannot record the cleanup of a session yet'),
    )
  }

  /** Regularly repairs rows after missed announcements and lost servers. */
  async #reconcile(): Promise<void> {
    const { db, live, serverId, leaseSeconds, log } = this.#options
    try {
      await this.#sayHere()
      const sessions = [...this.#live.values()]
      if (sessions.length > 0) {
        await store.keepUse(db, sessions.map(useOf))
      }
      // An announcement may have been missed, and a session whose row has ended must not keep running.
      await Promise.all(sessions.map(({ id }) => this.changed(id)))
      for (const { id } of await store.listEnding(db, serverId)) {
        if (!live.has(id)) await this.#recordEnded(id)
      }
      const silentSeconds = leaseSeconds + LOST_MARGIN_SECONDS
      for (const { id } of await store.listOfLostServers(db, { serverId, silentSeconds })) {
        await this.#endGone(id, 'lost')
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot reconcile sessions')
    }
  }

  /** The other servers need not wait until this one has been silent for long. */
  async #leave(): Promise<void> {
    const { db, instances, serverId, log } = this.#options
    if (!instances.areShared) return
    try {
      await store.sawServerLeave(db, serverId, this.#silentSeconds)
      await announceChange(db, 'serverLeft', { serverId })
    } catch (error) {
      log.warn({ err: error }, 'cannot tell the other servers that this one leaves')
    }
  }

  /** Ends all sessions, or leaves them to the next server. Returns the ids of the instances that keep running. */
  async close({ endAll }: { endAll: boolean }): Promise<string[]> {
    clearInterval(this.#timer)
    clearInterval(this.#livingTimer)
    this.#isClosing = true
    this.#leaving.abort()
    await this.#tellingRoom
    await this.#takingOver?.catch(() => {})
    const sessions = [...this.#live.values()]
    if (endAll) await Promise.all(sessions.map((session) => this.end(session.id, 'server_stopped')))
    await Promise.all([...this.#ending.values(), ...this.#following.values()])
    for (const session of this.#live.values()) session.release()
    await Promise.all([...this.#live.values()].map((session) => session.telemetry.release()))
    await this.#options.telemetry.inbox.flush()
    await this.#leave()
    return [...this.#live.values()].map((session) => session.instance.id)
  }
}
