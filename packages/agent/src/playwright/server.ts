// Connects clients of Playwright's own protocol to the program that serves their version. The path of the request is that
// version. Only the head of the request is read here: all that follows is for the program.
import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { PLAYWRIGHT_VERSIONS_HEADER } from '@berth/contracts/link'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'
import type { Chromium } from '../chromium/chromium.ts'
import type { Settings } from '../instance/settings.ts'
import { log } from '../log/log.ts'
import { Programs } from './programs.ts'

const CHROMIUM_MS = 15_000

export interface ServeOptions {
  readonly settings: Settings
  readonly chromium: Pick<Chromium, 'whenOpen'>
}

/** Returns what accepts the connections. */
export function playwrightServer({ settings, chromium }: ServeOptions): (connection: Socket) => void {
  const programs = new Programs(settings)
  const server = createServer((_request, response) => {
    response.writeHead(426, { connection: 'close' }).end()
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  server.on('upgrade', (request, link, head) => {
    link.on('error', () => {})
    pass(request, link, head).catch((error: unknown) => {
      log('Cannot serve Playwright', error)
      refuse(link, '503 Service Unavailable')
    })
  })

  async function pass(request: IncomingMessage, link: Duplex, head: Buffer): Promise<void> {
    const [, version] = /^\/(\d+\.\d+)$/.exec(request.url ?? '') ?? []
    const program = programs.of(version)
    if (!program) {
      return refuse(
        link,
        `428 Precondition Required\r\n${PLAYWRIGHT_VERSIONS_HEADER}: ${programs.versions.join(' ')}`,
      )
    }
    const { devtools_path: path } = await chromium.whenOpen(CHROMIUM_MS)
    if (path === null) return refuse(link, '503 Service Unavailable')
    const socket = await program.connect()
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${request.headers['sec-websocket-key']}\r\n\r\n`,
    )
    if (head.length > 0) link.unshift(head)
    pipeBothWays(link, socket)
  }

  return (connection) => void server.emit('connection', connection)
}

function refuse(link: Duplex, status: string): void {
  link.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)
}
