// Serves the tools for agents over stdin and stdout, for the server and the key in use.
import { runStdio } from '@berth/mcp/stdio'
import { exitCodes } from '../basics/exit-codes.ts'
import { Failure } from '../basics/failure.ts'
import type { Context } from '../command/context.ts'
import { chooseServer } from '../contexts/choose.ts'

export async function run({ terminal, options, signal, contextName }: Context): Promise<void> {
  const { url, key, project } = await chooseServer({
    context: contextName,
    project: options['project'] as string | undefined,
  })
  if (key === undefined) {
    throw new Failure(`Cannot start: there is no API key for ${url}`, {
      exitCode: exitCodes.denied,
      remedy: 'Log in with "berth login", or set KERNEL_API_KEY',
    })
  }
  const toolsets = options['toolsets'] as string | undefined
  await runStdio({
    baseUrl: url,
    apiKey: key,
    signal,
    ...(project !== undefined && { project }),
    ...(toolsets !== undefined && { toolsets }),
    onFault: (error) => terminal.err.write(`${error instanceof Error ? error.message : String(error)}\n`),
  })
}
