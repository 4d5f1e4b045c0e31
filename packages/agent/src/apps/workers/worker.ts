// A process with the app imported, for one invocation only. Its messages are untrusted: they are limited, and the process
// is ended if it exceeds a limit.
import type { ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Duplex } from 'node:stream'
import { MAX_HELD_LOG_BYTES, MAX_RUN_LOG_BYTES } from '@berth/contracts/app-link'
import { FrameSplitter, toFrame } from '@berth/codecs/frames/frames'
import { LineCutter } from '../../log/line-cutter.ts'
import { killConfined, spawnConfined, type ConfinedOptions } from './confined.ts'
import { CHANNEL, FRAME, MAX_FRAME_BYTES, type Invocation } from './conversation.ts'

/** Below the agent's priority: if fifty processes start at once, the agent must still answer in time. */
const NICE = 5
/** How long to read the rest of its output after its end. Its namespace is gone, so nobody holds the other end. */
const LAST_WORDS_MS = 2_000
const LAST_LINES = 20
/** What Node and Python print when they run out of memory. */
const NO_MEMORY_LEFT =
  /heap out of memory|bad_alloc|Array buffer allocation failed|Cannot allocate memory|MemoryError/

export const OUT_OF_MEMORY = 'It ran out of memory and was ended; see BERTH_APP_INVOCATION_MEMORY_MB'

export interface Ended {
  /** JSON of the return value; undefined if the action failed. */
  readonly output?: string
  readonly reason?: string
}

export class Worker {
  readonly #child: ChildProcess
  readonly #channel: Duplex
  readonly #frames = new FrameSplitter({ maxBytes: MAX_FRAME_BYTES })
  readonly #lines = new LineCutter()
  readonly #ready = Promise.withResolvers<string>()
  readonly #ended = Promise.withResolvers<Ended>()
  #held: string[] = []
  #heldBytes = 0
  #printedBytes = 0
  #onLine: ((line: string) => boolean) | undefined
  #lastLines: string[] = []
  #result: string | undefined
  #failure: string | undefined
  #whyKilled: string | undefined
  #isOver = false

  constructor(options: Omit<ConfinedOptions, 'hasChannel'>) {
    this.#child = spawnConfined({ ...options, hasChannel: true })
    // SAFETY: spawned with this pipe, and a pipe goes both ways.
    this.#channel = this.#child.stdio[CHANNEL] as Duplex
    this.#channel.on('error', () => {})
    this.#channel.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#child.stdout!.on('error', () => {})
    this.#child.stdout!.on('data', (chunk: Buffer) => this.#print(chunk))
    this.#child.once('error', (error) => this.#finish(error.message))
    this.#child.once('exit', (code, signal) => this.#onExit(code, signal))
    this.#ready.promise.catch(() => {})
    const { pid } = this.#child
    if (pid !== undefined) setPriority(pid, NICE)
  }

  /** Resolves with JSON of the app's actions when it is imported; rejects with the reason if the import fails. */
  get ready(): Promise<string> {
    return this.#ready.promise
  }

  /** Resolves when all its processes have ended and all lines were passed on. */
  get ended(): Promise<Ended> {
    return this.#ended.promise
  }

  /** The pid of the first process; the others are its descendants. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Call it once. Lines come in order. `onLine` returns false to get no more lines until `resume`. */
  invoke(invocation: Invocation, payload: Buffer): void {
    this.#channel.write(toFrame(FRAME.invoke, Buffer.from(JSON.stringify(invocation))))
    if (invocation.hasPayload) this.#channel.write(toFrame(FRAME.payload, payload))
  }

  /** Passes lines to `onLine` from now on, starting with those that were held. */
  follow(onLine: (line: string) => boolean): void {
    this.#onLine = onLine
    const held = this.#held
    this.#held = []
    this.#heldBytes = 0
    for (const line of held) this.#give(line)
    this.#child.stdout!.resume()
  }

  resume(): void {
    this.#child.stdout!.resume()
  }

  kill(reason: string): void {
    this.#whyKilled ??= reason
    killConfined(this.#child)
    // The end does not wait for what is still in the pipes.
    this.#child.stdout!.resume()
  }

  #print(chunk: Buffer): void {
    this.#printedBytes += chunk.length
    if (this.#printedBytes > MAX_RUN_LOG_BYTES) {
      this.kill(`It printed more than ${MAX_RUN_LOG_BYTES / 1024 / 1024} MB, and was ended`)
      return
    }
    for (const line of this.#lines.take(chunk)) this.#give(line)
  }

  #give(line: string): void {
    this.#lastLines = [...this.#lastLines, line.slice(0, 500)].slice(-LAST_LINES)
    if (this.#onLine) {
      if (!this.#onLine(line) && this.#whyKilled === undefined) this.#child.stdout!.pause()
      return
    }
    this.#held.push(line)
    this.#heldBytes += line.length
    // Lines are held until the invocation begins.
    if (this.#heldBytes > MAX_HELD_LOG_BYTES) this.#child.stdout!.pause()
  }

  #take(chunk: Buffer): void {
    try {
      for (const { kind, payload } of this.#frames.split(chunk)) {
        if (kind === FRAME.ready) this.#ready.resolve(payload.toString())
        else if (kind === FRAME.result) this.#result ??= payload.toString()
        else if (kind === FRAME.failure) this.#failure ??= payload.toString()
      }
    } catch {
      this.kill('It wrote where only its runner may, and was ended')
    }
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    const how = signal ? `by ${signal}` : `with code ${code}`
    const finish = () => this.#finish(how)
    const timer = setTimeout(finish, LAST_WORDS_MS)
    this.#child.stdout!.resume()
    this.#child.once('close', () => {
      clearTimeout(timer)
      finish()
    })
  }

  #finish(how: string): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const line of this.#lines.rest()) this.#give(line)
    const reason = this.#reasonFor(how)
    this.#ready.reject(new Error(reason))
    const isDone = this.#result !== undefined && this.#whyKilled === undefined
    this.#ended.resolve(isDone ? { output: this.#result! } : { reason })
    this.#channel.destroy()
  }

  #reasonFor(how: string): string {
    if (this.#whyKilled !== undefined) return this.#whyKilled
    if (this.#failure !== undefined) return this.#failure
    const words = this.#lastLines.join('\n')
    if (how === 'by SIGKILL' || NO_MEMORY_LEFT.test(words)) {
      return OUT_OF_MEMORY
    }
    return `Its process ended ${how} before the action did`
  }
}
