// Hands out browsers to the workers of Playwright's test runner, which are processes of their own.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arm, OpenBrowser } from './arm.ts'

export interface Supply {
  /** POST opens a browser and answers with `url` and `cdpUrl`; DELETE of that `url` closes it. */
  readonly url: string
  close(): Promise<void>
}

export async function openSupply(arm: Arm): Promise<Supply> {
  const open = new Map<string, OpenBrowser>()
  let count = 0
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url!
    if (request.method === 'DELETE') {
      const browser = open.get(path)
      open.delete(path)
      await browser?.close()
      response.writeHead(204).end()
      return
    }
    const browser = await arm.open()
    const id = `/${++count}`
    open.set(id, browser)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ url: url + id, cdpUrl: browser.cdpUrl }))
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      console.error(`Cannot open or close a browser (${arm.name}):`, error)
      response.writeHead(500).end(String(error))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      server.closeAllConnections()
      server.close()
      // A worker that was killed leaves its browser behind.
      await Promise.all([...open.values()].map((browser) => browser.close()))
    },
  }
}
