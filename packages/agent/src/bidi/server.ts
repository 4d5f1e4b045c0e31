// Turns link connections into websockets, each with its own BiDi session.
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { log } from '../log/log.ts'
import type { DevtoolsOptions } from '../devtools/open-devtools.ts'
import { serveSession } from './session.ts'

const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

const webSockets = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_MESSAGE_BYTES,
  perMessageDeflate: false,
})
const optionsOf = new WeakMap<object, DevtoolsOptions>()

const server = createServer((_request, response) => {
  response.writeHead(426, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ message: 'Cannot speak WebDriver BiDi: it needs a websocket' }))
})
server.on('clientError', (_error, socket) => socket.destroy())
server.on('upgrade', (request, socket, head) => {
  webSockets.handleUpgrade(request, socket, head, (client) => {
    client.on('error', () => client.terminate())
    serveSession(client, optionsOf.get(socket)!).catch((error: unknown) => {
      log('Cannot serve a WebDriver BiDi session', error)
      client.close(1011, 'Chromium does not answer')
    })
  })
})

export function acceptBidi(connection: Socket, options: DevtoolsOptions): void {
  optionsOf.set(connection, options)
  server.emit('connection', connection)
}
