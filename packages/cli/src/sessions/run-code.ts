// Code for Playwright or the REPL, from the command line or from stdin.
import { firstArg, type Context } from '../command/context.ts'
import { exitCodes } from '../basics/exit-codes.ts'
import { ExitWith, usage } from '../basics/failure.ts'
import { readFile, readText } from '../command/values.ts'
import { print } from '../output/print.ts'
import { write } from '../output/terminal.ts'
import { harmless } from '../output/value-text.ts'

interface Result {
  readonly success: boolean
  readonly result?: unknown
  readonly content?: unknown
  readonly error?: string
  readonly stdout?: string
  readonly stderr?: string
}

export async function run(context: Context): Promise<void> {
  const { terminal, format, operation, input } = context
  const given = context.args[1] as string | undefined
  if (given === undefined && process.stdin.isTTY)
    throw usage('Cannot run nothing: there is no code', 'Give it after the id, or on stdin')
  const code = given === undefined ? readFile('-') : readText(given)
  const body = { ...input.body, code }
  const result = await (
    await context.api()
  ).call<Result>(operation!.id, { params: { id: firstArg(context) }, body })
  if (format === 'json' || format === 'yaml') await print(terminal, result, { format })
  else {
    if (result.stdout) await write(terminal.out, result.stdout)
    if (result.stderr) await write(terminal.err, result.stderr)
    const value = result.result ?? result.content
    if (value !== undefined && value !== null) {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      // The value may be of the page, such as its title; what is piped stays as it is.
      await write(terminal.out, `${terminal.out.isTTY ? harmless(text) : text}\n`)
    }
    if (!result.success)
      terminal.err.write(`${terminal.paintError('red', 'Error:')} ${result.error ?? 'the code failed'}\n`)
  }
  if (!result.success) throw new ExitWith(exitCodes.failed)
}
