// One runner: a separate Node process, so that code can be stopped whatever it does. Its messages are untrusted: they are
// counted, and the runner is ended if there are too many.
import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { FrameSplitter, toFrame, type Frame } from '@berth/codecs/frames/frames'
import { FRAME, MAX_FRAME_BYTES, MAX_OUTPUT_BYTES, type Task } from './conversation.ts'
import { spawnAsUser } from '../../user/user.ts'

/** Limit for all frames of one run; a correct runner stays far below. */
const MAX_RUN_BYTES = 32 * 1024 * 1024
const MAX_LAST_WORDS = 4_000
const LAST_WORDS_MS = 200
const CHANNEL = 3

export interface RunnerOptions {
  readonly node: string
  readonly file: string
  readonly home: string
  readonly temporary: string
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
  #current: Current | undefined
  #received = 0
  #lastWords = ''
  #isOver = false
  stdout = new Output()
  stderr = new Output()

  constructor({ node, file, home, temporary }: RunnerOptions) {
    // Limits the heap, so that code that uses too much memory ends itself, and not Chromium.
    const flags = ['--max-old-space-size=512', '--disable-warning=ExperimentalWarning']
    // Its own process group, so that programs that the code started end with it.
    this.#child = spawnAsUser(node, [...flags, file], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      cwd: home,
      env: { HOME: home, TMPDIR: temporary, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
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

  /** Runs one task at a time. Rejects with RunnerEnded. */
  async run(run: Run): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.#current = { ...run, resolve }
    this.#received = 0
    this.stdout = new Output()
    this.stderr = new Output()
    this.#channel.write(toFrame(FRAME.run, Buffer.from(JSON.stringify(run.task))))
    try {
      return await Promise.race([promise, this.#ended.promise])
    } finally {
      this.#current = undefined
    }
  }

  /** Ends the runner and all its children at once. */
  kill(): void {
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

  #handle({ kind, payload }: Frame): void {
    switch (kind) {
      case FRAME.begun:
        return this.#current?.onBegun()
      case FRAME.stdout:
        return this.stdout.add(payload)
      case FRAME.stderr:
        return this.stderr.add(payload)
      case FRAME.result:
      case FRAME.failure:
        return this.#current?.resolve({ json: payload, isSuccess: kind === FRAME.result })
      default:
        return
    }
  }
}

/** The output of a run, up to a limit. */
class Output {
  #pieces: Buffer[] = []
  #length = 0

  add(piece: Buffer): void {
    const room = MAX_OUTPUT_BYTES - this.#length
    if (room < 0) return
    this.#length += piece.length
    // Copied, because it would keep the larger buffer that it is part of.
    this.#pieces.push(Buffer.from(piece.subarray(0, room)))
    if (this.#length > MAX_OUTPUT_BYTES) this.#pieces.push(Buffer.from('\n[cut: more than 1 MiB]\n'))
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString()
  }
}
