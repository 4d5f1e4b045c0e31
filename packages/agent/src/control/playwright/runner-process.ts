// One runner: a separate Node process, so that code can be stopped whatever it does. Its messages are untrusted: they are
// counted, and the runner is ended if there are too many.
import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { FrameSplitter, toFrame, type Frame } from '@berth/codecs/frames/frames'
import { FRAME, MAX_FRAME_BYTES, type Task } from './conversation.ts'
import { spawnAsUser } from '../../user/user.ts'

/** Limit for all frames from one run to the next; a correct runner stays far below. */
const MAX_RUN_BYTES = 32 * 1024 * 1024
const MAX_LAST_WORDS = 4_000
const LAST_WORDS_MS = 200
const CHANNEL = 3

export interface RunnerOptions {
  readonly node: string
  /** The program and its arguments. */
  readonly program: readonly string[]
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  /** Takes every frame that neither begins nor ends a run, also between runs. */
  readonly onFrame: (frame: Frame) => void
}

export interface Run {
  readonly task: Task
  readonly onBegun: () => void
}

export interface Outcome {
  /** JSON of the result, or of a Failure. */
  readonly json: Buffer
  readonly isSuccess: boolean
}

/** The runner ended before the code did. */
export class RunnerEnded extends Error {}

interface Current extends Run {
  readonly resolve: (outcome: Outcome) => void
}

export class RunnerProcess {
  readonly #child: ChildProcess
  readonly #channel: Duplex
  readonly #frames = new FrameSplitter({ maxBytes: MAX_FRAME_BYTES })
  readonly #ended = Promise.withResolvers<never>()
  readonly #onFrame: RunnerOptions['onFrame']
  #current: Current | undefined
  #received = 0
  #lastWords = ''
  #isOver = false
  #reason: string | undefined

  constructor({ node, program, home, environment, onFrame }: RunnerOptions) {
    this.#onFrame = onFrame
    // Limits the heap, so that code that uses too much memory ends itself, and not Chromium.
    const flags = ['--max-old-space-size=512', '--disable-warning=ExperimentalWarning']
    // Its own process group, so that programs that the code started end with it.
    this.#child = spawnAsUser(node, [...flags, ...program], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      cwd: home,
      env: environment,
    })
    // SAFETY: spawned with this pipe, and a pipe goes both ways.
    this.#channel = this.#child.stdio[CHANNEL] as Duplex
    this.#channel.on('error', () => {})
    this.#channel.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#child.stderr!.on('error', () => {})
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-MAX_LAST_WORDS)
    })
    this.#child.once('error', (error) => this.#end(error.message))
    this.#child.once('exit', (code, signal) => this.#onExit(signal ?? `code ${code}`))
    this.#ended.promise.catch(() => {})
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Why the agent ended it; undefined if it ended by itself. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Runs one task at a time. Rejects with RunnerEnded. */
  async run(run: Run): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#current = { ...run, resolve }
    this.#received = 0
    this.tell(FRAME.run, run.task)
    try {
      return await Promise.race([promise, this.#ended.promise])
    } finally {
      this.#current = undefined
    }
  }

  /** Sends a message as JSON. */
  tell(kind: number, message: unknown): void {
    if (!this.#channel.destroyed) this.#channel.write(toFrame(kind, Buffer.from(JSON.stringify(message))))
  }

  /** Ends the runner and all its children at once. */
  kill(reason?: string): void {
    if (!this.#isOver) this.#reason = reason
    this.#isOver = true
    this.#killGroup()
    this.#channel.destroy()
  }

  #killGroup(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  /** Waits for its last output, but not for long: a child may hold the pipe open. */
  #onExit(how: string): void {
    this.#isOver = true
    this.#killGroup()
    const end = () => this.#end(how)
    const timer = setTimeout(end, LAST_WORDS_MS)
    this.#child.once('close', () => {
      clearTimeout(timer)
      end()
    })
  }

  #end(how: string): void {
    this.kill()
    const words = this.#lastWords.trim()
    this.#ended.reject(new RunnerEnded(`it ended with ${how}${words ? `\n${words}` : ''}`))
  }

  #take(chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#received > MAX_RUN_BYTES) return this.kill()
    try {
      for (const frame of this.#frames.split(chunk)) this.#handle(frame)
    } catch {
      this.kill()
    }
  }

  #handle(frame: Frame): void {
    const { kind, payload } = frame
    switch (kind) {
      case FRAME.begun:
        return this.#current?.onBegun()
      case FRAME.result:
      case FRAME.failure:
        return this.#current?.resolve({ json: payload, isSuccess: kind === FRAME.result })
      default:
        return this.#onFrame(frame)
    }
  }
}
