// A Node process that keeps its state from call to call. It is ended to stop code; then its state is lost, and the next
// call has another one, with another id.
import { randomUUID } from 'node:crypto'
import type { Chromium } from '../../chromium/chromium.ts'
import type { Settings } from '../../instance/settings.ts'
import type { Failure } from '../playwright/conversation.ts'
import { runWithin } from '../playwright/limited-run.ts'
import { RunnerProcess } from '../playwright/runner-process.ts'
import { Turns } from '../playwright/turns.ts'
import { Content, type Item } from './content.ts'

const CHROMIUM_MS = 15_000

export interface ReplOptions {
  readonly settings: Settings
  readonly chromium: Pick<Chromium, 'whenOpen'>
  /** Tabs that belong to executors. */
  readonly others: () => readonly string[]
  /** Of programs of the session. */
  readonly surroundings: () => { readonly environment: Readonly<Record<string, string>> }
}

export interface ReplCall {
  readonly code: string
  readonly isReset: boolean
  readonly timeoutMs: number
  /** Fires when the caller has left; then the process ends. */
  readonly signal: AbortSignal
}

export interface ReplAnswer {
  readonly success: boolean
  readonly repl_id: string
  readonly content?: readonly Item[]
  readonly content_truncated?: true
  readonly duration_ms: number
  readonly error?: string
  readonly stack?: string
  readonly repl_terminated?: true
}

interface Session {
  readonly id: string
  readonly process: RunnerProcess
  /** Since the last answer. */
  content: Content
}

export class Repl {
  readonly #options: ReplOptions
  readonly #turns = new Turns()
  #session: Session | undefined

  constructor(options: ReplOptions) {
    this.#options = options
  }

  run(call: ReplCall): Promise<ReplAnswer> {
    return this.#turns.take(call.signal, () => this.#runNow(call))
  }

  kill(): void {
    this.#session?.process.kill()
  }

  async #runNow({ code, isReset, timeoutMs, signal }: ReplCall): Promise<ReplAnswer> {
    const { settings, chromium, others } = this.#options
    const { devtools_path: path } = await chromium.whenOpen(CHROMIUM_MS)
    signal.throwIfAborted()
    if (isReset) this.#end()
    const session = this.#ready()
    const endpoint = path === null ? null : `ws://127.0.0.1:${settings.ports.devtools}${path}`
    const task = { endpoint, code, others: others() }
    const { outcome, error, durationMs } = await runWithin(session.process, { task, timeoutMs, signal })
    const { content } = session
    session.content = new Content()
    // Its state is gone, so that the next call gets another one.
    if (!outcome) this.#end()
    const failure = outcome && !outcome.isSuccess ? toFailure(outcome.json) : undefined
    const { items } = content
    return {
      success: outcome?.isSuccess === true,
      repl_id: session.id,
      ...(items.length > 0 && { content: items }),
      ...(content.isTruncated && { content_truncated: true }),
      duration_ms: durationMs,
      ...(failure && { error: failure.error, ...(failure.stack !== '' && { stack: failure.stack }) }),
      ...(!outcome && { error: error!, repl_terminated: true }),
    }
  }

  #end(): void {
    this.#session?.process.kill()
    this.#session = undefined
  }

  #ready(): Session {
    if (this.#session && !this.#session.process.isOver) return this.#session
    const { settings, surroundings } = this.#options
    const { playwrightRunner, home, temporary } = settings
    const session: Session = {
      id: randomUUID(),
      content: new Content(),
      process: new RunnerProcess({
        node: process.execPath,
        program: [playwrightRunner, 'repl'],
        home,
        // Node's fetch uses a proxy only with NODE_USE_ENV_PROXY.
        environment: {
          ...surroundings().environment,
          TMPDIR: temporary,
          HOME: home,
          NODE_USE_ENV_PROXY: '1',
        },
        onFrame: (frame) => session.content.take(frame),
      }),
    }
    if (this.#session) session.content.say('stderr', 'The process of earlier calls has ended by itself\n')
    return (this.#session = session)
  }
}

/** The process is untrusted. */
function toFailure(json: Buffer): Failure {
  try {
    const { error, stack } = JSON.parse(json.toString()) as Partial<Record<keyof Failure, unknown>>
    return { error: String(error), stack: typeof stack === 'string' ? stack : '' }
  } catch {
    return { error: 'The code failed', stack: '' }
  }
}
