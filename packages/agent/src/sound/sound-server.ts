// The sound of a session: a PulseAudio without real devices. It starts when a program connects for the first time, and
// ends by itself when nobody has been connected for a while. Until then only a socket listens.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { log } from '../log/log.ts'
import { LineCutter } from '../log/line-cutter.ts'
import type { NativeCalls } from '../user/native-calls.ts'
import { pathExists } from '../user/path-exists.ts'
import { spawnAsUser } from '../user/user.ts'
import { Listener } from './listener.ts'
import { commandOf, SERVER, soundFormat } from './command.ts'

export { soundFormat }

/** A server that ended so soon has failed. */
const BRIEF_MS = 2_000
/** After so many failures in a row, programs are refused instead of waiting for a server that does not come. */
const MAX_FAILURES = 3
/** Sounds with a shorter pause between them count as one. */
const PAUSE_MS = 1_000
const MAX_OUTPUT_CHARACTERS = 1_000
/** Chromium plays again within this time, or stays connected for nothing. */
const UNUSED_SECONDS = 60
/** The server ends when nobody has been connected for this time. */
const IDLE_SECONDS = 20

/** What the server says of itself. Names that programs choose are never at the start of a line. */
const STARTED = /^I: \[pulseaudio\] main\.c: Daemon startup complete\.$/
const CHANGED = /^D: \[pulseaudio\] sink\.c: speakers: state: [A-Z]+ -> ([A-Z]+)$/

const STREAM = /^I: \[[a-z-]+\] (?:sink-input|source-output)\.c: (Created|Freeing) (?:in|out)put \d+ "/

export interface SoundServerOptions {
  /** For its sockets and files, which end with the instance. */
  readonly temporary: string
  /** Without them there is no sound. */
  readonly calls: NativeCalls | undefined
  /** A program has begun to play, or all have been silent for a moment. */
  readonly onPlaying: (isPlaying: boolean) => void
  /** The server runs, and nobody has played or listened for a while. */
  readonly onUnused: () => void
  /** For tests. */
  readonly seconds?: { readonly unused: number; readonly idle: number }
}

export class SoundServer {
  readonly #directory: string
  readonly #onPlaying: (isPlaying: boolean) => void
  readonly #listener: Listener | undefined
  readonly #waiting = new Set<() => void>()
  #server: ChildProcess | undefined
  #isRunning = false
  #failures = 0
  #isPlaying = false
  #streams = 0
  #unused: NodeJS.Timeout | undefined
  readonly #onUnused: () => void
  readonly #seconds: { readonly unused: number; readonly idle: number }
  #silence: NodeJS.Timeout | undefined

  constructor({ temporary, calls, onPlaying, onUnused, seconds }: SoundServerOptions) {
    this.#seconds = seconds ?? { unused: UNUSED_SECONDS, idle: IDLE_SECONDS }
    this.#onUnused = onUnused
    this.#directory = join(temporary, '.sound')
    this.#onPlaying = onPlaying
    if (!calls || !pathExists(SERVER)) return
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      this.#listener = new Listener(join(this.#directory, 'native'), calls)
      this.#listener.onWaiting(() => this.#start())
    } catch (error) {
      log('The session has no sound', error)
    }
  }

  /** Whether programs can play. */
  get isThere(): boolean {
    return this.#listener !== undefined && this.#failures < MAX_FAILURES
  }

  /** For programs that play. */
  get environment(): Readonly<Record<string, string>> {
    if (!this.#listener) return {}
    // Without a place for the cookie, which nobody asks for here, clients make one in HOME.
    return { PULSE_SERVER: `unix:${this.#listener.path}`, PULSE_COOKIE: join(this.#directory, 'cookie') }
  }

  /** Whoever connects gets all that is played, in `soundFormat`, for as long as the server runs. */
  get outputSocket(): string {
    return join(this.#directory, 'output')
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Calls back whenever the server has started. */
  onRunning(tell: () => void): Disposable {
    this.#waiting.add(tell)
    return { [Symbol.dispose]: () => this.#waiting.delete(tell) }
  }

  kill(): void {
    this.#listener?.close()
    this.#server?.kill('SIGKILL')
  }

  #start(): void {
    const { path, descriptor } = this.#listener!
    const startedAt = performance.now()
    // Of a server that was killed.
    rmSync(this.outputSocket, { force: true })
    let output = ''
    const cutter = new LineCutter()
    const [command, words, env] = commandOf({
      directory: this.#directory,
      socket: path,
      output: this.outputSocket,
      idleSeconds: this.#seconds.idle,
    })
    const server = spawnAsUser(command, words, { stdio: ['ignore', 'ignore', 'pipe', descriptor], env })
    this.#server = server
    server.stderr!.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-MAX_OUTPUT_CHARACTERS)
      for (const line of cutter.take(chunk)) this.#hear(line)
    })
    server.stderr!.on('error', () => {})
    const over = (how: string, isClean: boolean) => {
      if (this.#server !== server) return
      this.#server = undefined
      this.#isRunning = false
      this.#streams = 0
      clearTimeout(this.#unused)
      this.#setPlaying(false)
      if (!isClean) log(`The sound server ended with ${how}: ${output.trim()}`)
      this.#failures = isClean || performance.now() - startedAt > BRIEF_MS ? 0 : this.#failures + 1
      if (this.#failures >= MAX_FAILURES) {
        log('The session has no sound any more: its server failed too often')
        return this.#listener!.close()
      }
      this.#listener!.onWaiting(() => this.#start())
    }
    server.once('error', (error) => over(error.message, false))
    server.once('exit', (code, signal) => over(signal ?? `code ${code}`, code === 0))
  }

  #hear(line: string): void {
    const state = CHANGED.exec(line)?.[1]
    if (state !== undefined) return this.#onState(state === 'RUNNING')
    const stream = STREAM.exec(line)?.[1]
    if (stream !== undefined) return this.#count(stream === 'Created' ? 1 : -1)
    if (!STARTED.test(line)) return
    this.#isRunning = true
    this.#count(0)
    for (const tell of this.#waiting) tell()
  }

  #count(change: number): void {
    this.#streams = Math.max(0, this.#streams + change)
    clearTimeout(this.#unused)
    if (this.#streams === 0) this.#unused = setTimeout(this.#onUnused, this.#seconds.unused * 1000)
  }

  #onState(isPlaying: boolean): void {
    clearTimeout(this.#silence)
    this.#silence = undefined
    if (isPlaying) this.#setPlaying(true)
    else this.#silence = setTimeout(() => this.#setPlaying(false), PAUSE_MS)
  }

  #setPlaying(isPlaying: boolean): void {
    clearTimeout(this.#silence)
    this.#silence = undefined
    if (this.#isPlaying === isPlaying) return
    this.#isPlaying = isPlaying
    this.#onPlaying(isPlaying)
  }
}
