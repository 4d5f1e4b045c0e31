// Agents start this program, and speak MCP with it over its standard input and output.
import { runStdio } from '@berth/mcp/stdio'
import { exitCodes } from '../basics/exit-codes.ts'
import { Failure } from '../basics/failure.ts'
import type { Context } from '../command/context.ts'

export async function run({ api, options, signal, terminal }: Context): Promise<void> {
  const { url, key, project } = (await api()).server
  if (key === undefined) {
    throw new Failure(`Cannot serve MCP: there is no key for ${url}`, {
      exitCode: exitCodes.denied,
      remedy: 'Log in with "berth login", or set KERNEL_API_KEY',
    })
  }
  const toolsets = options['toolsets'] as string | undefined
  await runStdio({
    baseUrl: url,
    apiKey: key,
    signal,
    onFault: (error) => terminal.note(error instanceof Error ? error.message : String(error)),
    ...(project !== undefined && { project }),
    ...(toolsets !== undefined && { toolsets }),
  })
}
