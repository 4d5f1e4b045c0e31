// The process that stays root when root starts Berth. It starts the server as an ordinary account, and does for it what
// takes root: making, limiting, freezing and removing instances. It reads nothing that strangers send.
import { setPriority } from 'node:os'
import type { ChildProcess } from 'node:child_process'
import { closeInheritedDescriptors } from '@berth/kit/inherited-descriptors'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig, type Config } from '../config/config.ts'
import { environment } from '../config/environment.ts'
import { KeeperService } from '../instances/kept/keeper-service.ts'
import type { MaxLimits } from '../instances/kept/messages.ts'
import { LocalDriver } from '../instances/local/local-driver.ts'
import { localSettings } from '../instances/local/settings.ts'
import { findAccount, type Account } from '../platform/account.ts'
import { AHEAD } from '../platform/priority.ts'
import { startAsAccount } from './as-account.ts'

const MB = 1024 * 1024
const PASSED_ON = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** `serverFile` is the program of the server. The process ends as the server does. */
export function keep(serverFile: string): void {
  try {
    closeInheritedDescriptors()
    const config = loadConfig()
    const account = findAccount()!
    // Where instances are Pods, there is nothing for root to do.
    const isKept = config.BERTH_DRIVER === 'local'
    const command = isKept ? ([serverFile, '--kept'] as const) : ([serverFile] as const)
    const server = startAsAccount({ config, account, command, env: environment, hasChannel: isKept })
    server.once('error', fail)
    passSignalsOn(server)
    endWith(server)
    if (isKept) serve(server, config, account)
  } catch (error) {
    fail(error)
  }
}

function serve(server: ChildProcess, config: Config, account: Account): void {
  const service = new KeeperService({
    send: (message, handle) =>
      new Promise((resolve) => {
        // A server that has ended needs no answer; the end of its process ends this one.
        if (server.connected) server.send(message, handle, { keepOpen: false }, () => resolve())
        else resolve()
      }),
    openDriver: ({ egress, log }) =>
      LocalDriver.open({ ...localSettings(config), server: account, egress, log }),
    leaseSeconds: config.BERTH_LEASE_SECONDS,
    max: maxLimits(config),
    goAhead: () => goAhead(server),
    onAbuse: (reason) => {
      process.stderr.write(`The keeper ends the server, because ${reason}\n`)
      server.kill('SIGKILL')
    },
  })
  server.on('message', (message, handle) => {
    if (handle !== undefined) {
      process.stderr.write('The keeper ends the server, because it sent a socket\n')
      server.kill('SIGKILL')
    } else if (isReportForWatcher(message)) process.send?.(message)
    else void service.receive(message)
  })
}

/** `npm run dev` is told which files the program is made of, so that it starts again when one changes. */
function isReportForWatcher(message: unknown): boolean {
  return (
    environment['WATCH_REPORT_DEPENDENCIES'] !== undefined && JSON.stringify(message).startsWith('{"watch:')
  )
}

/** Both: a server that waits for a keeper that waits for a busy browser would have gained nothing. */
function goAhead(server: ChildProcess): void {
  for (const pid of [process.pid, server.pid]) {
    try {
      setPriority(pid!, AHEAD)
    } catch {
      // The server has just ended.
    }
  }
}

function passSignalsOn(server: ChildProcess): void {
  for (const signal of PASSED_ON) process.once(signal, () => server.kill(signal))
  // Nobody else listens, so a second signal would end this process before the server.
  for (const signal of PASSED_ON) process.on(signal, () => {})
  // An older Node started this process. When that parent is killed, nobody passes signals on.
  process.on('disconnect', () => server.kill('SIGTERM'))
}

/** The instances live on, until their lease ends or the next server takes them over. */
function endWith(server: ChildProcess): void {
  server.once('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function maxLimits(config: Config): MaxLimits {
  return {
    memoryBytes:
      MB *
      Math.max(
        2 * config.BERTH_SESSION_MEMORY_MB,
        config.BERTH_SESSION_MAX_MEMORY_MB,
        config.BERTH_APP_MEMORY_MB,
      ),
    // As apps/module.ts has them.
    processes: 4 * config.BERTH_SESSION_PROCESSES,
    cpus: config.BERTH_SESSION_CPUS,
    homeBytes: Math.max(config.BERTH_SESSION_DISK_MB, config.BERTH_APP_DISK_MB) * MB,
  }
}

function fail(error: unknown): never {
  const { message } = error as Error
  process.stderr.write(`${error instanceof ConfigError ? message : `Cannot start. ${message}`}\n`)
  process.exit(1)
}
