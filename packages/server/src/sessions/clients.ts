// Connections into a session besides API operations: CDP, BiDi, Playwright, terminals, the live view and its page; and
// what other servers ask for: tunnels, and sessions for which they have no room.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { isOwnOrigin, newHostCheck } from '../http/host-check.ts'
import { originOf } from '../http/origin.ts'
import { emitChange } from '../platform/database/change-events.ts'
import type { Db } from '../platform/database/schema.ts'
import type { Platform } from '../platform/module.ts'
import type { Sessions } from './browsers/sessions.ts'
import { Gateway } from './gateway/gateway.ts'
import { CDP_PATH, DEVTOOLS_PATH, PLAYWRIGHT_PATH, SCREEN_PATH, TERMINAL_ROUTE } from './session/target.ts'
import type { SessionTokens } from './gateway/tokens.ts'
import { attachHandovers } from './handovers/attach.ts'
import type { Handovers } from './handovers/service.ts'
import { attachLive } from './live-view/attach.ts'
import { Viewers } from './live-view/viewers.ts'
import type { StartHost } from './replicas/start-host.ts'
import { isTunnelUpgrade, TunnelHost } from './replicas/tunnel-host.ts'

const MB = 1024 * 1024

/** Whether the login that the session was made for waits for its person. */
export type IsLoginStuck = (db: Db, sessionId: string) => Promise<boolean>

export interface Clients {
  /** Tells every client that the server stops. */
  close(): Promise<void>
}

export function attachClients(options: {
  platform: Platform
  server: FastifyInstance
  sessions: Sessions
  tokens: SessionTokens
  starts: StartHost
  handovers: Handovers
  isLoginStuck: IsLoginStuck
}): Clients {
  const { server, sessions, tokens } = options
  const { config, log, db, pool, changes } = options.platform
  const viewers = new Viewers({
    maxPerSession: config.BERTH_MAX_VIEWERS,
    isLoginStuck: (sessionId) => options.isLoginStuck(db, sessionId),
    log,
  })
  changes.on('connectionChanged', () => viewers.loginsChanged())
  const admission = {
    tokens,
    checkHost: newHostCheck(config),
    isOwnOrigin: (origin: string, host: string | undefined) => isOwnOrigin(config, origin, host),
  }
  const gateway = new Gateway({ ...admission, sessions, live: viewers, log })
  const tunnels = new TunnelHost({ find: (id, leaseNumber) => sessions.findHereAt(id, leaseNumber), tokens })

  server.server.on('upgrade', (request, stream, head) => {
    // SAFETY: http and https servers always pass a Socket here.
    const socket = stream as Socket
    socket.on('error', () => {})
    if (isTunnelUpgrade(request)) tunnels.accept(request, socket, head)
    else gateway.accept(request, socket, head)
  })
  options.starts.attach(server)
  attachLive(server, {
    ...admission,
    find: (id, leaseNumber) => sessions.findAt(id, leaseNumber),
    viewers,
    originOf: (request) => originOf(config, request),
    maxUploadBytes: config.BERTH_MAX_FILE_MB * MB,
  })
  attachHandovers(server, {
    ...admission,
    handovers: options.handovers,
    db,
    pool,
    onChange: (change) => emitChange(changes, change),
  })
  // Not in the contract: clients of these protocols request the paths on their own.
  const paths = [CDP_PATH, '/browser/webdriver/session', PLAYWRIGHT_PATH, DEVTOOLS_PATH].flatMap((path) => [
    path,
    `${path}/*`,
  ])
  for (const url of [...paths, TERMINAL_ROUTE, SCREEN_PATH]) {
    server.route({
      method: ['GET', 'HEAD', 'POST', 'PUT'],
      url,
      handler: async (request, reply) => {
        reply.hijack()
        await gateway.answer(request.raw, reply.raw, { origin: originOf(config, request) })
      },
    })
  }
  return {
    close: async () => {
      tunnels.close()
      await gateway.close('server stopping')
    },
  }
}
