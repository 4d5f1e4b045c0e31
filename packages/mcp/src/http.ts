// MCP over Streamable HTTP, one exchange at a time. Whoever mounts it has checked Host, Origin and the key.
import { createMcpHandler } from '@modelcontextprotocol/server'
import { Api, type ApiOptions } from './core/api.ts'
import type { Caller } from './core/caller.ts'
import { toolsetsIn, UnknownToolset } from './core/catalogue.ts'
import { Secrets } from './core/secrets.ts'
import { newMcpServer } from './server.ts'
import { MCP_VERSION } from './version.ts'

export interface Exchange {
  readonly request: Request
  /** The body of the request, already parsed. */
  readonly body: unknown
  readonly caller: Caller
  readonly api: ApiOptions
  /** Of the address: which tools the client wants. */
  readonly toolsets: string | undefined
  /** Fires when the client is gone, or the server stops. */
  readonly signal: AbortSignal
  readonly onFault: (error: unknown) => void
}

export { UnknownToolset }

/** Comments that keep proxies from closing a stream on which nothing happens. */
const KEEP_ALIVE_MS = 15_000

export async function answerExchange(exchange: Exchange): Promise<Response> {
  const { request, body, caller, signal, onFault } = exchange
  const wanted = toolsetsIn(exchange.toolsets)
  const api = Api.open(exchange.api, signal)
  const secrets = new Secrets([exchange.api.apiKey])
  const handler = createMcpHandler(
    () => newMcpServer({ api, caller, wanted, secrets, version: MCP_VERSION, signal, onFault }),
    { keepAliveMs: KEEP_ALIVE_MS, maxSubscriptions: 1, onerror: () => {} },
  )
  return handler.fetch(request, { parsedBody: body })
}
