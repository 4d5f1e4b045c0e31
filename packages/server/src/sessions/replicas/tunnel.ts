// A connection into an instance on another server, through that server.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { linkPurposes, type LinkPurpose } from '@berth/contracts/link'
import { OnStandby } from '../session/session.ts'
import { trust } from './trust.ts'

export const TUNNEL_PATH = '/internal/link'
export const TUNNEL_PROTOCOL = 'berth-link'
export const TUNNEL_AUDIENCE = 'link'

/** aside: like api, but the tunnel does not hold the session, and is refused with ON_STANDBY when it is on standby. */
export type TunnelPurpose = LinkPurpose | 'aside'
export const tunnelPurposes: readonly TunnelPurpose[] = [...linkPurposes, 'aside']
export const ON_STANDBY = 409

export interface TunnelOptions {
  /** Address of the session's server, such as http://10.0.0.5:8080. */
  readonly address: string
  readonly purpose: TunnelPurpose
  readonly token: string
  /** The certificate of this server, which servers of a fleet commonly share. */
  readonly certificate: Buffer | undefined
  readonly signal: AbortSignal
}

export async function openTunnel({
  address,
  purpose,
  token,
  certificate,
  signal,
}: TunnelOptions): Promise<Duplex> {
  const url = new URL(`${TUNNEL_PATH}/${purpose}`, address)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: Error) => {
      reject(new Error(`Cannot reach the server of the session at ${address}: ${why}`, { cause }))
    }
    const sent = request(url, {
      agent: false,
      headers: { connection: 'upgrade', upgrade: TUNNEL_PROTOCOL, authorization: `Bearer ${token}` },
      signal,
      ...(url.protocol === 'https:' && trust(certificate)),
    })
    sent.once('error', (error) => fail(error.message, error))
    sent.once('response', (response: IncomingMessage) => {
      response.resume()
      if (purpose === 'aside' && response.statusCode === ON_STANDBY) return reject(new OnStandby())
      fail(`it answered ${response.statusCode}`)
    })
    sent.once('upgrade', (_response: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on('error', () => {})
      socket.setNoDelay(true)
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    sent.end()
  })
}
