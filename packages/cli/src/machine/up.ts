// Starts a server from a clone, and stores its address and key when it is ready.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '../command/context.ts'
import { putContext, readContexts } from '../contexts/store.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { ExitWith, Failure } from '../basics/failure.ts'
import { progress } from '../output/progress.ts'
import { findClone } from './clone.ts'

const LOOK_EVERY_MS = 250
const DEFAULT_WAIT_SECONDS = 600
const STOP_TIMEOUT_MS = 60_000

interface Place {
  readonly clone: string
  readonly dataDir: string
  readonly url: string
  readonly logFile: string
  /** Of a server in the background. */
  readonly pidFile: string
}

export async function run(context: Context): Promise<void> {
  const { options } = context
  const place = placeOf(options['directory'] as string | undefined)
  if (options['stop'] === true) return stop(context, place)
  if (await isUp(place.url)) {
    context.terminal.note(`A server runs at ${place.url} already`)
    await store(context, place)
    return
  }
  await (options['detach'] === true ? startDetached(context, place) : startHere(context, place))
}

function placeOf(given: string | undefined): Place {
  const clone = findClone(given)
  if (clone === undefined) {
    throw new Failure('Cannot start a server: there is no clone of the repository here', {
      exitCode: exitCodes.usage,
      remedy:
        'Go to your clone, or name it with --directory. A server also runs from its container image: see docs/install.md',
    })
  }
  const dataDir = resolve(clone, process.env['BERTH_DATA_DIR'] || '.berth')
  const host = process.env['BERTH_HOST'] || '127.0.0.1'
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `http://${reached}:${process.env['BERTH_PORT'] || '8080'}`
  return { clone, dataDir, url, logFile: join(dataDir, 'up.log'), pidFile: join(dataDir, 'up.pid') }
}

const start = (clone: string) => ({
  command: process.execPath,
  args: [join(clone, 'scripts/run.mjs'), 'start'],
})

/** In the foreground: the server prints, and Ctrl-C reaches it because it is in the same group. */
async function startHere(context: Context, place: Place): Promise<void> {
  const { command, args } = start(place.clone)
  const child = spawn(command, args, { cwd: place.clone, stdio: 'inherit' })
  const ended = new AbortController()
  // Ctrl-C reaches the server by itself, and a second signal would end it at once. Any other signal came to us alone.
  const forward = () => {
    const { message: name } = context.signal.reason as Error
    if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name as NodeJS.Signals)
  }
  context.signal.addEventListener('abort', forward, { once: true })
  const stored = waitUntilUp(place.url, ended.signal)
    .then(() => store(context, place))
    .catch(() => {})
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  ended.abort()
  await stored
  if (code !== 0) throw new ExitWith(code ?? 128 + constants.signals[signal!])
}

async function startDetached(context: Context, place: Place): Promise<void> {
  mkdirSync(place.dataDir, { recursive: true, mode: 0o711 })
  const log = openSync(place.logFile, 'a', 0o600)
  const { command, args } = start(place.clone)
  const child = spawn(command, args, { cwd: place.clone, detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  writeFileSync(place.pidFile, `${child.pid}\n`, { mode: 0o600 })
  const seconds = (context.options['timeout'] as number | undefined) ?? DEFAULT_WAIT_SECONDS
  const shown = await progress(context.terminal, 'Starting; the first start installs what is missing')
  try {
    await untilUpOrEnded(child, place, AbortSignal.any([context.signal, AbortSignal.timeout(seconds * 1000)]))
    shown.done(`Berth runs at ${place.url}; its log is ${place.logFile}`)
  } catch (error) {
    shown.failed('The server did not start')
    if (context.signal.aborted) killGroup(child.pid!)
    if ((error as Error).name !== 'TimeoutError') throw error
    throw new Failure(`The server is not ready after ${seconds} seconds`, {
      exitCode: exitCodes.timedOut,
      remedy: `It goes on starting. See ${place.logFile}`,
    })
  }
  child.unref()
  await store(context, place)
}

async function untilUpOrEnded(
  child: ChildProcess,
  { url, logFile, pidFile }: Place,
  signal: AbortSignal,
): Promise<void> {
  const settled = new AbortController()
  const both = AbortSignal.any([signal, settled.signal])
  try {
    await Promise.race([
      waitUntilUp(url, both),
      once(child, 'exit', { signal: both }).then(([code]) => {
        rmSync(pidFile, { force: true })
        throw new Failure(`The server ended with code ${String(code)}:\n${tailOf(logFile)}`, {
          remedy: 'Ask "berth doctor" what is missing on this machine',
        })
      }),
    ])
  } finally {
    settled.abort()
  }
}

const TAIL_LINES = 15

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n')
}

async function stop({ terminal }: Context, { pidFile, url }: Place): Promise<void> {
  if (!existsSync(pidFile))
    throw new Failure('Cannot stop the server: "berth up --detach" has not started one here', {
      exitCode: exitCodes.notFound,
    })
  const pid = Number(readFileSync(pidFile, 'utf8').trim())
  if (!isOurs(pid)) {
    rmSync(pidFile, { force: true })
    return terminal.note('It does not run any more')
  }
  const shown = await progress(terminal, `Stopping the server at ${url}`)
  killGroup(pid)
  const deadline = Date.now() + STOP_TIMEOUT_MS
  while (isOurs(pid) && Date.now() < deadline) await pause(LOOK_EVERY_MS)
  if (isOurs(pid)) {
    shown.failed('It still runs')
    throw new Failure(`The server (process ${pid}) still runs after a minute`, {
      exitCode: exitCodes.timedOut,
    })
  }
  rmSync(pidFile, { force: true })
  shown.done('Stopped')
}

/** The number may belong to another program by now. */
function isOurs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('run.mjs')
  } catch {
    return false
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // It has ended.
  }
}

export async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) })
    return response.ok && ((await response.json()) as { version?: string }).version !== undefined
  } catch {
    return false
  }
}

async function waitUntilUp(url: string, signal: AbortSignal): Promise<void> {
  while (!(await isUp(url))) await pause(LOOK_EVERY_MS, undefined, { signal })
}

/** The key of the first start; a person who chose another one logs in. */
async function store({ terminal }: Context, { dataDir, url }: Place): Promise<void> {
  const file = join(dataDir, 'api-key')
  const { contexts } = await readContexts()
  if (contexts['local']?.url === url && contexts['local'].key !== undefined) return
  if (!existsSync(file)) {
    terminal.note(`There is no key in ${file}: log in with "berth login ${url}"`)
    return
  }
  const key = readFileSync(file, 'utf8').trim()
  await putContext('local', { url, key }, { isCurrent: true })
  terminal.note('The context "local" has its address and its key: try "berth browsers list"')
}
