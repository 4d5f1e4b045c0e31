import { firstArg, type Context } from '../command/context.ts'
import { ExitWith } from '../basics/failure.ts'
import { print } from '../output/print.ts'
import { write } from '../output/terminal.ts'
import { commandBody } from './words.ts'

interface Result {
  readonly exit_code: number
  readonly stdout_b64: string
  readonly stderr_b64: string
}

export async function run(context: Context): Promise<void> {
  const { terminal, format, options } = context
  const body = commandBody(context)
  const result = await (
    await context.api()
  ).call<Result>('execProcess', { params: { id: firstArg(context) }, body })
  if (format === 'json' || format === 'yaml') await print(terminal, result, { format })
  else {
    await write(terminal.out, Buffer.from(result.stdout_b64, 'base64'))
    await write(terminal.err, Buffer.from(result.stderr_b64, 'base64'))
    if (result.exit_code !== 0 && options['exitCode'] !== true)
      terminal.note(`The program ended with exit code ${result.exit_code}`)
  }
  if (options['exitCode'] === true && result.exit_code !== 0) throw new ExitWith(result.exit_code)
}
