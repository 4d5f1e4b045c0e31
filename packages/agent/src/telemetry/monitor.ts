// Follows Chromium's events over its own connection, beside those of clients: it listens, and changes nothing that
// clients could see. New pages and workers are paused until the monitor listens to them; otherwise it would miss their
// first requests. That takes one round trip inside the instance, and Chromium resumes them if the monitor is gone.
import type { Category } from '@berth/contracts/telemetry-events'
import { pause } from '@berth/kit/pause'
import { CdpConnection, type CdpEvent } from '../cdp/cdp-connection.ts'
import { log } from '../log/log.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { StateBoard } from '../instance/state.ts'
import { Budget } from './budget.ts'
import { ConsoleWatch } from './console.ts'
import { InteractionWatch } from './interaction.ts'
import { NetworkWatch, type FailureOf } from './network.ts'
import { PageWatch } from './page.ts'
import type { Event, Ring } from './ring.ts'
import { ScreenshotWatch } from './screenshots.ts'
import { Target, type Scene, type TargetInfo } from './target.ts'

const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 2_000
const MAX_ATTEMPTS = 10
/** How long an order waits for an unresponsive Chromium. */
const SET_UP_MS = 5_000
const FILTER = [{ type: 'browser', exclude: true }, { type: 'tab', exclude: true }, {}]
/** A loading page sends hundreds of events one by one; they may wait this long to be read together. */
const GATHER_MS = 8
/** Limits for all kinds together; events beyond them are dropped. */
const EVENTS = { most: 8_000, perSecond: 2_000 }

export interface MonitorOptions {
  readonly state: StateBoard
  readonly port: number
  readonly ring: Ring
  readonly secrets: Pick<Secrets, 'isInUse'>
  readonly failureOf: FailureOf
}

export class Monitor {
  readonly #options: MonitorOptions
  readonly #budget = new Budget(EVENTS)
  #categories: ReadonlySet<Category> = new Set()
  #run: Run | undefined
  #isOn = false
  #loop: Promise<void> | undefined
  readonly #stopping = { controller: new AbortController() }

  constructor(options: MonitorOptions) {
    this.#options = options
  }

  /** Resolves when capture has started, or after a timeout; then events follow as soon as possible. */
  async capture(categories: ReadonlySet<Category>): Promise<void> {
    this.#categories = categories
    if (this.#isOn) {
      await Promise.race([this.#run?.apply(), pause(SET_UP_MS)])
      return
    }
    this.#isOn = true
    this.#stopping.controller = new AbortController()
    const ready = Promise.withResolvers<void>()
    this.#loop = this.#follow(this.#stopping.controller.signal, ready.resolve)
    await Promise.race([ready.promise, pause(SET_UP_MS)])
  }

  async stop(): Promise<void> {
    if (!this.#isOn) return
    this.#isOn = false
    this.#stopping.controller.abort()
    this.#run?.close()
    await this.#loop
  }

  /** Reconnects whenever Chromium restarts. */
  async #follow(stop: AbortSignal, onReady: () => void): Promise<void> {
    let lostAt: number | undefined
    let attempts = 0
    while (!stop.aborted) {
      let run: Run | undefined
      try {
        run = await this.#connect(stop)
        if (!run) continue
        if (lostAt !== undefined) {
          const reconnect_duration_ms = Math.round(performance.now() - lostAt)
          this.#tell({
            type: 'monitor_reconnected',
            source: { kind: 'cdp' },
            data: { reconnect_duration_ms },
          })
        }
        attempts = 0
        lostAt = undefined
        onReady()
        await run.whenClosed()
        if (stop.aborted) break
        lostAt = performance.now()
        this.#tell({
          type: 'monitor_disconnected',
          source: { kind: 'cdp' },
          data: { reason: 'chrome_restarted' },
        })
      } catch (error) {
        attempts++
        log('Cannot capture telemetry from Chromium', error)
        run?.close()
        if (lostAt === undefined && attempts === 1) {
          const step = error instanceof SetUpError ? error.step : 'connect'
          this.#tell({ type: 'monitor_init_failed', source: { kind: 'cdp' }, data: { step } })
        }
        if (attempts === MAX_ATTEMPTS) {
          this.#tell({
            type: 'monitor_reconnect_failed',
            source: { kind: 'cdp' },
            data: { reason: 'reconnect_exhausted' },
          })
        }
        onReady()
      } finally {
        this.#run = undefined
      }
      await pause(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts), stop)
    }
  }

  /** Undefined while there is no Chromium. */
  async #connect(stop: AbortSignal): Promise<Run | undefined> {
    const { state, port } = this.#options
    const isOpen = () => state.current.browser === 'ready' || stop.aborted
    await state.when(isOpen, MAX_RETRY_MS)
    const { devtools_path: path } = state.current
    if (path === null || stop.aborted) return undefined
    const scene = {
      categories: () => this.#categories,
      emit: (event: Event) => this.#emit(event),
      drop: (count: number) => this.#options.ring.drop(count),
      hasSecrets: () => this.#options.secrets.isInUse,
    }
    const run = await Run.open({ port, path, scene, failureOf: this.#options.failureOf })
    this.#run = run
    await run.begin()
    return run
  }

  #emit(event: Event): void {
    if (this.#budget.take()) this.#options.ring.emit(event)
    else this.#options.ring.drop()
  }

  #tell(event: Event): void {
    this.#options.ring.emit(event)
  }
}

class SetUpError extends Error {
  readonly step: string

  constructor(step: string, cause: unknown) {
    super(`Cannot ${step}: ${(cause as Error).message}`, { cause })
    this.step = step
  }
}

type RunScene = Pick<Scene, 'categories' | 'emit' | 'drop' | 'hasSecrets'>

/** One connection to one run of Chromium. */
class Run {
  readonly #targets = new Map<string, Target>()
  readonly #scene: Scene
  readonly #watches
  readonly #handlers: ReadonlyMap<string, (target: Target, params: never) => void>
  #cdp: CdpConnection | undefined
  /** Unanswered calls to targets that already existed. */
  readonly #settingUp = new Set<Promise<unknown>>()
  #isBeginning = true

  private constructor(scene: RunScene, failureOf: FailureOf) {
    this.#scene = {
      ...scene,
      call: (target, method, params) => this.#cdp!.call(method, params, target.sessionId),
      dispatch: (target, method, params) => void this.#cdp!.dispatch(method, params, target.sessionId),
    }
    const screenshots = new ScreenshotWatch(this.#scene)
    const onActivity = (target: Target) => screenshots.onActivity(target)
    const interaction = new InteractionWatch(this.#scene, { onActivity })
    this.#watches = {
      console: new ConsoleWatch(this.#scene, { onDisabled: (target) => interaction.bind(target) }),
      network: new NetworkWatch(this.#scene, { onActivity, failureOf }),
      page: new PageWatch(this.#scene, { onActivity }),
      interaction,
    }
    this.#handlers = new Map(Object.values(this.#watches).flatMap((watch) => [...watch.handlers]))
  }

  static async open({
    port,
    path,
    scene,
    failureOf,
  }: {
    port: number
    path: string
    scene: RunScene
    failureOf: FailureOf
  }): Promise<Run> {
    const run = new Run(scene, failureOf)
    run.#cdp = await CdpConnection.open(port, path, (event) => run.#take(event), {
      isWanted: (text) => run.#isWanted(text),
      gatherMs: GATHER_MS,
    })
    return run
  }

  async whenClosed(): Promise<void> {
    await this.#cdp!.closed
    for (const sessionId of this.#targets.keys()) this.#onDetached(sessionId)
  }

  close(): void {
    this.#cdp!.close()
  }

  async begin(): Promise<void> {
    const follow = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: FILTER }
    await this.#cdp!.call('Target.setAutoAttach', follow).catch((error: unknown) => {
      throw new SetUpError('follow targets', error)
    })
    this.#isBeginning = false
    // A target that does not answer is busy; it is followed once it answers.
    await Promise.race([Promise.allSettled(this.#settingUp), pause(SET_UP_MS / 2)])
    this.#settingUp.clear()
  }

  /** Applies changed categories. */
  async apply(): Promise<void> {
    await Promise.allSettled([...this.#targets.values()].map((target) => this.#listenTo(target)))
  }

  /** Most messages are irrelevant, and parsing them would be most of the work. */
  #isWanted(text: string): boolean {
    const method = methodOf(text)
    if (method === undefined) return true
    if (method === 'Runtime.consoleAPICalled')
      return this.#watches.console.admits(sessionOf(text), text.length)
    if (method === 'Network.dataReceived') this.#watches.network.onData(sessionOf(text), text)
    return this.#handlers.has(method) || method.startsWith('Target.')
  }

  #take({ method, params, sessionId }: CdpEvent): void {
    if (method === 'Target.attachedToTarget')
      return this.#onAttached(params as unknown as Attached, sessionId)
    if (method === 'Target.detachedFromTarget') return this.#onDetached(params['sessionId'] as string)
    if (method === 'Target.targetInfoChanged') return
    const target = this.#targets.get(sessionId ?? '')
    if (!target) return
    try {
      this.#handlers.get(method)?.(target, params as never)
    } catch (error) {
      // One event failed, perhaps because this Chromium version differs.
      log(`Cannot capture telemetry from ${method}`, error)
    }
  }

  #onAttached(
    { sessionId, targetInfo, waitingForDebugger }: Attached,
    parentSession: string | undefined,
  ): void {
    const parent = parentSession === undefined ? undefined : this.#targets.get(parentSession)
    const target = new Target({ sessionId, info: targetInfo, parent })
    this.#targets.set(sessionId, target)
    this.#watches.console.add(target, { isNew: waitingForDebugger })
    try {
      const done = this.#listenTo(target)
      done.catch(() => {})
      if (this.#isBeginning) this.#settingUp.add(done)
      else if (target.type === 'page') this.#watches.page.onOpened(target)
    } finally {
      // Even if the rest fails, the target must not stay paused.
      if (waitingForDebugger) this.#scene.dispatch(target, 'Runtime.runIfWaitingForDebugger', {})
    }
  }

  #onDetached(sessionId: string): void {
    const target = this.#targets.get(sessionId)
    if (!target) return
    this.#targets.delete(sessionId)
    for (const watch of Object.values(this.#watches)) watch.remove(target)
  }

  /** Sends all calls at once; resolves when all are answered. */
  async #listenTo(target: Target): Promise<void> {
    const { call } = this.#scene
    const sent: Promise<unknown>[] = []
    if (!target.isFollowed) {
      target.isFollowed = true
      const follow = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
      sent.push(call(target, 'Target.setAutoAttach', follow))
    }
    for (const watch of Object.values(this.#watches)) sent.push(...watch.apply(target))
    await Promise.allSettled(sent)
  }
}

interface Attached {
  readonly sessionId: string
  readonly targetInfo: TargetInfo
  readonly waitingForDebugger: boolean
}

const METHOD_START = '{"method":"'

/** Undefined for answers, and for messages in a different format from Chromium's. */
function methodOf(text: string): string | undefined {
  if (!text.startsWith(METHOD_START)) return undefined
  return text.slice(METHOD_START.length, text.indexOf('"', METHOD_START.length))
}

/** Chromium writes the session at the end of the message. */
function sessionOf(text: string): string {
  return text.endsWith('"}') ? text.slice(text.lastIndexOf('"', text.length - 3) + 1, -2) : ''
}
