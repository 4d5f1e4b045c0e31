// Environment variables of an app, from flags and files. A flag wins over a file.
import { parseEnv } from 'node:util'
import type { Context } from '../command/context.ts'
import { readFile } from '../command/values.ts'

/** Set by the server. */
const RESERVED = ['KERNEL_API_KEY', 'KERNEL_BASE_URL', 'ENTRYPOINT_RELPATH']

export function envOf({ options, terminal }: Pick<Context, 'options' | 'terminal'>): Record<string, string> {
  const files = (options['envFile'] as readonly string[] | undefined) ?? []
  const env: Record<string, string> = {}
  // SAFETY: Node gives strings only.
  for (const file of files) Object.assign(env, parseEnv(readFile(file)) as Record<string, string>)
  Object.assign(env, options['env'] as Record<string, string> | undefined)
  for (const name of RESERVED)
    if (name in env) terminal.note(`The server sets ${name} itself; yours is not used`)
  return env
}
