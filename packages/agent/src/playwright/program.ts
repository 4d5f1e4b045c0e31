// One program that serves Playwright's own protocol, as a process of the tenant. It starts with the first client and ends
// when it was without clients for some time. Time spent frozen does not count.
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Settings } from '../instance/settings.ts'
import { log } from '../log/log.ts'
import { spawnAsUser } from '../user/user.ts'

const START_MS = 25_000
// Idle time is counted in ticks, because every clock keeps running while frozen.
const IDLE_TICK_MS = 30_000
const MAX_IDLE_TICKS = 10
const MAX_LAST_WORDS = 4_000

export interface ProgramOptions {
  readonly file: string
  /** Such as 1.65. */
  readonly version: string
  readonly settings: Pick<Settings, 'home' | 'ports'>
}

export class Program {
  readonly #child: ChildProcess
  /**
   * Abstract, not a file: the tenant could put a link in the place of a file, and the agent would connect to what only
   * the agent may reach. Pages cannot reach it, as they could a port.
   */
  readonly #name = `playwright-${randomUUID()}`
  readonly #ready = Promise.withResolvers<void>()
  readonly #idling: NodeJS.Timeout
  #clients = 0
  #idleTicks = 0
  #isOver = false

  constructor({ file, version, settings: { home, ports } }: ProgramOptions) {
    // On the disk of the session, which is larger than /tmp: downloads, uploads, videos and traces.
    const files = join(home, '.playwright', version)
    // Limits the heap, so that a client that needs too much memory ends this program, and not Chromium.
    const flags = ['--max-old-space-size=512', '--disable-warning=ExperimentalWarning']
    this.#child = spawnAsUser(
      process.execPath,
      [...flags, file, 'serve', this.#name, String(ports.devtools), files],
      {
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        cwd: home,
        env: {
          HOME: home,
          TMPDIR: join(files, 'tmp'),
          PLAYWRIGHT_BROWSERS_PATH: join(files, 'browsers'),
          PATH: '/usr/bin:/bin',
          LANG: 'C.UTF-8',
        },
      },
    )
    let lastWords = ''
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      lastWords = (lastWords + chunk.toString()).slice(-MAX_LAST_WORDS)
    })
    this.#child.stdout!.once('data', () => this.#ready.resolve()).resume()
    for (const stream of [this.#child.stdin!, this.#child.stdout!, this.#child.stderr!]) {
      stream.on('error', () => {})
    }
    const starting = setTimeout(() => this.kill(), START_MS)
    this.#ready.promise.then(
      () => clearTimeout(starting),
      () => clearTimeout(starting),
    )
    this.#idling = setInterval(() => this.#tick(), IDLE_TICK_MS).unref()
    const onEnd = (why: string) => {
      if (this.#isOver) return
      this.#end()
      log(`Playwright ${version} has ended: ${[why, lastWords].join(' ').trim()}`)
      this.#ready.reject(new Error(`Playwright ${version} has ended: ${why}`))
    }
    this.#child.once('error', (error) => onEnd(error.message))
    this.#child.once('exit', (code, signal) => onEnd(String(signal ?? code)))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** A connection to it, when it has started. Rejects if it cannot start. */
  async connect(): Promise<Socket> {
    this.#clients++
    try {
      await this.#ready.promise
      const socket = connect(`\0${this.#name}`)
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve).once('error', reject)
      })
      socket.on('error', () => {})
      socket.once('close', () => this.#leave())
      return socket
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  kill(): void {
    if (this.#child.pid === undefined || this.#isOver) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }

  #leave(): void {
    this.#clients--
    this.#idleTicks = 0
  }

  #tick(): void {
    if (this.#clients > 0 || ++this.#idleTicks < MAX_IDLE_TICKS) return
    this.kill()
  }

  #end(): void {
    this.#isOver = true
    clearInterval(this.#idling)
  }
}
