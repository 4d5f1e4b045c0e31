// Chromium over the life of an instance: started on request, reshaped while it runs, and restarted on the
// same profile when it crashes or a client closes it.
//
//   none -> starting -> ready -> restarting -> ready
//              |                     |
//              +------> failed <-----+           and from any state to starting, on request
import type { AgentState, BrowserStart, Shape } from '@berth/contracts/link'
import { pause } from '@berth/kit/pause'
import { SerialQueue } from '@berth/kit/serial-queue'
import { log } from '../log/log.ts'
import { secrets } from '../secrets/secrets.ts'
import type { Settings } from '../instance/settings.ts'
import type { StateBoard } from '../instance/state.ts'
import type { ServiceLog, ServiceLogs } from '../log/service-log.ts'
import { Display } from '../display/display.ts'
import { CdpConnection, type CdpEvent } from '../cdp/cdp-connection.ts'
import { ChromiumProcess, type ChromiumExit } from './chromium-process.ts'
import { chromiumFlags } from './flags.ts'
import { checkGpu, environmentOnGpu } from './gpu.ts'
import { helperOf } from './helper-process.ts'
import { setHeadlessSize } from '../cdp/headless-size.ts'
import { Policies } from './policies.ts'
import { areTabsIn, prepareProfile } from './profile.ts'
import { RestartLimit } from './restart-limit.ts'
import { attachToFirstPage, settle, type FirstPage } from '../cdp/settle.ts'
import { Vigil } from './vigil.ts'

/** Not the distribution's wrapper, a shell script that adds its own flags. */
const COMMAND = '/usr/lib/chromium/chromium'
const START_MS = 20_000
/** How long Chromium may take to exit after it closes its connection. */
const GOODBYE_MS = 5_000
/**
 * How long a closing Chromium may take to write its state to disk. A busy machine needs long. Clearly less than the server
 * waits for the first byte of a profile (SILENCE_TIMEOUT_MS): what Chromium has written is then saved all the same.
 */
const QUIT_MS = 20_000
const RETRY_MS = 20
const OPEN_MS = 15_000

export interface ChromiumOptions {
  readonly settings: Settings
  readonly state: StateBoard
  readonly logs: ServiceLogs
  /** Further variables. */
  readonly environment?: Readonly<Record<string, string>>
  /** Resolves when pages can connect; by default they can. */
  readonly network?: Promise<void> | undefined
  /** Chromium ended unexpectedly, could not be restarted, or is no longer retried. */
  readonly onCrash?: (phase: 'running' | 'startup' | 'gave_up', pid?: number) => void
  /** Chromium has started, and no client is connected yet. */
  readonly onStart?: (cdp: CdpConnection) => Promise<void>
}

export class Chromium {
  readonly #settings: Settings
  readonly #state: StateBoard
  readonly #network: Promise<void> | undefined
  readonly #restarts = new RestartLimit()
  readonly #display: Display
  readonly #log: ServiceLog
  readonly #environment: Readonly<Record<string, string>>
  readonly #onCrash: ChromiumOptions['onCrash']
  readonly #onStart: ChromiumOptions['onStart']
  readonly policies: Policies
  /** The requested browser, including later reshapes. */
  #asked: BrowserStart | undefined
  #shape: BrowserStart | undefined
  #process: ChromiumProcess | undefined
  #vigil: Vigil | undefined
  #keepsTabs = false
  /** Increases with every request, so that an older request can tell that it is outdated. */
  #generation = 0
  /** Serialises starts and reshapes. */
  readonly #turns = new SerialQueue()

  constructor({ settings, state, logs, environment = {}, network, onCrash, onStart }: ChromiumOptions) {
    this.#environment = environment
    this.#network = network
    this.#onCrash = onCrash
    this.#onStart = onStart
    this.policies = new Policies(settings.policies)
    this.#settings = settings
    this.#state = state
    this.#log = logs.chromium
    this.#display = new Display(settings, logs.display)
  }

  /** The requested browser and its size; undefined before the first start. */
  get looks(): BrowserStart | undefined {
    return this.#shape
  }

  /** The screen of a headful Chromium. */
  get display(): Display {
    return this.#display
  }

  /** The port of the debugging protocol. */
  get port(): number {
    return this.#settings.ports.devtools
  }

  /** Opens a debugging connection; throws while Chromium is not running. */
  async openCdp(onEvent?: (event: CdpEvent) => void): Promise<CdpConnection> {
    const { devtools_path: path, browser } = await this.whenOpen(OPEN_MS)
    if (path === null) throw new Error(`Cannot talk to Chromium: it is ${browser}`)
    return CdpConnection.open(this.port, path, onEvent)
  }

  /** Resolves when Chromium is ready. A second request for the same browser waits for the first. */
  async start(browser: BrowserStart): Promise<AgentState> {
    const isThere = this.#state.current.browser !== 'none' && this.#state.current.browser !== 'failed'
    if (!isThere || !isSame(this.#asked, browser)) {
      this.#asked = browser
      this.#shape = browser
      this.#state.update({ browser: 'starting', devtools_path: null, failure: null })
      const generation = ++this.#generation
      this.#process?.kill()
      this.#inTurn(() => this.#launch(generation)).catch((error: unknown) => {
        if (generation === this.#generation) this.#fail(error)
      })
    }
    const state = await this.#state.when(isSettled, START_MS + 5_000)
    if (state.browser === 'ready') return state
    throw new Error(state.failure ?? 'Cannot start Chromium: it takes too long')
  }

  /** Closes Chromium as a client would, and resolves when the next one is ready. */
  async restart(): Promise<void> {
    const { restarts } = this.#state.current
    using cdp = await this.openCdp()
    cdp.dispatch('Browser.close')
    const state = await this.#state.when((each) => each.restarts > restarts && isSettled(each), START_MS)
    if (state.restarts === restarts || state.browser !== 'ready') {
      throw new Error(state.failure ?? 'Cannot restart Chromium: it takes too long')
    }
  }

  /** Changes a running Chromium without a restart. */
  async shape(change: Shape): Promise<void> {
    await this.#shapeNow(change).catch(async () => {
      // A client closed Chromium or the page that was being shaped: shape the next one.
      await this.whenOpen(OPEN_MS)
      await this.#shapeNow(change)
    })
  }

  async #shapeNow(change: Shape): Promise<void> {
    await this.#inTurn(async () => {
      const { devtools_path: path, browser } = this.#state.current
      if (browser !== 'ready' || path === null || !this.#shape) {
        throw new Error(`Cannot shape Chromium: it is ${browser}, not ready`)
      }
      const { start_url: url, ...looks } = change
      using cdp = await CdpConnection.open(this.#settings.ports.devtools, path)
      const page = await attachToFirstPage(cdp)
      const wanted = { ...this.#shape, ...looks }
      if (!isSame(wanted, this.#shape)) await this.#apply(cdp, page, wanted)
      // Not awaited: whether and when the page loads is up to the session.
      if (url !== undefined) cdp.dispatch('Page.navigate', { url }, page.sessionId)
    })
  }

  /** Resolves when clients can connect, or with the current state after the timeout. */
  async whenOpen(timeoutMs: number): Promise<AgentState> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const state = await this.#state.when(isSettled, deadline - performance.now())
      if (state.browser !== 'ready' || !(await this.#vigil!.isEnding())) return state
      if (performance.now() > deadline) return state
      // Its exit event has not arrived yet.
      await pause(RETRY_MS)
    }
  }

  /** The value for DISPLAY; undefined without a screen. */
  get displayName(): string | undefined {
    return this.#asked?.headless === false ? this.#display.name : undefined
  }

  /** From now on, every restart restores tabs and session cookies. */
  keepTabs(): void {
    this.#keepsTabs = true
  }

  /**
   * Closes Chromium, runs the work on its files, and restarts it if it is still wanted. Unless its state is
   * discarded, Chromium closes as if a person had closed it, so that it writes everything to disk.
   */
  async whileClosed<T>(
    work: () => T | Promise<T>,
    { isDiscarded, reopens }: { isDiscarded: boolean; reopens: boolean },
  ): Promise<T> {
    return this.#inTurn(async () => {
      // This end is not a crash, and older requests are outdated.
      this.#generation++
      const { browser, devtools_path: path } = this.#state.current
      const isWanted = browser !== 'none'
      if (isWanted) this.#state.update({ browser: 'restarting', devtools_path: null })
      if (path !== null && !isDiscarded) await this.#quit(path)
      this.#process?.kill()
      await this.#process?.exited
      try {
        return await work()
      } finally {
        if (isWanted && reopens) this.#restart({ counts: false })
      }
    })
  }

  /** Resolves when Chromium is ready, or at once if none was requested. */
  async whenSettled(): Promise<void> {
    if (this.#state.current.browser === 'none') return
    const { browser, failure } = await this.#state.when(isSettled, START_MS + 5_000)
    if (browser !== 'ready') throw new Error(failure ?? 'Cannot start Chromium: it takes too long')
  }

  async #quit(path: string): Promise<void> {
    const process = this.#process
    try {
      using cdp = await CdpConnection.open(this.#settings.ports.devtools, path)
      cdp.dispatch('Browser.close')
      const late = new AbortController()
      const isLate = await Promise.race([
        process?.exited.then(() => false),
        pause(QUIT_MS, late.signal).then(() => true),
      ])
      late.abort()
      if (isLate)
        log(
          `Chromium did not close within ${QUIT_MS / 1000} s and is killed; it may not have written everything`,
        )
    } catch (error) {
      log('Cannot ask Chromium to close', error)
    }
  }

  /** Ends the helper that is connected to the sound server. Chromium starts another one when something plays. */
  endSound(): void {
    const { browser } = this.#state.current
    if (browser !== 'ready' || !this.#process) return
    const helper = helperOf(this.#process.pid, 'audio.mojom.AudioService')
    try {
      if (helper !== undefined) process.kill(helper, 'SIGTERM')
    } catch {
      // It has ended already.
    }
  }

  /** Ends it for good. */
  kill(): void {
    this.#generation++
    this.#process?.kill()
    this.#display.kill()
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    return this.#turns.run(act)
  }

  async #launch(generation: number): Promise<void> {
    // The port is free once the previous Chromium is gone.
    this.#process?.kill()
    await this.#process?.exited
    if (generation !== this.#generation) return
    const { home, profile, ports, start } = this.#settings
    const browser = this.#shape!
    prepareProfile(profile)
    const hasTabs = this.#keepsTabs && areTabsIn(profile)
    if (!browser.headless) await this.#display.open(browser)
    const chromium = new ChromiumProcess({
      command: COMMAND,
      flags: chromiumFlags({
        browser,
        profile,
        devtoolsPort: ports.devtools,
        proxyPort: start.hasNetwork ? undefined : ports.proxy,
        installsExtensions: this.policies.hasInstalled,
        restores: this.#keepsTabs,
        hasTabs,
      }),
      environment: {
        ...environmentOf(this.#settings, browser, browser.headless ? undefined : this.#display.name),
        ...this.#environment,
      },
      directory: home,
      log: this.#log,
    })
    this.#process = chromium
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      chromium.kill()
    }, START_MS)
    try {
      const path = await chromium.listening
      using cdp = await CdpConnection.open(ports.devtools, path)
      if (browser.gpu) await checkGpu(cdp)
      const { version, page } = await settle(cdp, { hasForeignPages: hasTabs })
      await this.#apply(cdp, page, browser)
      await this.#onStart?.(cdp)
      const vigil = await Vigil.open({
        pid: chromium.pid,
        port: ports.devtools,
        path,
        onGoodbye: () => this.#onGoodbye(generation, chromium),
        onBroken: (why) => {
          log(`Chromium ${why}; ending it`)
          chromium.kill()
        },
      })
      // A page that loads before would get errors.
      await this.#network
      if (generation !== this.#generation) return
      this.#vigil = vigil
      this.#state.update({ browser: 'ready', devtools_path: path, browser_version: version })
    } catch (error) {
      chromium.kill()
      const message = isLate ? `it is not ready after ${START_MS / 1000} s` : (error as Error).message
      throw new Error(`Cannot start Chromium: ${message}\n${chromium.recentOutput}`, { cause: error })
    } finally {
      clearTimeout(timer)
    }
    void chromium.exited.then((exit) => this.#onExit(generation, exit, chromium.pid))
  }

  async #apply(cdp: CdpConnection, page: FirstPage, wanted: BrowserStart): Promise<void> {
    if (wanted.headless) await setHeadlessSize(cdp, page, wanted)
    else await this.#display.fit(cdp, page, wanted)
    this.#shape = wanted
  }

  /** Clients that connect from now on wait for the next Chromium instead of reaching the closing one. */
  #onGoodbye(generation: number, chromium: ChromiumProcess): void {
    void chromium.holdUntilWritten()
    if (generation !== this.#generation || this.#process !== chromium) return
    if (this.#state.current.browser !== 'ready') return
    this.#state.update({ browser: 'restarting', devtools_path: null })
    const timer = setTimeout(() => chromium.kill(), GOODBYE_MS)
    void chromium.exited.then(() => clearTimeout(timer))
  }

  #onExit(generation: number, { isClean, how }: ChromiumExit, pid: number): void {
    if (generation !== this.#generation) return
    if (!isClean) this.#onCrash?.('running', pid)
    log(`Chromium ended with ${how} and is restarted`)
    this.#restart({ counts: !isClean })
  }

  // A client may close Chromium as often as it likes; only crashes count.
  #restart({ counts }: { counts: boolean }): void {
    if (counts && !this.#restarts.allows()) {
      this.#onCrash?.('gave_up')
      return this.#fail(new Error('Cannot keep Chromium running: it ended too often'))
    }
    const restarts = this.#state.current.restarts + 1
    this.#state.update({ browser: 'restarting', devtools_path: null, restarts })
    const generation = this.#generation
    this.#inTurn(() => this.#launch(generation)).catch((error: unknown) => {
      if (generation !== this.#generation) return
      log('Cannot restart Chromium', error)
      this.#onCrash?.('startup')
      this.#restart({ counts: true })
    })
  }

  #fail(error: unknown): void {
    log('Chromium failed', error)
    const failure = secrets.redact(error instanceof Error ? error.message : String(error))
    this.#state.update({ browser: 'failed', devtools_path: null, failure })
  }
}

const isSettled = ({ browser }: AgentState) => browser === 'ready' || browser === 'failed'

const isSame = (one: BrowserStart | undefined, other: BrowserStart) =>
  one !== undefined &&
  one.headless === other.headless &&
  one.width === other.width &&
  one.height === other.height &&
  one.kiosk === other.kiosk &&
  one.locale === other.locale &&
  one.timezone === other.timezone &&
  one.blocksPopups === other.blocksPopups &&
  one.gpu === other.gpu

function environmentOf(
  { home, temporary }: Settings,
  { locale, timezone, gpu = false }: BrowserStart,
  display: string | undefined,
): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: temporary,
    PATH: '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    // There is no D-Bus here, and searching for one takes time.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    // "no" stops Chromium from showing a bar about missing API keys.
    GOOGLE_API_KEY: 'no',
    GOOGLE_DEFAULT_CLIENT_ID: 'no',
    GOOGLE_DEFAULT_CLIENT_SECRET: 'no',
    // Chromium reads its UI language from here on Linux.
    ...(locale !== undefined && { LANGUAGE: locale.replaceAll('-', '_') }),
    ...(timezone !== undefined && { TZ: timezone }),
    ...(display !== undefined && { DISPLAY: display }),
    ...(gpu && environmentOnGpu()),
  }
}
