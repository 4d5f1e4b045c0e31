// What the tests of this folder share: a proxy on a socket in a directory of its own, servers to reach
// or not to reach, and clients that speak to the proxy by hand. Everything ends with its test.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { EgressLimits, EgressListener } from './listener.ts'
import { EgressPolicy } from './policy.ts'
import { EgressProxy } from './proxy.ts'
import type { DirectUpstreamOptions } from './upstream.ts'

export interface TestProxy {
  readonly listener: EgressListener
  readonly path: string
  /** Every line logged so far. */
  readonly logged: string[]
}

interface ProxyOptions {
  readonly allow?: readonly string[]
  readonly deniedPorts?: readonly number[]
  readonly limits?: Partial<EgressLimits>
  readonly direct?: Omit<DirectUpstreamOptions, 'policy'>
}

export async function startProxy(t: TestContext, options: ProxyOptions = {}): Promise<TestProxy> {
  const { allow = [], deniedPorts, limits = {}, direct = {} } = options
  const directory = await mkdtemp(join(tmpdir(), 'egress-'))
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const policy = new EgressPolicy({ allow, ...(deniedPorts && { deniedPorts }) })
  const path = join(directory, 'egress.sock')
  const listener = await new EgressProxy({ policy, log, limits, direct }).listen(path)
  t.after(async () => {
    await listener.close()
    await rm(directory, { recursive: true })
  })
  return { listener, path, logged }
}

export async function startServer(
  t: TestContext,
  onSocket: (socket: Socket) => void,
  where: { address?: string; port?: number } = {},
): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    onSocket(socket)
  })
  const port = await listenOn(t, server, where)
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  return { port, connections: () => connections }
}

/** Also for HTTP and TLS servers. */
export async function listenOn(
  t: TestContext,
  server: Server,
  { address = '127.0.0.1', port = 0 }: { address?: string; port?: number } = {},
): Promise<number> {
  server.listen(port, address)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    if ('closeAllConnections' in server) (server.closeAllConnections as () => void)()
  })
  return (server.address() as AddressInfo).port
}

export const echo = (socket: Socket): void => void socket.pipe(socket)

/** A connection to the proxy that speaks by hand. */
export async function openSocket(t: TestContext, path: string): Promise<Socket> {
  const socket = connect({ path, allowHalfOpen: true })
  socket.on('error', () => undefined)
  t.after(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

export interface Tunnel {
  readonly status: number
  /** Of a refusal. */
  readonly body: string
  readonly socket: Socket
}

/** Sends CONNECT and reads the answer; the socket of a tunnel is paused and ready to use. */
export async function openTunnel(t: TestContext, path: string, authority: string): Promise<Tunnel> {
  const socket = await openSocket(t, path)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const head = await readUntil(socket, '\r\n\r\n')
  const status = Number(head.split(' ')[1])
  return { status, body: status === 200 ? '' : await readAll(socket), socket }
}

/** What came up to the mark, which is taken away; the rest stays in the socket. */
export async function readUntil(socket: Socket, mark: string): Promise<string> {
  let text = ''
  for (;;) {
    const chunk = socket.read() as Buffer | null
    if (chunk) {
      text += chunk.toString('latin1')
      const end = text.indexOf(mark)
      if (end >= 0) {
        const rest = text.slice(end + mark.length)
        if (rest) socket.unshift(Buffer.from(rest, 'latin1'))
        return text.slice(0, end)
      }
    } else {
      if (socket.readableEnded || socket.destroyed) return text
      await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')])
    }
  }
}

export async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A plain request as a browser sends it to its proxy. */
export async function ask(
  path: string,
  url: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; body?: string } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = options
  const sent = request({ socketPath: path, path: url, method, headers, agent: false })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode!, headers: answer.headers, body: await readAll(answer) }
}

export function codeOf(body: string): string {
  return (JSON.parse(body) as { code: string }).code
}
