// Connects through somebody else's proxy. The proxy gets names, not addresses, so it resolves them and
// no look-up of ours reveals where a session goes. A failure never falls back to another route.
import type { Duplex } from 'node:stream'
import type { ProxyErrorCode } from '@berth/contracts/telemetry-events'
import { openHttpTunnel } from './http-tunnel.ts'
import { basicCredentials, ProxyFailure, type TargetTrouble } from './proxy-failure.ts'
import { EgressRefusal } from './refusal.ts'
import type { UpstreamProxy } from './route.ts'
import { openSocksTunnel } from './socks-tunnel.ts'
import { authorityOf, type Target } from './target.ts'
import { secure } from './tls.ts'
import type { RequestConnection, Upstream } from './upstream.ts'

/** From dialling the proxy until the proxy has dialled the target. */
const HANDSHAKE_MS = 30_000

export interface ProxyUpstreamOptions {
  readonly proxy: UpstreamProxy
  /** Connects to the proxy itself, if that is allowed. */
  readonly reach: Upstream
  readonly handshakeMs?: number
}

export class ProxyUpstream implements Upstream {
  readonly #proxy: UpstreamProxy
  readonly #reach: Upstream
  readonly #handshakeMs: number

  constructor({ proxy, reach, handshakeMs = HANDSHAKE_MS }: ProxyUpstreamOptions) {
    this.#proxy = proxy
    this.#reach = reach
    this.#handshakeMs = handshakeMs
  }

  connect(target: Target, signal: AbortSignal): Promise<Duplex> {
    return this.#open(target, signal, (stream, given) =>
      this.#proxy.protocol === 'socks5'
        ? openSocksTunnel(stream, { target, proxy: this.#proxy, signal: given })
        : openHttpTunnel(stream, { target, proxy: this.#proxy, signal: given }),
    )
  }

  /** Many HTTP proxies open tunnels only to TLS ports, and accept plain requests directly. */
  async connectForRequest(target: Target, signal: AbortSignal): Promise<RequestConnection> {
    if (this.#proxy.protocol === 'socks5') return { stream: await this.connect(target, signal) }
    const stream = await this.#open(target, signal, () => Promise.resolve())
    const { isOperators } = this.#proxy
    return { stream, proxy: { authorization: basicCredentials(this.#proxy), isOperators } }
  }

  takesRequests(): boolean {
    return this.#proxy.protocol !== 'socks5'
  }

  async #open(
    target: Target,
    signal: AbortSignal,
    handshake: (stream: Duplex, signal: AbortSignal) => Promise<void>,
  ): Promise<Duplex> {
    const timeout = AbortSignal.timeout(this.#handshakeMs)
    const given = AbortSignal.any([signal, timeout])
    let stream: Duplex | undefined
    const cut = () => stream?.destroy()
    given.addEventListener('abort', cut)
    try {
      const { host, port, protocol } = this.#proxy
      stream = await this.#reach.connect({ host, port }, given)
      stream.on('error', () => {})
      given.throwIfAborted()
      if (protocol === 'https') {
        stream = await secure(stream, { ...this.#proxy, signal: given })
        given.throwIfAborted()
      }
      await handshake(stream, given)
      given.throwIfAborted()
      return stream
    } catch (error) {
      stream?.destroy()
      signal.throwIfAborted()
      const { isOperators } = this.#proxy
      throw refusalOf(error, { target, isOperators, isTimeout: timeout.aborted })
    } finally {
      given.removeEventListener('abort', cut)
    }
  }
}

interface Failed {
  readonly target: Target
  readonly isOperators: boolean
  readonly isTimeout: boolean
}

/** Never reveals the proxy's address: it may be the operator's, and pages read this message. */
function refusalOf(error: unknown, { target, isOperators, isTimeout }: Failed) {
  const unavailable = isOperators ? 'provider_unreachable' : 'proxy_unavailable'
  const refuse = (code: EgressRefusal['code'], why: string, proxyError: ProxyErrorCode = unavailable) =>
    new EgressRefusal(code, `Cannot reach "${authorityOf(target)}": the proxy of the session ${why}`, {
      cause: error,
      proxyError,
    })
  if (isTimeout) return refuse('egress_timeout', 'did not answer in time')
  if (error instanceof ProxyFailure) {
    return refuse('egress_failed', error.message, codeOf(error.trouble, { isOperators }))
  }
  if (error instanceof EgressRefusal && error.code === 'egress_denied') {
    return refuse('egress_denied', 'is at an address that is not allowed')
  }
  if (error instanceof EgressRefusal) return refuse(error.code, 'cannot be reached')
  return refuse('egress_failed', 'broke off the connection')
}

function codeOf(
  trouble: TargetTrouble | undefined,
  { isOperators }: { isOperators: boolean },
): ProxyErrorCode | undefined {
  switch (trouble) {
    case 'refused':
      return isOperators ? 'provider_blacklisted' : 'destination_blocked'
    case 'unreachable':
      return 'upstream_connect_failed'
    case 'silent':
      return 'upstream_timeout'
    case undefined:
      return undefined
  }
}
