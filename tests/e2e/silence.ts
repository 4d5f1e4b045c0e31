// The hosts that an idle session contacts.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { client84 } from '../client/versions.ts'
import { cleanUpAfter, type Owner } from '../fixtures/cleanup.ts'
import { startServer } from '../fixtures/server.ts'

/** The hosts that a fresh headless and a fresh headful session contacted while unused. */
export async function hostsAskedForWhileIdle(owner: Owner, seconds: number): Promise<string[]> {
  const server = await startServer(owner, { hasRealInstances: true, env: { BERTH_LOG_LEVEL: 'debug' } })
  const { browsers } = client84(server)
  for (const headless of [true, false]) {
    const session = await browsers.create({ headless, timeout_seconds: seconds + 60 })
    // A session without a client is frozen and contacts nothing.
    const socket = new WebSocket(session.cdp_ws_url)
    await once(socket, 'open')
    cleanUpAfter(owner, () => socket.terminate())
  }
  await pause(seconds * 1000)
  return hostsIn(server.output())
}

/** From the log of the egress proxy, which names every host, reached or refused. */
export function hostsIn(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => line.includes('"msg":"egress '))
    .map((line) => (JSON.parse(line) as { host: string }).host)
}
