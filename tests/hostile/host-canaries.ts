// Files and ports on the host that must never be seen from inside an instance.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '@berth/kit/ids'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

export interface HostCanaries {
  /** The text in each of them; seeing it means seeing one. */
  readonly secret: string
  /** For the server's environment. */
  readonly environment: Record<string, string>
  /** A file on the host that everyone may read and that contains the secret. */
  readonly file: string
  /** TCP and UDP ports on every address of the host. */
  readonly port: number
  /** Connections and datagrams that arrived. */
  touches(): number
}

export async function startCanaries(owner: Owner): Promise<HostCanaries> {
  const secret = newId('canary')
  const directory = mkdtempSync(join(tmpdir(), 'canary-'))
  // Its name is not secret: clients ask for it, and Chromium repeats it as the title of the page.
  const file = join(directory, 'canary.txt')
  writeFileSync(file, secret, { mode: 0o644 })
  cleanUpAfter(owner, () => rmSync(directory, { recursive: true, force: true }))

  let touches = 0
  const server = createServer((socket) => {
    touches++
    socket.on('error', () => {})
    socket.end(`HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n${secret}`)
  })
  server.listen(0, '::')
  await once(server, 'listening')
  cleanUpAfter(owner, () => void server.close())
  const { port } = server.address() as AddressInfo
  const datagrams = createSocket({ type: 'udp6' })
  datagrams.on('message', () => touches++)
  datagrams.bind(port, '::')
  await once(datagrams, 'listening')
  cleanUpAfter(owner, () => void datagrams.close())
  return { secret, environment: { CANARY: secret }, file, port, touches: () => touches }
}

/** Addresses of this machine other than loopback. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flat()
    .filter((each) => each !== undefined && !each.internal && !each.address.startsWith('fe80'))
    .map((each) => (each!.family === 'IPv6' ? `[${each!.address}]` : each!.address))
}
