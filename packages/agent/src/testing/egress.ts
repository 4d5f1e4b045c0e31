// Plays the server's side of the way out: a proxy that leads every request to one local server and
// remembers what it was asked for.
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface Egress {
  /** First lines, as they came. */
  readonly asked: string[]
  /** Where the server listens that all requests end at. */
  readonly port: number
  /** Paths that the server was asked for. */
  readonly visited: string[]
}

export async function startEgress(t: TestContext, directory: string): Promise<Egress> {
  const visited: string[] = []
  const server = createHttpServer((request, response) => {
    visited.push(request.url!)
    response.setHeader('content-type', 'text/html')
    response.setHeader('access-control-allow-origin', '*')
    response.end(`<title>reached</title>${request.url}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const asked: string[] = []
  const egress = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (head: Buffer) => {
      const [line = ''] = head.toString().split('\r\n')
      asked.push(line)
      const upstream = connect(port, '127.0.0.1')
      upstream.on('error', () => client.destroy())
      client.on('close', () => upstream.destroy())
      if (line.startsWith('CONNECT ')) client.write('HTTP/1.1 200 OK\r\n\r\n')
      else upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
  })
  egress.listen(join(directory, 'egress.sock'))
  await once(egress, 'listening')
  chmodSync(join(directory, 'egress.sock'), 0o777)
  t.after(() => {
    egress.close()
    server.close()
    server.closeAllConnections()
  })
  return { asked, port, visited }
}
