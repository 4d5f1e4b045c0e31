// The agent's own operations; see contracts/link.ts. The server validates requests before it forwards them,
// and the agent validates them again: otherwise a wrong size shows up only as odd behaviour in Chromium.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AgentState, BrowserStart, Shape, TelemetryOrder } from '@berth/contracts/link'
import { readJson } from '../requests/body.ts'
import type { AnswerRequest, AnswerUpgrade } from '../requests/answer.ts'
import { checked } from '../checks/check.ts'
import { checks } from './link.checks.ts'
import { BadRequest } from '../requests/bad-request.ts'
import type { StateBoard } from '../instance/state.ts'

// Not imported: an import reads every export, and one of them loads a 6 MB websocket client.
const { createServer } = process.getBuiltinModule('node:http')

/** Includes the headers of requests that are forwarded. */
const MAX_HEAD_BYTES = 64 * 1024
const LONG_POLL_MS = 25_000
const WAIT_FOR_OPEN_MS = 15_000

export interface ApiOptions {
  readonly state: StateBoard
  readonly renewLease: (seconds: number) => void
  readonly startBrowser: (browser: BrowserStart) => Promise<AgentState>
  readonly shape: (shape: Shape) => Promise<void>
  readonly setPolicy: (policy: Readonly<Record<string, unknown>>) => void
  /** Resolves when clients can connect, or with the current state after the timeout. */
  readonly whenOpen: (timeoutMs: number) => Promise<AgentState>
  /** For requests below /control. */
  readonly answerControl: AnswerRequest
  /** For requests below /recordings. */
  readonly answerRecording: AnswerRequest
  /** For GET /preview. */
  readonly answerPreview: AnswerRequest
  /** For requests below /profile. */
  readonly answerUserData: AnswerRequest
  /** For requests below /apps. */
  readonly answerApps: AnswerRequest
  /** For requests below /login. */
  readonly answerLogin: AnswerRequest
  readonly upgrade: AnswerUpgrade
  readonly telemetry: {
    order(order: TelemetryOrder): Promise<void>
    answer(after: number, response: ServerResponse): Promise<void>
  }
}

interface Call {
  readonly query: URLSearchParams
  readonly body: unknown
}
type Operation = (call: Call) => Promise<object | undefined>

/** Chromium validates the names and values. */
function readPolicy(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new BadRequest('Cannot read the request: the body is not an object')
}

/** Never listens: the link passes connections to it. */
export function createApi(options: ApiOptions): Server {
  const { state, renewLease, startBrowser, shape, setPolicy, whenOpen } = options
  const { answerControl, answerRecording, answerPreview, answerUserData, answerApps, answerLogin } = options
  const { upgrade, telemetry } = options
  const operations: Readonly<Record<string, Operation>> = {
    'GET /state': async ({ query }) => {
      const after = query.get('after')
      if (after === null) return state.current
      return state.when(({ number }) => String(number) !== after, LONG_POLL_MS)
    },
    'PUT /lease': async ({ body }) => {
      renewLease(checked(checks.leaseRenewal, body).seconds)
      return state.current
    },
    'POST /browser': ({ body }) => startBrowser(checked(checks.browserStart, body)),
    'POST /client': () => whenOpen(WAIT_FOR_OPEN_MS),
    'PUT /telemetry': async ({ body }) => {
      await telemetry.order(checked(checks.telemetryOrder, body))
      return undefined
    },
    'PUT /policy': ({ body }) => {
      setPolicy(readPolicy(body))
      return Promise.resolve(undefined)
    },
    'POST /shape': async ({ body }) => {
      await shape(checked(checks.shape, body))
      return undefined
    },
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://agent')
      if (request.method === 'GET' && pathname === '/telemetry') {
        return await telemetry.answer(Number(searchParams.get('after')), response)
      }
      const operation = operations[`${request.method} ${pathname}`]
      if (!operation) return send(response, 404, { message: `Cannot ${request.method} ${pathname}` })
      const result = await operation({ query: searchParams, body: await readJson(request) })
      send(response, result ? 200 : 204, result)
    } catch (error) {
      send(response, error instanceof BadRequest ? error.status : 500, { message: (error as Error).message })
    }
  }

  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, requestTimeout: 0 }, (request, response) => {
    const { url = '' } = request
    if (url.startsWith('/control/')) void answerControl(request, response)
    else if (url.startsWith('/recordings')) void answerRecording(request, response)
    else if (url.startsWith('/preview')) void answerPreview(request, response)
    else if (url.startsWith('/profile')) void answerUserData(request, response)
    else if (url.startsWith('/apps/')) void answerApps(request, response)
    else if (url.startsWith('/login/')) void answerLogin(request, response)
    else void answer(request, response)
  })
  // The server reuses idle connections; if we closed one, its next call would fail.
  server.keepAliveTimeout = 0
  server.on('upgrade', upgrade)
  server.on('clientError', (_error, socket) => socket.destroy())
  return server
}

function send(response: ServerResponse, status: number, body: object | undefined): void {
  if (response.destroyed || response.headersSent) return
  if (!body) return void response.writeHead(status).end()
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}
