// One run of Chromium, from its start to its end.
import { spawn, type ChildProcess } from 'node:child_process'
import type { ServiceLog } from '../control/logs/service-log.ts'

const MAX_OUTPUT_CHARACTERS = 4_000
/** Printed once the debugging port is open. */
const LISTENING = /^DevTools listening on ws:\/\/[^/]+(\/devtools\/browser\/[A-Za-z0-9-]+)\s*$/m

export interface ChromiumProcessOptions {
  readonly command: string
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  /** All that it says. */
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

  constructor({ command, flags, environment, directory, log }: ChromiumProcessOptions) {
    // A group of its own, so that no child of it is left behind.
    this.#child = spawn(command, flags, {
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
        this.kill()
        resolve({ isClean: code === 0, how: signal ?? `code ${code}` })
      })
    })
    this.listening = this.#awaitPort(log)
  }

  /** Of one that was started. */
  get pid(): number {
    return this.#child.pid!
  }

  /** The last it said, for people. */
  get recentOutput(): string {
    return this.#output.trim()
  }

  /** Ends it and all its children at once. */
  kill(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }

  #awaitPort(log: ServiceLog): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    // Read to the end of its life, or a full pipe would stop it.
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      log.append(chunk)
      this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT_CHARACTERS)
      const path = LISTENING.exec(this.#output)?.[1]
      if (path) resolve(path)
    })
    this.#child.stderr!.on('error', () => {})
    void this.exited.then(({ how }) => reject(new Error(`it ended with ${how}`)))
    // Whoever waits sees it; if nobody does yet, that is no error.
    promise.catch(() => {})
    return promise
  }
}
