// Runs code, one call at a time. The runner starts with the first call and is kept for the next ones. It is ended to stop
// code, and after some idle time; time spent frozen does not count.
import type { Frame } from '@berth/codecs/frames/frames'
import type { Chromium } from '../../chromium/chromium.ts'
import type { Settings } from '../../instance/settings.ts'
import { log } from '../../log/log.ts'
import { ControlError } from '../calls/operation.ts'
import { FRAME, type Tab } from './conversation.ts'
import { mustHaveBegun, runWithin, type Ended } from './limited-run.ts'
import { Output } from './output.ts'
import { RunnerProcess } from './runner-process.ts'
import type { HeldTab, Tabs } from './tabs.ts'
import { Turns } from './turns.ts'

const CHROMIUM_MS = 15_000
// Idle time is counted in ticks, because every clock keeps running while frozen.
const IDLE_TICK_MS = 30_000
const MAX_IDLE_TICKS = 10
const DELETED = 'The executor was deleted'

export interface ExecutorParts {
  readonly settings: Settings
  readonly chromium: Pick<Chromium, 'whenOpen'>
  readonly tabs: Tabs
}

export interface ExecutorOptions extends ExecutorParts {
  readonly name: string
  /** Whether it opens a tab for itself, instead of using the one that was used last. */
  readonly hasOwnTab: boolean
  /** Tabs of the other executors. */
  readonly others: () => readonly string[]
  readonly onTab: () => void
}

export interface Execution {
  readonly code: string
  readonly timeoutMs: number
  /** Fires when the caller has left; then the code is stopped. */
  readonly signal: AbortSignal
}

export interface Executed extends Pick<Ended, 'outcome' | 'error'> {
  readonly stdout: string
  readonly stderr: string
  readonly tab: Tab | undefined
}

/** What a runner has said in one run. */
class Heard {
  readonly stdout = new Output()
  readonly stderr = new Output()
  tab: Tab | undefined
}

export class Executor {
  readonly name: string
  readonly createdAt = new Date()
  readonly #options: ExecutorOptions
  readonly #turns = new Turns()
  readonly #deleted = new AbortController()
  #lastUsedAt = this.createdAt
  #targetId: string | undefined
  #hasRun = false
  #heard = new Heard()
  #runner: RunnerProcess | undefined
  #idleTimer: NodeJS.Timeout | undefined
  /** Work on its tab after a run. */
  #tidying: Promise<void> = Promise.resolve()

  constructor(options: ExecutorOptions) {
    this.name = options.name
    this.#options = options
  }

  get isBusy(): boolean {
    return this.#turns.isBusy
  }

  /** Whether no code has run in it. */
  get isUnused(): boolean {
    return !this.#hasRun && !this.isBusy
  }

  get lastUsedAt(): Date {
    return this.#lastUsedAt
  }

  /** The tab of its last call. */
  get targetId(): string | undefined {
    return this.#targetId
  }

  async execute(execution: Execution): Promise<Executed> {
    return this.#turns.take(execution.signal, async () => {
      this.#mustExist()
      return this.#executeNow(execution)
    })
  }

  /** The tabs of other executors are not the same as before. */
  tellOthers(): void {
    this.#runner?.tell(FRAME.others, this.#options.others())
  }

  /** Ends it and the code that it runs. Calls that wait for their turn are refused. */
  end(): void {
    this.#deleted.abort()
    clearInterval(this.#idleTimer)
    this.#runner?.kill(DELETED)
  }

  async #executeNow({ code, timeoutMs, signal }: Execution): Promise<Executed> {
    this.#lastUsedAt = new Date()
    await this.#tidying
    const { settings, chromium, hasOwnTab, tabs } = this.#options
    const { devtools_path: path } = await chromium.whenOpen(CHROMIUM_MS)
    signal.throwIfAborted()
    if (path === null) throw new ControlError('unavailable', 'Cannot run code: Chromium is not ready')
    const endpoint = `ws://127.0.0.1:${settings.ports.devtools}${path}`
    const heard = (this.#heard = new Heard())
    const held = hasOwnTab ? await tabs.hold(this.#targetId) : undefined
    let isStopped = false
    try {
      if (held) this.#hear(heard, held.tab)
      signal.throwIfAborted()
      this.#mustExist()
      const ended = await this.#run({ endpoint, code, timeoutMs, signal })
      isStopped = !ended.outcome
      if (isStopped) {
        if (!ended.hasBegun) this.#mustExist()
        mustHaveBegun(ended)
      }
      this.#hasRun = true
      const { outcome, error } = ended
      return { outcome, error, stdout: heard.stdout.text, stderr: heard.stderr.text, tab: heard.tab }
    } finally {
      this.#lastUsedAt = new Date()
      if (held) this.#tidy(held, { isStopped })
    }
  }

  async #run({ endpoint, code, timeoutMs, signal }: Execution & { endpoint: string }): Promise<Ended> {
    const { hasOwnTab, others } = this.#options
    const task = { endpoint, code, others: others(), ...(hasOwnTab && { target: this.#targetId! }) }
    const runner = this.#ready()
    try {
      return await runWithin(runner, { task, timeoutMs, signal })
    } finally {
      this.#rest()
    }
  }

  #mustExist(): void {
    if (!this.#deleted.signal.aborted) return
    throw new ControlError('conflict', `Cannot run code: the executor "${this.name}" was deleted`)
  }

  /** Code that was stopped may have left a script in the page that never ends. */
  #tidy(held: HeldTab, { isStopped }: { isStopped: boolean }): void {
    if (!isStopped) return held.release()
    this.#tidying = held
      .free()
      .catch((error: unknown) => log('Cannot look after the tab of an executor', error))
      .finally(() => held.release())
  }

  #hear(heard: Heard, tab: Tab): void {
    heard.tab = tab
    if (tab.target_id === this.#targetId) return
    this.#targetId = tab.target_id
    this.#options.onTab()
  }

  #take({ kind, payload }: Frame): void {
    const heard = this.#heard
    if (kind === FRAME.stdout) return heard.stdout.add(payload)
    if (kind === FRAME.stderr) return heard.stderr.add(payload)
    // One for each run: a process that sends many must not keep all others busy.
    if (kind !== FRAME.tab || this.#options.hasOwnTab || heard.tab) return
    const tab = toTab(payload)
    if (tab) this.#hear(heard, tab)
  }

  #ready(): RunnerProcess {
    clearInterval(this.#idleTimer)
    if (this.#runner && !this.#runner.isOver) return this.#runner
    const { playwrightRunner, home, temporary } = this.#options.settings
    return (this.#runner = new RunnerProcess({
      node: process.execPath,
      program: [playwrightRunner],
      home,
      environment: { HOME: home, TMPDIR: temporary, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      onFrame: (frame) => this.#take(frame),
    }))
  }

  #rest(): void {
    if (this.#deleted.signal.aborted) return
    let ticks = 0
    this.#idleTimer = setInterval(() => {
      if (!this.#runner?.isOver && ++ticks < MAX_IDLE_TICKS) return
      clearInterval(this.#idleTimer)
      this.#runner?.kill()
      this.#runner = undefined
    }, IDLE_TICK_MS)
    this.#idleTimer.unref()
  }
}

/** A runner is untrusted. */
function toTab(payload: Buffer): Tab | undefined {
  try {
    const { target_id: id, created } = JSON.parse(payload.toString()) as Partial<Record<keyof Tab, unknown>>
    const isRight = typeof id === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(id)
    return isRight ? { target_id: id, created: created === true } : undefined
  } catch {
    return undefined
  }
}
