// An MCP server for one caller. It keeps nothing between two requests: sessions, tabs, references to elements, files and
// handovers are all in the API, so the connection may drop and the next request may reach another server.
import { ResourceNotFoundError, Server } from '@modelcontextprotocol/server'
import { prompts } from './prompts.ts'
import { listResources, readResource, resourceTemplates } from './resources/resources.ts'
import { tools } from './tools/tools.ts'
import { failure } from './core/answer.ts'
import type { Api } from './core/api.ts'
import type { Caller } from './core/caller.ts'
import { listed, offeredTools } from './core/catalogue.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { runTool } from './core/run.ts'
import type { Secrets } from './core/secrets.ts'
import type { Progress, Toolset } from './core/tool.ts'

export interface McpServerOptions {
  readonly api: Api
  readonly caller: Caller
  readonly wanted: ReadonlySet<Toolset>
  readonly secrets: Secrets
  readonly version: string
  /** Fires when the client is gone, or the server stops. */
  readonly signal: AbortSignal
  /** Faults of ours, which no client should see. */
  readonly onFault: (error: unknown) => void
}

export function newMcpServer({
  api,
  caller,
  wanted,
  secrets,
  version,
  signal: end,
  onFault,
}: McpServerOptions): Server {
  const server = new Server(
    { name: 'berth', title: 'Berth', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS },
  )
  const offered = new Map(offeredTools(tools, { caller, wanted }).map((each) => [each.tool.name, each]))
  server.setRequestHandler('tools/list', () => ({ tools: [...offered.values()].map(listed) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { name, arguments: args = {} } = params
    const tool = offered.get(name)
    if (!tool) return failure(unknownTool(name), 'not_found')
    const signal = AbortSignal.any([end, mcpReq.signal])
    let count = 0
    const { _meta: meta } = mcpReq
    const token = meta?.progressToken
    const progress: Progress = async (message) => {
      if (token === undefined) return
      const report = { progressToken: token, progress: ++count, message }
      // A client that is gone has no use for it; its call is aborted.
      await mcpReq.notify({ method: 'notifications/progress', params: report }).catch(() => {})
    }
    try {
      return await runTool(tool, args, { api: api.with({ signal }), caller, secrets, signal, progress })
    } catch (error) {
      if (!signal.aborted) onFault(error)
      return failure(
        'Cannot complete the call: an internal error; the log of the server says why',
        'internal_error',
      )
    }
  })
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...resourceTemplates] }))
  server.setRequestHandler('resources/list', async (_request, { mcpReq }) => ({
    resources: await listResources({
      api: api.with({ signal: AbortSignal.any([end, mcpReq.signal]) }),
      caller,
    }),
  }))
  server.setRequestHandler('resources/read', async ({ params }, { mcpReq }) => {
    const found = await readResource(params.uri, {
      api: api.with({ signal: AbortSignal.any([end, mcpReq.signal]) }),
      caller,
    })
    if (!found) throw new ResourceNotFoundError(params.uri)
    return { contents: found }
  })
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ run: _run, ...prompt }) => prompt),
  }))
  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = prompts.find(({ name }) => name === params.name)
    if (!prompt) throw new Error(`There is no prompt "${params.name}"`)
    return {
      description: prompt.description,
      messages: [{ role: 'user', content: { type: 'text', text: prompt.run(params.arguments ?? {}) } }],
    }
  })
  return server
}

const unknownTool = (name: string) =>
  `There is no tool "${name.slice(0, 100)}" for this key: it does not exist, its toolset was not asked for, or the key lacks its scope`
