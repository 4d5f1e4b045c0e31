// Runs code, one call at a time. The runner starts with the first call and is kept for the next ones. It is ended to stop
// code, and after some idle time; time spent frozen does not count.
import { Semaphore } from '@berth/kit/semaphore'
import type { Chromium } from '../../chromium/chromium.ts'
import type { Settings } from '../../instance/settings.ts'
import { ControlError } from '../calls/operation.ts'
import { RunnerEnded, RunnerProcess, type Outcome } from './runner-process.ts'

const MAX_WAITING = 32
const CHROMIUM_MS = 15_000
/** Limit for a runner to start, connect and find its page. The time limit of the code starts after that. */
const BEGIN_MS = 30_000
// Idle time is counted in ticks, because every clock keeps running while frozen.
const IDLE_TICK_MS = 30_000
const MAX_IDLE_TICKS = 10

export interface ExecutorParts {
  readonly settings: Settings
  readonly chromium: Pick<Chromium, 'whenOpen'>
}

export interface Execution {
  readonly code: string
  readonly timeoutMs: number
  /** Fires when the caller has left; then the code is stopped. */
  readonly signal: AbortSignal
}

export interface Executed {
  /** Undefined if the code was stopped or ended its own process; then `error` says why. */
  readonly outcome: Outcome | undefined
  readonly error: string | undefined
  readonly stdout: string
  readonly stderr: string
}

export class Executor {
  readonly #parts: ExecutorParts
  readonly #turns = new Semaphore(1)
  #waiting = 0
  #runner: RunnerProcess | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(parts: ExecutorParts) {
    this.#parts = parts
  }

  async execute(execution: Execution): Promise<Executed> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ControlError(
        'too_many_requests',
        `Cannot run code: ${MAX_WAITING} others wait for their turn`,
      )
    }
    this.#waiting++
    try {
      const turn = await this.#turns.enter(execution.signal)
      return await this.#executeNow(execution).finally(() => turn[Symbol.dispose]())
    } finally {
      this.#waiting--
    }
  }

  async #executeNow({ code, timeoutMs, signal }: Execution): Promise<Executed> {
    const { devtools_path: path } = await this.#parts.chromium.whenOpen(CHROMIUM_MS)
    signal.throwIfAborted()
    if (path === null) throw new ControlError('unavailable', 'Cannot run code: Chromium is not ready')
    const endpoint = `ws://127.0.0.1:${this.#parts.settings.ports.devtools}${path}`
    const runner = this.#ready()
    let why = 'Cannot run code: its process did not start in time'
    const stop = (reason: string) => {
      why = reason
      runner.kill()
    }
    let hasBegun = false
    let timer = setTimeout(() => stop(why), BEGIN_MS)
    const onBegun = () => {
      if (hasBegun) return
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(() => stop(`Execution timed out after ${timeoutMs}ms`), timeoutMs)
      why = 'The code ended its own process'
    }
    const onGone = () => stop('The caller is gone')
    signal.addEventListener('abort', onGone)
    try {
      const outcome = await runner.run({ task: { endpoint, code }, onBegun })
      return { outcome, error: undefined, stdout: runner.stdout.text, stderr: runner.stderr.text }
    } catch (error) {
      if (!(error instanceof RunnerEnded)) throw error
      if (!hasBegun) throw new ControlError('unavailable', why, { cause: error })
      const ended = why.startsWith('Execution') ? why : `${why}: ${error.message}`
      return { outcome: undefined, error: ended, stdout: runner.stdout.text, stderr: runner.stderr.text }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onGone)
      this.#rest()
    }
  }

  #ready(): RunnerProcess {
    clearInterval(this.#idleTimer)
    if (this.#runner && !this.#runner.isOver) return this.#runner
    const { playwrightRunner: file, home, temporary } = this.#parts.settings
    return (this.#runner = new RunnerProcess({ node: process.execPath, file, home, temporary }))
  }

  #rest(): void {
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
