// The end of a tunnel on the session's server.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeBothWays } from '@berth/kit/pipe-both-ways'
import type { PooledSession } from '../browsers/leased-session.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { refuseSocket } from '../gateway/refusals.ts'
import type { SessionTokens } from '../gateway/tokens.ts'
import { bearerToken } from '../../http/bearer.ts'
import { OnStandby } from '../session/session.ts'
import {
  TUNNEL_AUDIENCE,
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
  tunnelPurposes,
  type TunnelPurpose,
} from './tunnel.ts'

const CONNECT_MS = 10_000

export interface TunnelHostOptions {
  /** Finds only sessions of this server: a tunnel never leads to a third server. */
  readonly find: (
    id: string,
    leaseNumber: number,
  ) => PooledSession | undefined | Promise<PooledSession | undefined>
  readonly tokens: Pick<SessionTokens, 'verify'>
}

export function isTunnelUpgrade({ url = '' }: IncomingMessage): boolean {
  return purposeOf(url) !== undefined
}

export class TunnelHost {
  readonly #options: TunnelHostOptions
  readonly #sockets = new Set<Socket>()

  constructor(options: TunnelHostOptions) {
    this.#options = options
  }

  /** Always answers. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    this.#open(request, socket, head).catch((error: unknown) => refuseSocket(socket, error))
  }

  /** Clients at the other end reconnect and find the session's new server. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #open(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { sessionId, leaseNumber } = await this.#options.tokens.verify(
      bearerToken(request),
      TUNNEL_AUDIENCE,
    )
    const purpose = purposeOf(request.url ?? '')
    if (!purpose || request.headers.upgrade !== TUNNEL_PROTOCOL) {
      throw new AppError('bad_request', 'Cannot open a tunnel without a purpose and its protocol')
    }
    const session = await this.#options.find(sessionId, leaseNumber)
    if (!session) throw new AppError('not_found', 'Cannot open a tunnel: the session is not here')
    using acquired = new DisposableStack()
    const hold = purpose === 'aside' ? undefined : acquired.use(session.hold({ maySleep: purpose !== 'api' }))
    const gone = new AbortController()
    const onClose = () => gone.abort(new Error('The other server left'))
    socket.once('close', onClose)
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(CONNECT_MS)])
    const connected = purpose === 'aside' ? session.connectAside(signal) : session.connect(purpose, signal)
    const stream = await connected.catch((error: unknown) => {
      if (error instanceof OnStandby) throw new AppError('conflict', error.message, { cause: error })
      throw new AppError('unavailable', 'Cannot reach the instance of the session', { cause: error })
    })
    stream.on('error', () => {})
    if (socket.destroyed || session.ending.aborted) {
      stream.destroy()
      throw new AppError('not_found', 'Cannot open a tunnel: the session has ended')
    }
    socket.setTimeout(0)
    socket.setNoDelay(true)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${TUNNEL_PROTOCOL}\r\nConnection: Upgrade\r\n\r\n`,
    )
    if (head.length > 0) socket.unshift(head)
    const held = acquired.move()
    const onEnd = () => socket.destroy()
    session.ending.addEventListener('abort', onEnd)
    socket.once('close', () => {
      session.ending.removeEventListener('abort', onEnd)
      if (purpose !== 'api') return held.dispose()
      // A call through the tunnel may have started a program that holds the session.
      session.look().then(
        () => held.dispose(),
        () => held.dispose(),
      )
    })
    pipeBothWays(socket, stream, () => hold?.stir())
  }
}

function purposeOf(url: string): TunnelPurpose | undefined {
  return tunnelPurposes.find((purpose) => url === `${TUNNEL_PATH}/${purpose}`)
}
