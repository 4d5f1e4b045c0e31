// What the tests replace in the code of the pages. Everything that is not in this table runs as a reader would copy it.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import type { TestProxy } from '../fixtures/proxies.ts'
import type { RunningSite } from '../fixtures/login-zoo/kit/running-site.ts'

export interface Places {
  readonly serverUrl: string
  readonly dataDir: string
  readonly site: { readonly url: string; readonly port: number }
  readonly mail: RunningSite
  readonly proxy: TestProxy
  /** The operator's proxy for stealth sessions. */
  readonly defaultProxy: TestProxy
  readonly collector: { readonly url: string }
  /** Where a page's own receiver of webhooks listens. */
  readonly receiverPort: number
}

/** Pairs of what a page shows and what replaces it. */
export function standInsFor({
  serverUrl,
  dataDir,
  site,
  mail,
  proxy,
  defaultProxy,
  collector,
  receiverPort,
}: Places): [string, string][] {
  return [
    // The server listens on a free port and keeps its data in a directory that is removed.
    ['http://127.0.0.1:8080', serverUrl],
    ['.berth/', `${dataDir}/`],
    // Sites on this machine, because tests use no other network.
    ['https://example.com', site.url],
    ['https://collector.example.com', collector.url],
    ['https://receiver.example.com', `http://127.0.0.1:${receiverPort}`],
    ['.listen(3000)', `.listen(${receiverPort}, '127.0.0.1')`],
    ['https://mail.example.com', `http://${mail.domain}`],
    ["'mail.example.com'", `'${mail.domain}'`],
    ["host: 'proxy.example.com', port: 3128", `host: '127.0.0.1', port: ${proxy.port}`],
    ['http://10.0.0.9:3128', `http://127.0.0.1:${defaultProxy.port}`],
    // This machine as its sessions reach it.
    ['host.berth.internal:3000', `host.berth.internal:${site.port}`],
  ]
}

export function replaceAll(text: string, standIns: readonly [string, string][]): string {
  // In one pass, so that a replacement is not replaced again.
  const shown = standIns.map(([each]) => RegExp.escape(each)).join('|')
  const real = new Map(standIns)
  return text.replaceAll(new RegExp(shown, 'g'), (each) => real.get(each)!)
}

const EXAMPLE_PAGE = `<!doctype html><html lang="en"><head><title>Example Domain</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><h1>Example Domain</h1><p>This domain is for use in documentation examples.</p>
<p><a href="/more">Learn more</a></p></body></html>`

/** Stands in for example.com, and tells callers of /ip their address. */
export async function startExampleSite(owner: Owner): Promise<Places['site']> {
  const server = createServer((request, response) => {
    if (request.url === '/ip') return void response.end(request.socket.remoteAddress)
    if (request.url === '/favicon.ico') return void response.writeHead(204).end()
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(EXAMPLE_PAGE)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUpAfter(owner, async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://host.berth.internal:${port}`, port }
}
