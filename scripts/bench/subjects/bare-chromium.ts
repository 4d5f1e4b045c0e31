// The baseline: the machine's Chromium with a fresh profile, and an X server if it has a window. It runs as its own
// user, because Chromium has no sandbox for root and because that user identifies all its processes.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from '../cleanup.ts'
import { whenGone } from '../measure/alive.ts'
import type { CoreList } from '../measure/cores.ts'
import { cpuMsOf, pidsOfUser } from '../measure/processes.ts'
import { whenQuiet } from '../measure/quiet.ts'
import { XServer } from './x-server.ts'

/** The shell script in /usr/bin would only make the start slower. */
export const chromiumProgram = '/usr/lib/chromium/chromium'

const LISTENING = /^DevTools listening on (ws:\/\/\S+)$/m
const START_TIMEOUT_MS = 60_000
const UIDS = 1_000
/** Above the users of instances and different for each run, so that we may end every process of this user. */
const FIRST_UID = 300_000 + (process.pid % 32_768) * UIDS
let startCount = 0

export interface BareOptions {
  readonly cores: CoreList
  readonly isHeadless: boolean
  /** Instead of the few flags of the baseline; they must open a debugging port. */
  readonly flags?: (profile: string) => readonly string[]
  /** Lets it open the files of the program that starts it, as if both were of one user. */
  readonly opensOurFiles?: boolean
}

export class BareChromium {
  readonly wsUrl: string
  readonly #child: ChildProcess
  readonly #uid: number
  readonly #directory: string
  readonly #xServer: XServer | undefined

  private constructor(options: {
    wsUrl: string
    child: ChildProcess
    uid: number
    directory: string
    xServer: XServer | undefined
  }) {
    this.wsUrl = options.wsUrl
    this.#child = options.child
    this.#uid = options.uid
    this.#directory = options.directory
    this.#xServer = options.xServer
  }

  /** Resolves when the debugging port is open. */
  static async start(
    cleanup: Cleanup,
    { cores, isHeadless, flags, opensOurFiles = false }: BareOptions,
  ): Promise<BareChromium> {
    const uid = FIRST_UID + (startCount++ % UIDS)
    const directory = mkdtempSync(join(tmpdir(), 'berth-bare-'))
    chownSync(directory, uid, uid)
    const xServer = isHeadless ? undefined : await XServer.start(cleanup, { cores })
    const profile = join(directory, 'profile')
    const [program, ...args] = [
      ...(opensOurFiles ? withOurRightsToFiles(uid) : []),
      'taskset',
      '--cpu-list',
      cores,
      chromiumProgram,
      ...(flags?.(profile) ?? flagsOf({ profile, isHeadless })),
    ]
    const child = spawn(program!, args, {
      ...(!opensOurFiles && { uid, gid: uid }),
      detached: true,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: '/usr/bin:/bin',
        LANG: 'C.UTF-8',
        HOME: directory,
        TMPDIR: directory,
        ...(xServer && { DISPLAY: xServer.display }),
      },
    })
    cleanup.after(async () => {
      killGroup(child)
      for (const pid of pidsOfUser(uid)) killIfThere(pid)
      await whenGone(pidsOfUser(uid))
      rmSync(directory, { recursive: true, force: true })
    })
    return new BareChromium({ wsUrl: await listeningAt(child), child, uid, directory, xServer })
  }

  /** The DISPLAY of its X server. */
  get display(): string {
    assert.ok(this.#xServer, 'a headless Chromium has no display')
    return this.#xServer.display
  }

  /** The socket on which its X server accepts viewers. */
  get rfbSocket(): string {
    assert.ok(this.#xServer, 'a headless Chromium has no screen')
    return this.#xServer.rfbSocket
  }

  /** All its processes, including those that left its process tree, and its X server. */
  pids(): number[] {
    return [...pidsOfUser(this.#uid), ...(this.#xServer ? [this.#xServer.pid] : [])]
  }

  cpuMs(): number {
    return cpuMsOf(this.pids())
  }

  /** For some seconds after its start, Chromium works in the background. */
  settled(effort: { isJudged: boolean }): Promise<void> {
    return whenQuiet(() => this.cpuMs(), effort)
  }

  /** Kills it with SIGKILL, waits until `pids` are gone, and removes its profile. */
  async end(pids: readonly number[] = this.pids()): Promise<void> {
    killGroup(this.#child)
    this.#xServer?.kill()
    await whenGone(pids)
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function flagsOf({ profile, isHeadless }: { profile: string; isHeadless: boolean }): string[] {
  return [
    ...(isHeadless ? ['--headless=new'] : ['--window-position=0,0']),
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    '--no-first-run',
    '--no-default-browser-check',
    // The size of one of our sessions.
    '--window-size=1920,1080',
    'about:blank',
  ]
}

/** Becomes the user, and keeps the right to open files of others. */
function withOurRightsToFiles(uid: number): string[] {
  const user = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups']
  return ['setpriv', ...user, '--inh-caps=+dac_override', '--ambient-caps=+dac_override']
}

function listeningAt(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let output = ''
  const timer = setTimeout(
    () => reject(new Error(`Cannot start Chromium: it opened no port in time: ${output}`)),
    START_TIMEOUT_MS,
  )
  child.once('error', reject)
  child.once('exit', (code, signal) =>
    reject(new Error(`Cannot start Chromium: it ended with ${signal ?? code}: ${output}`)),
  )
  child.stderr!.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-10_000)
    const url = LISTENING.exec(output)?.[1]
    if (url) resolve(url)
  })
  return promise.finally(() => clearTimeout(timer))
}

/** Its process group holds all its children except the crash reporters, which end with it. */
function killGroup(child: ChildProcess): void {
  assert.ok(child.pid, 'Chromium could not be started')
  killIfThere(-child.pid)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}
