// The address that the tests of the BiDi mapper connect to. Each connection gets a browser of its own.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Arm } from './arm.ts'

export interface BidiEndpoint {
  readonly port: number
  close(): Promise<void>
}

export async function openBidiEndpoint(arm: Arm): Promise<BidiEndpoint> {
  // The tests connect to "localhost", which may be either address; without a host, Node listens on both.
  const server = new WebSocketServer({ port: 0, perMessageDeflate: false })
  const serving = new Set<Promise<void>>()
  server.on('connection', (client) => {
    // Until the browser is there.
    client.pause()
    const served = serve(arm, client).finally(() => serving.delete(served))
    serving.add(served)
  })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const client of server.clients) client.terminate()
      server.close()
      await Promise.all(serving)
    },
  }
}

async function serve(arm: Arm, client: WebSocket): Promise<void> {
  try {
    const browser = await arm.open()
    try {
      await browser.serveBidi(client)
    } finally {
      await browser.close()
    }
  } catch (error) {
    console.error(`A connection of the BiDi tests failed (${arm.name}):`, error)
    client.terminate()
  }
}
