// Serves Playwright's own protocol inside the session, as a program of the tenant: everything that clients send ends
// here. The agent starts it, and it ends with the agent. Each client has its own connection to Chromium, so it has its
// own contexts, and they go when it leaves.
//
//   node playwright.cjs serve <name of its socket> <debugging port of Chromium> <directory for files>
import { mkdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import type { Duplex } from 'node:stream'
import { inspect } from 'node:util'
import { server as playwrights } from 'playwright-core/lib/coreBundle'
import { WebSocketServer } from 'ws'
import { serveClient } from './client.ts'
import { offerFfmpeg } from './ffmpeg.ts'

/** As much as Playwright's own server takes. */
const MAX_MESSAGE_BYTES = 100 * 1024 * 1024

const [name, port, files] = process.argv.slice(3) as [string, string, string]

// The agent is gone.
process.stdin.on('close', () => process.exit()).resume()
const report = (error: unknown) => void process.stderr.write(`${inspect(error)}\n`)

// A killed one has left its files.
rmSync(files, { recursive: true, force: true })
mkdirSync(tmpdir(), { recursive: true })
offerFfmpeg()

const webSockets = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
})
const http = createServer((_request, response) => void response.writeHead(426).end())
http.on('upgrade', (request, stream, head) => {
  stream.on('error', () => {})
  accept(request, stream, head).catch((error: unknown) => {
    report(error)
    stream.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n')
  })
})
http.listen(`\0${name}`, () => {
  // What goes wrong for one client must not end the others.
  process.on('uncaughtException', report)
  process.on('unhandledRejection', report)
  process.stdout.write('ready\n')
})

async function accept(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
  const playwright = playwrights.createPlaywright({ sdkLanguage: 'javascript', isServer: true })
  const browser = await playwright.chromium.connectOverCDP(playwrights.nullProgress, {
    // The path of the request is that of Chromium's websocket.
    endpointURL: `ws://127.0.0.1:${port}${request.url}`,
    isLocal: true,
  })
  const leave = () => void browser.close(playwrights.nullProgress, { reason: 'Disconnected' }).catch(report)
  if (stream.destroyed) return leave()
  stream.once('close', leave)
  webSockets.handleUpgrade(request, stream, head, (client) => serveClient(client, playwright, browser))
}
