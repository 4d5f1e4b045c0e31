// Reads the command line, runs one command, and ends with its exit code.
import { constants } from 'node:os'
import { exitCodes } from './basics/exit-codes.ts'
import { describe, ExitWith, Interrupted } from './basics/failure.ts'
import type { Globals } from './command/globals.ts'
import { terminal as terminalFor } from './output/terminal.ts'
import { asGiven, CommanderError, makeProgram, nounIn, type Execute } from './program.ts'

const args = asGiven(process.argv.slice(2))
const interrupt = new AbortController()
let signalled: NodeJS.Signals | undefined
/** For error texts. */
let baseUrl: string | undefined

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second one does not wait for the cleaning up.
    if (signalled !== undefined) process.exit(128 + constants.signals[signal])
    signalled = signal
    interrupt.abort(new Interrupted(signal))
  })
}
// The reader of a pipe left, as with `| head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failed)
})

const execute: Execute = async (run, options) => {
  const terminal = terminalFor({
    isQuiet: options['quiet'] === true,
    hasColour: options['color'] !== false,
  })
  const contextName = options['context'] as string | undefined
  const globals: Globals = {
    terminal,
    signal: interrupt.signal,
    contextName,
    async api() {
      const [{ chooseServer }, { Api }] = await Promise.all([
        import('./contexts/choose.ts'),
        import('./api/api.ts'),
      ])
      const server = await chooseServer({
        context: contextName,
        project: options['project'] as string | undefined,
      })
      baseUrl = server.url
      return new Api(server, interrupt.signal)
    },
  }
  await run(globals)
  if (signalled !== undefined) throw new Interrupted(signalled)
}

async function main(): Promise<number> {
  if (args[0] === '__complete') {
    const { complete } = await import('./complete.ts')
    process.stdout.write(await complete(args.slice(1)))
    return exitCodes.ok
  }
  const program = await makeProgram(execute, nounIn(args))
  if (args.length === 0) {
    program.outputHelp()
    return exitCodes.ok
  }
  await program.parseAsync(args, { from: 'user' })
  return exitCodes.ok
}

function codeOf(error: unknown): number {
  if (signalled !== undefined) return 128 + constants.signals[signalled]
  if (error instanceof Interrupted) return exitCodes.interrupted
  if (error instanceof ExitWith) return error.exitCode
  // It has written its text already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const { text, exitCode } = describe(error, { baseUrl })
  const terminal = terminalFor({ hasColour: !args.includes('--no-color') })
  process.stderr.write(`${terminal.paintError('red', 'Error:')} ${text}\n`)
  return exitCode
}

process.exitCode = await main().catch(codeOf)
// A connection that is kept for the next request would keep this process alive.
if (process.stdout.writableLength === 0) process.exit()
process.stdout.once('drain', () => process.exit())
