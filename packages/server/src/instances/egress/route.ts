// How an instance's connections leave: directly, through a proxy, or not at all.
import type { DirectUpstream, Upstream } from './upstream.ts'
import { EgressPolicy } from './policy.ts'
import { ProxyUpstream } from './proxy-upstream.ts'
import { EgressRefusal } from './refusal.ts'
import { authorityOf, type Target } from './target.ts'
import { isIP } from 'node:net'

export interface UpstreamProxy {
  readonly protocol: 'http' | 'https' | 'socks5'
  /** As in a Target. */
  readonly host: string
  readonly port: number
  readonly username?: string
  readonly password?: string
  /** PEM certificates of authorities that may sign the proxy's certificate, besides the public ones. */
  readonly caBundle?: string
  /** The operator's proxy may be at an address that is closed to everybody else. */
  readonly isOperators: boolean
}

export type EgressRoute =
  | { readonly kind: 'direct' }
  /** Until the right route is known. */
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'proxy'
      readonly proxy: UpstreamProxy
      /** Hosts reached directly: `a.example`, or `*.a.example` for all its subdomains. */
      readonly bypassHosts: readonly string[]
    }

export const DIRECT: EgressRoute = { kind: 'direct' }
export const CLOSED: EgressRoute = { kind: 'closed' }

/** `direct` applies the policy, to targets that bypass the proxy and to the proxy itself. */
export function upstreamFor(route: EgressRoute, direct: DirectUpstream): Upstream {
  switch (route.kind) {
    case 'direct':
      return direct
    case 'closed':
      return closed
    case 'proxy': {
      const proxied = throughProxy(route.proxy, direct)
      if (route.bypassHosts.length === 0) return proxied
      const bypass = newHostMatcher(route.bypassHosts)
      const of = ({ host }: Target): Upstream => (bypass(host) ? direct : proxied)
      return {
        connect: (target, signal) => of(target).connect(target, signal),
        connectForRequest: (target, signal) => of(target).connectForRequest(target, signal),
        takesRequests: (target) => of(target).takesRequests?.(target) ?? false,
        // A connection to an address would not be known to bypass the proxy.
        addressesOf: async (name, signal) => {
          await of({ host: name, port: 0 }).addressesOf?.(name, signal)
          return []
        },
      }
    }
  }
}

export function throughProxy(proxy: UpstreamProxy, direct: DirectUpstream): ProxyUpstream {
  return new ProxyUpstream({
    proxy,
    reach: proxy.isOperators ? direct.under(operatorsPolicy(proxy)) : direct,
  })
}

/** Opens any address, because the operator chose the proxy. */
function operatorsPolicy({ host, port }: UpstreamProxy): EgressPolicy {
  const named = isIP(host) === 0 ? [`${host}:${port}`] : []
  return new EgressPolicy({ allow: ['0.0.0.0/0', '::/0', ...named], deniedPorts: [] })
}

function refuseAll(target: Target): Promise<never> {
  const message = `Cannot reach "${authorityOf(target)}": the egress route of the session is not known yet`
  return Promise.reject(new EgressRefusal('egress_failed', message))
}
const closed: Upstream = { connect: refuseAll, connectForRequest: refuseAll }

function newHostMatcher(patterns: readonly string[]): (host: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.startsWith('*.')))
  const suffixes = patterns.filter((pattern) => pattern.startsWith('*.')).map((pattern) => pattern.slice(1))
  return (host) => exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix))
}
