// An archive of snapshots in which every time has the packages of today: it sends apt on to where this machine takes
// Debian's packages from.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'

export interface Snapshots {
  /** Its address. */
  readonly archive: string
  /** Paths that were asked for. */
  readonly asked: readonly string[]
}

export async function startSnapshots(owner: Owner): Promise<Snapshots> {
  const mirrors = mirrorsOfThisMachine()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url!
    asked.push(path)
    const [, name = '', rest = ''] = /^\/(debian|debian-security)\/\d{8}T\d{6}Z\/(.*)$/.exec(path) ?? []
    const mirror = mirrors.get(name)
    if (mirror === undefined) response.writeHead(404).end()
    else response.writeHead(302, { location: `${mirror}/${rest}` }).end()
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanUpAfter(owner, () => {
    server.closeAllConnections()
    server.close()
  })
  return { archive: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

/** By the last part of their address, `debian` and `debian-security`. */
function mirrorsOfThisMachine(): Map<string, string> {
  const uris = execFileSync('apt-get', ['update', '--print-uris'], { encoding: 'utf8' })
  return new Map(
    [...uris.matchAll(/^'(.*\/(debian|debian-security))\/+dists\/bookworm[^/]*\/InRelease'/gm)].map(
      ([, mirror, name]) => [name!, mirror!],
    ),
  )
}
