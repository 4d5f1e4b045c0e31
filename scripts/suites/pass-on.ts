// Passes the messages of a websocket on to another one, and back.
import { once } from 'node:events'
import { WebSocket, type RawData } from 'ws'

export async function passOn(client: WebSocket, url: string): Promise<void> {
  const server = new WebSocket(url, { perMessageDeflate: false, maxPayload: 0 })
  const ended = endTogether(client, server)
  server.on('message', (data: RawData, isBinary) => client.send(data, { binary: isBinary }))
  await once(server, 'open')
  client.on('message', (data: RawData, isBinary) => server.send(data, { binary: isBinary }))
  client.resume()
  await ended
}

/** Closes each when the other has closed. Resolves when both have. */
export async function endTogether(one: WebSocket, other: WebSocket): Promise<void> {
  await Promise.all([closed(one, other), closed(other, one)])
}

function closed(socket: WebSocket, counterpart: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      counterpart.close()
      resolve()
    })
  })
}
