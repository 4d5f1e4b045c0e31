// A command of the user as the API takes it.
import type { Context } from '../command/context.ts'
import { usage } from '../basics/failure.ts'

/** Words after the id are a line for bash; --command and --args name a program as it is. */
export function commandBody({ args, input }: Context): Record<string, unknown> {
  const { words: _words, ...body } = input.body
  const words = (args[1] as readonly string[] | undefined) ?? []
  if (words.length === 0 && body['command'] === undefined)
    throw usage(
      'Cannot run nothing: there is no command',
      'Add it after the id: berth process exec ID -- ls -l',
    )
  if (words.length === 0) return body
  if (body['command'] !== undefined)
    return { ...body, args: [...((body['args'] as string[]) ?? []), ...words] }
  return { ...body, command: '/bin/bash', args: ['-c', words.join(' ')] }
}
