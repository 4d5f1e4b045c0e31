// MCP over standard input and output, for clients that start programs.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Api } from './core/api.ts'
import { askWhoCalls } from './core/caller.ts'
import { toolsetsIn } from './core/catalogue.ts'
import { Secrets } from './core/secrets.ts'
import { newMcpServer } from './server.ts'
import { MCP_VERSION } from './version.ts'

export interface StdioOptions {
  /** Such as https://berth.example. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Id or name of a project, for a key of the whole organisation. */
  readonly project?: string
  /** Such as `browsers,page,handover`, or `all,-docs`. */
  readonly toolsets?: string
  /** Ends the server. */
  readonly signal: AbortSignal
  /** Where faults are reported. Standard output belongs to the protocol. */
  readonly onFault?: (error: unknown) => void
}

/** Resolves when the client closes its side or the signal fires; rejects when the API refuses the key. */
export async function runStdio(options: StdioOptions): Promise<void> {
  const { baseUrl, apiKey, project, toolsets, signal, onFault = () => {} } = options
  const headers = project === undefined ? {} : { 'x-kernel-project': Buffer.from(project).toString('latin1') }
  const wanted = toolsetsIn(toolsets)
  const api = Api.open({ baseUrl, apiKey, headers }, signal)
  const caller = await askWhoCalls(api)
  const secrets = new Secrets([apiKey])
  const ended = Promise.withResolvers<void>()
  const handle = serveStdio(
    () => newMcpServer({ api, caller, wanted, secrets, version: MCP_VERSION, signal, onFault }),
    { onerror: onFault },
  )
  const end = () => ended.resolve()
  process.stdin.once('end', end)
  process.stdin.once('close', end)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    await ended.promise
  } finally {
    signal.removeEventListener('abort', end)
    process.stdin.off('end', end)
    process.stdin.off('close', end)
    await handle.close()
  }
}
