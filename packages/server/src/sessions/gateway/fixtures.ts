// What the tests of this folder share: a gateway on a real HTTP server, and a session whose browser is
// whatever the test makes of it.
import { randomBytes } from 'node:crypto'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import { once } from 'node:events'
import { pino } from 'pino'
import { WebSocket, WebSocketServer, type ClientOptions } from 'ws'
import type { EndReason } from '@berth/contracts/browsers'
import { SessionEnded, type Hold } from '../session/session.ts'
import { loadConfig } from '../../config/config.ts'
import { isOwnOrigin, newHostCheck } from '../../http/host-check.ts'
import { Viewers } from '../live-view/viewers.ts'
import { Gateway, type GatewayLimits } from './gateway.ts'
import type { OwnEvent } from '../session/own-event.ts'
import type { GatewaySession } from './session.ts'
import { SessionTokens } from './tokens.ts'
import { isGatewayUpgrade } from './upgrade.ts'

export const DEVTOOLS_PATH = '/devtools/browser/0a1b2c3d-0000-4000-8000-000000000000'

/** A session whose browser listens on a port. */
export class FakeSession implements GatewaySession {
  readonly #port: number
  readonly #ending = new AbortController()
  holds = 0
  stirs = 0
  connects = 0
  path = DEVTOOLS_PATH
  readonly events: OwnEvent[] = []
  readonly streams = new Set<Socket>()

  constructor(port: number) {
    this.#port = port
  }

  get ending(): AbortSignal {
    return this.#ending.signal
  }

  hold(): Hold {
    this.holds++
    return { stir: () => this.stirs++, [Symbol.dispose]: () => this.holds-- }
  }

  async connect(_purpose: string, signal: AbortSignal): Promise<Duplex> {
    this.connects++
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, signal })
    this.streams.add(socket)
    socket.once('close', () => this.streams.delete(socket))
    await once(socket, 'connect', { signal })
    return socket
  }

  devtoolsPath(): Promise<string> {
    return Promise.resolve(this.path)
  }

  publish(event: OwnEvent): void {
    this.events.push(event)
  }

  end(reason: EndReason): void {
    this.#ending.abort(new SessionEnded(reason))
  }
}

export interface TestGateway {
  readonly gateway: Gateway
  readonly server: Server
  readonly tokens: SessionTokens
  readonly session: FakeSession
  readonly port: number
  /** All that was logged. */
  readonly lines: string[]
  /** With a token for the one session. */
  readonly url: string
}

export async function startGateway(
  t: TestContext,
  browserPort: number,
  limits: Partial<GatewayLimits> = {},
): Promise<TestGateway> {
  const config = loadConfig({})
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
  const tokens = new SessionTokens({ keys: [{ kid: 'test', secret: randomBytes(32) }] })
  const session = new FakeSession(browserPort)
  const gateway = new Gateway({
    live: new Viewers({ maxPerSession: 2 }),
    sessions: { findAt: (id) => (id === 'one' ? session : undefined) },
    tokens,
    checkHost: newHostCheck(config),
    isOwnOrigin: (origin, host) => isOwnOrigin(config, origin, host),
    log,
    limits,
  })
  const options = { requireHostHeader: false, shouldUpgradeCallback: isGatewayUpgrade }
  const server = createServer(options, (request, response) => {
    if (!isGatewayUpgrade(request)) return response.end('route')
    void gateway.answer(request, response, { origin: `http://${request.headers.host}` })
  })
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    gateway.accept(request, socket as Socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    await gateway.close('test over')
    for (const stream of session.streams) stream.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const token = tokens.sign({ sessionId: 'one', audience: ['cdp', 'control'] })
  const url = `ws://127.0.0.1:${port}/browser/cdp?jwt=${token}`
  return { gateway, server, tokens, session, port, lines, url }
}

/** A browser that speaks websocket, with its plain answers as Chromium gives them. */
export async function startBrowser(
  t: TestContext,
  onClient: (client: WebSocket, request: IncomingMessage) => void,
): Promise<number> {
  const http = createServer((request, response) => {
    const page = { id: 'AB12', type: 'page', devtoolsFrontendUrl: '/devtools/inspector.html?ws=127.0.0.1' }
    const pageUrl = 'ws://127.0.0.1/devtools/page/AB12'
    const answers: Record<string, unknown> = {
      '/json/version': { Browser: 'Chrome/1', webSocketDebuggerUrl: `ws://127.0.0.1${DEVTOOLS_PATH}` },
      '/json/list': [{ ...page, webSocketDebuggerUrl: pageUrl }],
      '/json/protocol': { domains: [] },
    }
    response.statusCode = request.headers.host === '127.0.0.1' ? 200 : 500
    response.end(JSON.stringify(answers[request.url!]))
  })
  const sockets = new WebSocketServer({ server: http, maxPayload: 200 * 1024 * 1024 })
  sockets.on('connection', (client, request) => {
    client.on('error', () => {})
    onClient(client, request)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(() => {
    for (const client of sockets.clients) client.terminate()
    http.closeAllConnections()
    http.close()
  })
  return (http.address() as AddressInfo).port
}

/** A browser that answers with bytes of the test's own. */
export async function startRawBrowser(
  t: TestContext,
  onConnection: (socket: Socket) => void,
): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function openClient(
  t: TestContext,
  url: string,
  options: ClientOptions = {},
): Promise<WebSocket> {
  const client = new WebSocket(url, { maxPayload: 200 * 1024 * 1024, ...options })
  t.after(() => client.terminate())
  await once(client, 'open')
  return client
}

export async function closeOf(client: WebSocket): Promise<{ code: number; reason: string }> {
  const [code, reason] = (await once(client, 'close')) as [number, Buffer]
  return { code, reason: reason.toString() }
}

export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** The answer to an attempt to open a websocket, without a library's own opinion of it. */
export function tryUpgrade(
  port: number,
  path: string,
  headers: Record<string, string | string[] | undefined> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      agent: false,
      headers: Object.fromEntries(
        Object.entries({
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': randomBytes(16).toString('base64'),
          ...headers,
        }).filter(([, value]) => value !== undefined),
      ) as Record<string, string | string[]>,
    })
    sent.once('error', reject)
    sent.once('upgrade', (response: IncomingMessage, socket: Duplex) => {
      socket.destroy()
      resolve({ status: 101, headers: response.headers, body: '' })
    })
    sent.once('response', (response: IncomingMessage) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (body += text))
      response.once('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
    })
    sent.end()
  })
}

/** Everything a raw request brings until the connection is closed. */
export async function rawExchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  let answer = ''
  socket.setEncoding('latin1')
  socket.on('data', (part: string) => (answer += part))
  await new Promise((resolve) => socket.once('close', resolve))
  return answer
}

/** Waits for something that is bound to happen; the test's own timeout ends it otherwise. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}
