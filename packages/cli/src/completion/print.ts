import type { Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'
import { SCRIPTS, type Shell } from './scripts.ts'

export async function run({ args, terminal }: Context): Promise<void> {
  const shell = (args[0] as string | undefined) ?? process.env['SHELL']?.split('/').at(-1)
  if (shell === undefined || !Object.hasOwn(SCRIPTS, shell))
    throw usage(
      `Cannot write completions for "${shell ?? 'an unknown shell'}"`,
      `Name one of: ${Object.keys(SCRIPTS).join(', ')}`,
    )
  // SAFETY: it is one of the names, by the line above.
  terminal.out.write(SCRIPTS[shell as Shell])
}
