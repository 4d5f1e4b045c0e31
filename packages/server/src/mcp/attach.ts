// The endpoint that MCP clients connect to. It is not in the contract, because its messages are those of MCP.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { operation } from '@berth/contracts/operation'
import type { Access } from '../http/access.ts'
import { bearerToken } from '../http/bearer.ts'
import type { CrossOrigin } from '../http/cross-origin.ts'
import type { OpenStreams } from '../http/open-streams.ts'
import { clientGone } from '../http/request-context.ts'
import { AppError, invalidInput } from '../platform/errors/app-error.ts'
import { fetchFor } from './in-process.ts'

const PATH = '/mcp'
/** For files that come with a call, in base64. */
const MAX_BODY_BYTES = 16 * 1024 * 1024
/** Stands for this server; the requests do not leave it. */
const OWN_URL = 'http://berth'

/** Who may come in: any key, because the tools are listed by its scopes. */
const door = operation({
  id: 'mcp',
  tag: 'MCP',
  summary: 'Speak MCP',
  method: 'POST',
  path: PATH,
  needsNoScope: true,
  status: 200,
})

export interface McpOptions {
  readonly access: Pick<Access, 'guard'>
  readonly crossOrigin: CrossOrigin
  readonly openStreams: Pick<OpenStreams, 'watch'>
  readonly isOwn: (origin: string, host: string | undefined) => boolean
}

export function attachMcp(server: FastifyInstance, options: McpOptions): void {
  const { access, crossOrigin } = options
  const guard = access.guard(door)
  const onRequest: RouteOptions['onRequest'] = (request, reply, done) => {
    request.route = PATH
    crossOrigin.admit(door, request, reply)
    const refusal = refusalOf(request, options)
    if (refusal) return done(refusal)
    guard(request, reply, (error) => done(error))
  }
  server.route({
    // Clients ask with GET and DELETE whether there are streams and sessions of MCP; there are none.
    method: ['POST', 'GET', 'DELETE'],
    url: PATH,
    onRequest,
    bodyLimit: MAX_BODY_BYTES,
    handler: (request, reply) => answer(server, request, reply, options),
  })
  server.route({
    method: 'OPTIONS',
    url: PATH,
    onRequest: (request, _reply, done) => {
      request.route = PATH
      done()
    },
    handler: (request, reply) => {
      const headers = crossOrigin.preflight(door, request)
      return headers ? reply.code(204).headers(headers).send() : reply.callNotFound()
    },
  })
}

/** A page that rebinds its name to this machine has another origin; and only keys count here, no sign-ins. */
function refusalOf({ raw }: FastifyRequest, { crossOrigin, isOwn }: McpOptions): Error | undefined {
  const { origin, host } = raw.headers
  if (origin !== undefined && !isOwn(origin, host) && !crossOrigin.isListed(origin)) {
    return new AppError(
      'forbidden',
      `Cannot speak MCP with a page of ${origin.slice(0, 100)}: add the origin to BERTH_ALLOWED_ORIGINS`,
    )
  }
  try {
    bearerToken(raw)
    return undefined
  } catch (error) {
    return error as Error
  }
}

async function answer(
  server: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { openStreams }: McpOptions,
): Promise<FastifyReply> {
  // Loaded at first use: many servers have no clients of MCP.
  const { answerExchange, UnknownToolset } = await import('@berth/mcp/http')
  const { principal } = request.context!
  const { raw } = request
  const signal = clientGone(reply)
  const query = request.query as Record<string, unknown>
  const toolsets = query['toolsets']
  try {
    const response = await answerExchange({
      request: new Request(`${OWN_URL}${PATH}`, {
        method: request.method,
        headers: headersOf(request),
        signal,
        ...(request.method === 'POST' && { body: JSON.stringify(request.body ?? null) }),
      }),
      body: request.body,
      caller: { scopes: principal.scopes, projectId: principal.projectId },
      api: {
        baseUrl: OWN_URL,
        apiKey: bearerToken(raw),
        fetch: fetchFor(server, request),
        headers: callHeaders(request),
      },
      toolsets: typeof toolsets === 'string' ? toolsets : undefined,
      signal,
      onFault: (error) => request.log.error({ err: error, requestId: request.id }, 'a tool failed'),
    })
    return await send(response, request, reply, openStreams)
  } catch (error) {
    if (error instanceof UnknownToolset)
      throw invalidInput('toolsets', error.message.replace(/^toolsets: /, ''))
    throw error
  }
}

function headersOf({ raw }: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(raw.headers)) {
    // The SDK needs no secret.
    if (value === undefined || name === 'authorization' || name === 'cookie') continue
    headers.set(name, [value].flat().join(', '))
  }
  return headers
}

/** A header that names a project counts for every call; the audit log shows the client's name. */
function callHeaders({ raw }: FastifyRequest): Record<string, string> {
  const names = ['x-kernel-project-id', 'x-kernel-project', 'user-agent']
  return Object.fromEntries(
    names.flatMap((name) => (typeof raw.headers[name] === 'string' ? [[name, raw.headers[name]]] : [])),
  )
}

async function send(
  response: Response,
  request: FastifyRequest,
  reply: FastifyReply,
  openStreams: Pick<OpenStreams, 'watch'>,
): Promise<FastifyReply> {
  const { status, headers, body } = response
  void reply.code(status)
  for (const [name, value] of headers) {
    // The edge decides about other origins.
    if (!name.startsWith('access-control-')) void reply.header(name, value)
  }
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false
  // Proxies must not collect what is reported while a call runs.
  if (isStream) void reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
  openStreams.watch(request, reply)
  return body === null ? reply.send() : reply.send(Readable.fromWeb(body as never))
}
