// A port on this machine that leads to a session, for programs that take a host and a port instead of an address:
// ChromeDriver, and with it Selenium and WebdriverIO; `lighthouse --port`; chrome://inspect.
//
// As a program, it makes a session that lives until Ctrl-C:
//
//   node devtools-port.ts 9222
import { createServer, request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import Kernel from '@onkernel/sdk'

export interface DevtoolsPort {
  /** Such as `127.0.0.1:9222`. */
  readonly address: string
  close(): void
}

export async function openDevtoolsPort(cdpUrl: string, port = 0): Promise<DevtoolsPort> {
  const session = new URL(cdpUrl.replace(/^ws/, 'http'))
  const request = session.protocol === 'https:' ? requestHttps : requestHttp
  /** Berth serves below `cdp_ws_url` what Chromium serves at its port. */
  const targetOf = ({ url = '/' }: IncomingMessage) => {
    const path = session.pathname + new URL(url, 'http://port').pathname
    return new URL(path + session.search, session)
  }

  const server = createServer((asked, response) => {
    if (isFromPage(asked)) return void response.writeHead(403).end()
    const describe = async () => {
      const answer = await fetch(targetOf(asked))
      const text = (await answer.text()).replaceAll(SOCKET_ADDRESS, (_, path: string) => local(path))
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    }
    describe().catch((error: unknown) => response.writeHead(502).end(String(error)))
  })
  // The bytes of a websocket go through as they are, at the pace of the slower side.
  server.on('upgrade', (asked, client, head) => {
    if (isFromPage(asked)) return client.destroy()
    const upstream = request(targetOf(asked), { headers: { ...asked.headers, host: session.host } })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    upstream.on('response', () => client.destroy())
    upstream.on('upgrade', (answer, socket, first) => {
      const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join('')}\r\n`)
      client.write(first)
      socket.write(head)
      pipeline(client, socket, () => {})
      pipeline(socket, client, () => {})
    })
    upstream.end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const local = (path: string) => `ws://${address}${path || '/devtools/browser/session'}`
  return { address, close: () => void server.close() }
}

const SOCKET_ADDRESS = /wss?:\/\/[^"]*?\/browser\/cdp([^"?]*)\?jwt=[^"]*/g

/** Any website that you have open could otherwise use the port. Only pages send an origin, or the name of a host. */
function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || !/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '')
}

if (import.meta.main) {
  const berth = new Kernel()
  const session = await berth.browsers.create({ timeout_seconds: 3600 })
  const port = await openDevtoolsPort(session.cdp_ws_url, Number(process.argv[2] ?? 9222))
  console.log(`${port.address} leads to session ${session.session_id}; Ctrl-C ends both`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  port.close()
  await berth.browsers.deleteByID(session.session_id)
}
