// The instance's proxy, for programs, and for Chromium in an instance without a network. Requests to loopback stay in the
// instance, except to the agent's own ports, which are refused. Everything else is forwarded unchanged to the server, which
// decides. The proxy reads only the first request of a connection: later ones go to the server too, which checks each, and
// a loopback connection closes after one request.
import {
  createServer as createHttpServer,
  request as httpRequest,
  type Server as HttpServer,
} from 'node:http'
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { loopbackAddresses } from './loopback.ts'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'

const MAX_HEAD_BYTES = 128 * 1024
const HEAD_MS = 60_000
const LINE_END = '\r\n'
const HEAD_END = LINE_END + LINE_END
/** Headers about the connection to the proxy. */
const HOP_HEADER = /^(connection|keep-alive|proxy-connection)$/i
const PROXY_CREDENTIALS = /^proxy-authorization\s*:/im

export interface ProxyOptions {
  readonly egressSocket: string
  /** Never dialled, however the address is spelled. */
  readonly protectedPorts: readonly number[]
  /** For development: loopback means the host's, and the server decides about it. */
  readonly hostLoopback: boolean
}

interface Target {
  readonly isTunnel: boolean
  readonly hostname: string
  readonly port: number
  /** The path in origin form, as an ordinary server expects it. */
  readonly originPath: string
}

class Refusal extends Error {
  readonly status: string

  constructor(status: string, message: string) {
    super(message)
    this.status = status
  }
}

export function createProxy(options: ProxyOptions): Server {
  return createServer({ noDelay: true }, (client) => {
    client.on('error', () => {})
    serve(client, options).catch((error: unknown) => refuse(client, error))
  })
}

async function serve(client: Socket, options: ProxyOptions): Promise<void> {
  const head = await readUntil(client, LINE_END)
  const target = readTarget(head.toString('latin1', 0, head.indexOf(LINE_END)))
  const addresses = options.hostLoopback ? undefined : loopbackAddresses(target.hostname)
  if (!addresses) {
    const egress = await dial([{ path: options.egressSocket }])
    egress.write(head)
    return pipeBothWays(client, egress)
  }
  if (options.protectedPorts.includes(target.port)) {
    throw new Refusal('403 Forbidden', `Cannot reach port ${target.port}: it belongs to the instance`)
  }
  await serveLoopback({ client, head, target, addresses })
}

interface LoopbackOptions {
  readonly client: Socket
  readonly head: Buffer
  readonly target: Target
  readonly addresses: readonly string[]
}

async function serveLoopback({ client, head, target, addresses }: LoopbackOptions): Promise<void> {
  client.unshift(head)
  const received = await readUntil(client, HEAD_END)
  const headEnd = received.indexOf(HEAD_END) + HEAD_END.length
  if (PROXY_CREDENTIALS.test(received.toString('latin1', 0, headEnd))) {
    throw new Refusal('403 Forbidden', 'Cannot pass the request on: it has proxy credentials; remove them')
  }
  const server = await dial(addresses.map((host) => ({ host, port: target.port })))
  if (target.isTunnel) {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    const rest = received.subarray(headEnd)
    if (rest.length > 0) server.write(rest)
    return pipeBothWays(client, server)
  }
  ways.set(client, { server, originPath: target.originPath })
  // Also when the client leaves, or sends something that is not a request.
  client.once('close', () => server.destroy())
  client.unshift(received)
  insideRequests().emit('connection', client)
}

interface Way {
  readonly server: Socket
  readonly originPath: string
}
const ways = new WeakMap<Socket, Way>()
let inside: HttpServer | undefined

/**
 * Parses and rewrites requests to servers in the instance, one per connection, because the next request may be for
 * another server. Asking the server to close the connection is not enough: some do not.
 */
function insideRequests(): HttpServer {
  if (inside) return inside
  inside = createHttpServer({ maxHeaderSize: MAX_HEAD_BYTES, requireHostHeader: false, requestTimeout: 0 })
  inside.on('clientError', (_error, socket) => socket.destroy())
  inside.on('request', (request, response) => {
    const way = ways.get(request.socket)
    // The client pipelined a second request.
    if (!way) return void response.destroy()
    ways.delete(request.socket)
    response.sendDate = false
    const asked = httpRequest({
      method: request.method!,
      path: way.originPath,
      headers: [...endToEnd(request.rawHeaders), 'Connection', 'close'],
      createConnection: () => way.server,
      insecureHTTPParser: true,
      maxHeaderSize: MAX_HEAD_BYTES,
    })
    asked.on('error', () => response.destroy())
    // Without a listener, Node would keep the socket open for a protocol switch that never happens.
    asked.once('upgrade', () => response.destroy())
    asked.once('response', (answer) => {
      try {
        const headers = [...endToEnd(answer.rawHeaders), 'Connection', 'close']
        response.writeHead(answer.statusCode!, answer.statusMessage ?? '', headers)
      } catch {
        // The server sent an invalid status or header; the agent must survive it.
        response.destroy()
        return
      }
      pipeline(answer, response).catch(() => response.destroy())
    })
    pipeline(request, asked).catch(() => {})
  })
  return inside
}

/** Alternating names and values, without the hop-by-hop ones. The body's framing headers stay. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || HOP_HEADER.test(name) ? [] : [name, rawHeaders[at + 1]!],
  )
}

function readTarget(line: string): Target {
  const [method = '', target = '', version = '', ...rest] = line.split(' ')
  const isTunnel = method === 'CONNECT'
  const url = URL.parse(isTunnel ? `http://${target}` : target)
  if (url?.username || url?.password || (isTunnel && target.includes('@'))) {
    throw new Refusal('403 Forbidden', 'Cannot pass the request on: its target has a user name')
  }
  const isWhole = isTunnel ? /^[^/?#@\\]+:\d{1,5}$/.test(target) : /^http:\/\//i.test(target)
  if (!url || !isWhole || rest.length > 0 || !/^HTTP\/1\.[01]$/.test(version)) {
    throw new Refusal('400 Bad Request', 'Cannot pass the request on: it is not a proxy request')
  }
  // URL omits the default port.
  const port = url.port === '' ? 80 : Number(url.port)
  const path = target.replace(/^http:\/\/[^/?#\\]*/i, '')
  return { isTunnel, hostname: url.hostname, port, originPath: path.startsWith('/') ? path : `/${path}` }
}

/** Resolves with all bytes received so far, once they contain `mark`. */
async function readUntil(client: Socket, mark: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = (status: string) => reject(new Refusal(status, 'Cannot read the request'))
  let received: Buffer = Buffer.alloc(0)
  const onReadable = () => {
    const chunk = client.read() as Buffer | null
    if (chunk === null) return
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    if (received.includes(mark)) resolve(received)
    else if (received.length > MAX_HEAD_BYTES) fail('431 Request Header Fields Too Large')
  }
  const onOver = () => fail('400 Bad Request')
  const timer = setTimeout(() => fail('408 Request Timeout'), HEAD_MS)
  client.on('readable', onReadable)
  client.once('close', onOver)
  client.once('end', onOver)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    client.off('readable', onReadable)
    client.off('close', onOver)
    client.off('end', onOver)
  }
}

/** Connects to the first address that answers. */
async function dial(places: readonly NetConnectOpts[]): Promise<Socket> {
  for (const place of places) {
    const socket = connect({ ...place, noDelay: true } as NetConnectOpts)
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.on('error', () => resolve(false))
    })
    if (isConnected) return socket
  }
  throw new Refusal('502 Bad Gateway', 'Cannot reach the target: nothing answers')
}

function refuse(client: Socket, error: unknown): void {
  if (!client.writable) return void client.destroy()
  const { status, message } =
    error instanceof Refusal ? error : new Refusal('500 Internal Server Error', 'Cannot pass the request on')
  const body = `${message}\n`
  client.write(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
  client.destroySoon()
}
