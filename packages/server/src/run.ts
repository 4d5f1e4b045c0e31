// The server as a process: arguments, signals, exit codes. Everything else is in app.ts.
import { closeInheritedDescriptors } from '@berth/kit/inherited-descriptors'
import { startApp, type App, type Engines } from './app.ts'
import { ConfigError } from './config/config-error.ts'
import { loadConfig, type Config } from './config/config.ts'
import { helpText } from './config/help.ts'
import { openLog, type ServerLog } from './platform/log/logging.ts'
import { goAhead } from './platform/priority.ts'
import { welcome } from './welcome.ts'

/** Resolves when the server is ready, or ends the process with a message that says what to do. */
export async function run(args: readonly string[], engines?: Engines): Promise<void> {
  try {
    await start(args, engines)
  } catch (error) {
    const text = error instanceof ConfigError ? error.message : `Cannot start. ${describe(error)}`
    process.stderr.write(`${text}\n`)
    process.exit(1)
  }
}

async function start(args: readonly string[], engines: Engines | undefined): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText())
    return
  }
  if (args.length > 0)
    throw new ConfigError([`"${args[0]}" is not an option; settings are environment variables`])
  const config = loadConfig()
  // After the settings, because root hands over files that they name.
  closeInheritedDescriptors()
  const serverLog = openLog(config.BERTH_LOG_LEVEL)
  process.on('exit', serverLog.flush)
  const starting = startApp(config, serverLog, engines)
  stopOnSignals(starting, config, serverLog)
  const app = await starting
  goAhead()
  process.stdout.write(welcome(app, config))
}

/** Listens from the start, so a server that is stopped while it starts also cleans up. */
function stopOnSignals(starting: Promise<App>, config: Config, { log }: ServerLog): void {
  let isStopping = false
  const stop = (signal: string, { drainMs, endSessions }: { drainMs: number; endSessions: boolean }) => {
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'stopping')
    const graceMs = config.BERTH_SHUTDOWN_GRACE_SECONDS * 1000
    starting
      .then((app) => app.close({ drainMs, endSessions, graceMs }))
      .then(
        () => {
          log.info('stopped')
          process.exit(0)
        },
        (error: unknown) => {
          log.error({ err: error }, 'cannot stop cleanly')
          process.exit(1)
        },
      )
  }
  // SIGTERM means a restart or an upgrade: sessions stay alive and the next server takes them over.
  process.on('SIGTERM', () =>
    stop('SIGTERM', { drainMs: config.BERTH_DRAIN_SECONDS * 1000, endSessions: false }),
  )
  process.on('SIGINT', () => stop('SIGINT', { drainMs: 0, endSessions: true }))
  // An older Node started this process. When that parent is killed, nobody passes signals on.
  process.on('disconnect', () => stop('disconnect', { drainMs: 0, endSessions: false }))
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // What failed first; that releasing failed too is a consequence.
  if (error instanceof SuppressedError) return describe(error.suppressed)
  const cause = error.cause === undefined ? '' : `\n  because: ${describe(error.cause)}`
  return (error.message || String((error as NodeJS.ErrnoException).code)) + cause
}
