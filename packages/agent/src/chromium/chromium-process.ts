// One run of Chromium, from its start to its end.
import type { ChildProcess } from 'node:child_process'
import type { ServiceLog } from '../log/service-log.ts'
import { spawnAsBrowser } from '../user/user.ts'
import { holdUntilWritten } from './last-writes.ts'

const MAX_OUTPUT_CHARACTERS = 4_000
/** Printed once the debugging port is open. */
const LISTENING = /^DevTools listening on ws:\/\/[^/]+(\/devtools\/browser\/[A-Za-z0-9-]+)\s*$/m

export interface ChromiumProcessOptions {
  readonly command: string
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  /** Receives all of Chromium's output. */
  readonly log: ServiceLog
}

export interface ChromiumExit {
  readonly isClean: boolean
  /** For people, such as "code 1" or "SIGKILL". */
  readonly how: string
}

export class ChromiumProcess {
  readonly #child: ChildProcess
  readonly exited: Promise<ChromiumExit>
  /** Path of the browser-wide websocket, as soon as it can be connected to. */
  readonly listening: Promise<string>
  #output = ''
  #hasEnded = false

  constructor({ command, flags, environment, directory, log }: ChromiumProcessOptions) {
    // Its own process group, so that kill() ends every child too.
    this.#child = spawnAsBrowser(command, flags, {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment,
      cwd: directory,
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#output += error.message
        resolve({ isClean: false, how: 'an error' })
      })
      this.#child.once('exit', (code, signal) => {
        this.#hasEnded = true
        this.kill()
        resolve({ isClean: code === 0, how: signal ?? `code ${code}` })
      })
    })
    this.listening = this.#awaitPort(log)
  }

  /** Only valid once it has started. */
  get pid(): number {
    return this.#child.pid!
  }

  /** To be called when it begins to close: it ends only when what its pages stored last is on disk. */
  async holdUntilWritten(): Promise<void> {
    if (!this.#hasEnded) await holdUntilWritten(this.pid)
  }

  /** The end of its output, for people. */
  get recentOutput(): string {
    return this.#output.trim()
  }

  /** Kills it and all its children. */
  kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Already gone.
    }
  }

  #awaitPort(log: ServiceLog): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    // Read until it ends, because a full pipe would block it.
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      log.append(chunk)
      this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT_CHARACTERS)
      const path = LISTENING.exec(this.#output)?.[1]
      if (path) resolve(path)
    })
    this.#child.stderr!.on('error', () => {})
    void this.exited.then(({ how }) => reject(new Error(`it ended with ${how}`)))
    // Callers that wait see the rejection; without one it must not count as unhandled.
    promise.catch(() => {})
    return promise
  }
}
