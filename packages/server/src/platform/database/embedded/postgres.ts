// A private PostgreSQL in the data directory: unix socket only, never root. It stops with the server,
// even when the server is killed, and restarts when it dies.
//
//   <data directory>/postgres/          0700, of the account it runs as
//     cluster/                          created by initdb
//     run/.s.PGSQL.5432                 the socket
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { Child, run } from '@berth/kit/child-process'
import { pause } from '@berth/kit/pause'
import type { Connection } from '../database.ts'
import { findAccount, type Account } from '../../account.ts'
import { findPostgres } from './binaries.ts'
import { asDatabaseAccount, type Launcher } from './launcher.ts'

const USER = 'berth'
const DATABASE = 'postgres'
const STOP_GRACE_MS = 15_000
const ORPHAN_WAIT_MS = 30_000
const RESTART_DELAYS_MS = [100, 500, 2_000, 5_000]
// The kernel's limit for socket paths is 107 bytes; ".s.PGSQL.5432.lock" follows the directory.
const MAX_SOCKET_DIR_LENGTH = 107 - '/.s.PGSQL.5432.lock'.length

const SERVER_SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '210',
  shared_buffers: '64MB',
  // One machine, one small database: no helper processes for features nobody uses.
  io_method: 'sync',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  log_min_messages: 'warning',
  log_line_prefix: '',
}

export class EmbeddedPostgres {
  readonly connection: Connection
  readonly #log: Logger
  readonly #launcher: Launcher
  readonly #socketDir: string
  #child: Child | undefined
  #isStopping = false
  #supervision: Promise<void> | undefined

  private constructor(options: { launcher: Launcher; socketDir: string; log: Logger }) {
    this.#launcher = options.launcher
    this.#socketDir = options.socketDir
    this.#log = options.log
    this.connection = connectionAt(options.socketDir)
  }

  /** How to connect to the database of a running server with this data directory. */
  static connectionIn(dataDir: string): Connection {
    return connectionAt(socketDirOf(join(dataDir, 'postgres')))
  }

  static async start({ dataDir, log }: { dataDir: string; log: Logger }): Promise<EmbeddedPostgres> {
    const root = join(dataDir, 'postgres')
    const account = findAccount()
    makePrivateDir(root, account)
    const launcher = await asDatabaseAccount({ account, binaries: findPostgres(), root })
    const socketDir = socketDirOf(root)
    makePrivateDir(socketDir, account)
    await waitForOrphan(join(root, 'cluster', 'postmaster.pid'), log)
    await initialise(root, launcher)
    const postgres = new EmbeddedPostgres({ launcher, socketDir, log })
    await postgres.#launch()
    postgres.#supervision = postgres.#supervise()
    return postgres
  }

  async #launch(): Promise<void> {
    const ready = Promise.withResolvers<void>()
    const settings = {
      ...SERVER_SETTINGS,
      unix_socket_directories: this.#launcher.seenPath(this.#socketDir),
    }
    const child = new Child({
      ...this.#launcher.command('postgres', [
        '-D',
        this.#launcher.seenPath(join(this.#launcher.root, 'cluster')),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ]),
      onLine: (line) => {
        if (/database system is ready to accept connections/.test(line)) ready.resolve()
        if (/^(WARNING|ERROR|FATAL|PANIC):/.test(line)) this.#log.warn({ postgres: line }, 'database message')
      },
    })
    this.#child = child
    await child.waitUntil(ready.promise)
  }

  async #supervise(): Promise<void> {
    let failures = 0
    while (true) {
      const startedAt = performance.now()
      const exit = await this.#child!.exited
      if (this.#isStopping) return
      if (performance.now() - startedAt > 60_000) failures = 0
      const delay = RESTART_DELAYS_MS[Math.min(failures++, RESTART_DELAYS_MS.length - 1)]!
      this.#log.error({ ...exit, output: this.#child!.recentOutput }, 'embedded database died; restarting')
      await pause(delay)
      if (this.#isStopping) return
      await this.#launch().catch((error: unknown) =>
        this.#log.error({ err: error }, 'database restart failed'),
      )
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    // SIGINT is a fast shutdown: open transactions roll back, everything committed is flushed.
    await this.#child?.stop({ signal: 'SIGINT', graceMs: STOP_GRACE_MS })
    await this.#supervision
    if (dirname(this.#socketDir) === tmpdir()) removeIfEmpty(this.#socketDir)
  }
}

function makePrivateDir(path: string, account: Account | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const stat = lstatSync(path)
  const owner = account?.uid ?? process.getuid!()
  if (!stat.isDirectory()) throw new Error(`Cannot use "${path}": it is not a directory`)
  if (account && stat.uid === 0) chownSync(path, account.uid, account.gid)
  else if (stat.uid !== owner) {
    throw new Error(`Cannot use "${path}": it belongs to uid ${stat.uid}, but must belong to ${owner}`)
  }
  chmodSync(path, 0o700)
}

function socketDirOf(root: string): string {
  const beside = join(root, 'run')
  if (beside.length <= MAX_SOCKET_DIR_LENGTH) return beside
  // An earlier version ran the database as another account, whose directory this one could not use.
  const { uid } = statSync(root)
  return join(tmpdir(), `berth-${createHash('sha256').update(`${uid} ${root}`).digest('hex').slice(0, 16)}`)
}

/** Not empty: its database was killed, and the next start uses it again. */
function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // See above.
  }
}

function connectionAt(socketDir: string): Connection {
  return { host: socketDir, user: USER, database: DATABASE }
}

/**
 * The database of a killed server needs a moment to stop. We hold the data directory's lock, so a
 * database that still runs here belongs to a dead server.
 */
async function waitForOrphan(pidFile: string, log: Logger): Promise<void> {
  const deadline = performance.now() + ORPHAN_WAIT_MS
  while (true) {
    const pid = runningPostmaster(pidFile)
    if (pid === undefined) return
    if (performance.now() > deadline) {
      throw new Error(`Cannot start the embedded database: process ${pid} still uses "${pidFile}"`)
    }
    log.debug({ pid }, 'waiting for the database of a dead server to stop')
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      // It ended between the check and the signal.
    }
    await pause(20)
  }
}

function runningPostmaster(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
    // A postmaster's working directory is its cluster; that of an unrelated process with this pid is not.
    const cwd = statSync(`/proc/${pid}/cwd`)
    const cluster = statSync(dirname(pidFile))
    return cwd.ino === cluster.ino && cwd.dev === cluster.dev ? pid : undefined
  } catch {
    return undefined
  }
}

async function initialise(root: string, launcher: Launcher): Promise<void> {
  const cluster = join(root, 'cluster')
  if (existsSync(cluster)) return
  // Created under another name and renamed, so that a partial cluster is never used.
  const unfinished = join(root, 'cluster.unfinished')
  rmSync(unfinished, { recursive: true, force: true })
  await run(
    launcher.command('initdb', [
      '-D',
      launcher.seenPath(unfinished),
      `--username=${USER}`,
      // The socket's directory is 0700, so only the server itself can connect.
      '--auth=trust',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--locale=C.UTF-8',
      '--wal-segsize=4',
    ]),
  )
  renameSync(unfinished, cluster)
}
