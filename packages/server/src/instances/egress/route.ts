// How an instance's connections leave: directly, through a proxy, or not at all.
import type { DirectUpstream, Upstream } from './upstream.ts'
import { EgressPolicy } from './policy.ts'
import { ProxyUpstream } from './proxy-upstream.ts'
import { EgressRefusal } from './refusal.ts'
import { newPrivateHostMatcher } from './private-hosts.ts'
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
  | {
      readonly kind: 'direct'
      /** With a list, no other private destinations are open. */
      readonly privateHosts?: readonly string[] | undefined
    }
  /** Until the right route is known. */
  | { readonly kind: 'closed' }
  | {
      readonly kind: 'proxy'
      readonly proxy: UpstreamProxy
      /** Hosts reached directly: `a.example`, or `*.a.example` for all its subdomains. */
      readonly bypassHosts: readonly string[]
      /** Reached directly too. Without a list: all private addresses. */
      readonly privateHosts?: readonly string[] | undefined
    }

export const DIRECT: EgressRoute = { kind: 'direct' }
export const CLOSED: EgressRoute = { kind: 'closed' }

/** `direct` applies the policy, to targets that bypass the proxy and to the proxy itself. */
export function upstreamFor(route: EgressRoute, direct: DirectUpstream): Upstream {
  switch (route.kind) {
    case 'direct':
      return route.privateHosts ? directTo(route.privateHosts, direct) : direct
    case 'closed':
      return closed
    case 'proxy': {
      const proxied = throughProxy(route.proxy, direct)
      const isBypassed = newHostMatcher(route.bypassHosts)
      const isPrivate = newPrivateHostMatcher(route.privateHosts)
      return choosing((target) => (isBypassed(target.host) || isPrivate(target) ? direct : proxied))
    }
  }
}

/** What is not listed is reached as if the operator had opened nothing. */
function directTo(privateHosts: readonly string[], direct: DirectUpstream): Upstream {
  const isPrivate = newPrivateHostMatcher(privateHosts)
  const open = direct.publicOnly()
  const others: Upstream = {
    connect: (target, signal) => open.connect(target, signal).catch(explainUnlisted),
    connectForRequest: (target, signal) => open.connectForRequest(target, signal).catch(explainUnlisted),
    addressesOf: (name, signal) => open.addressesOf(name, signal),
  }
  return choosing((target) => (isPrivate(target) ? direct : others))
}

function explainUnlisted(error: unknown): never {
  if (!(error instanceof EgressRefusal) || error.code !== 'egress_denied') throw error
  const message = `${error.message}, and network.private_hosts of the session does not list it`
  throw new EgressRefusal('egress_denied', message, { cause: error })
}

function choosing(of: (target: Target) => Upstream): Upstream {
  return {
    connect: (target, signal) => of(target).connect(target, signal),
    connectForRequest: (target, signal) => of(target).connectForRequest(target, signal),
    takesRequests: (target) => of(target).takesRequests?.(target) ?? false,
    // Only a connection to the name is known to go where it should.
    addressesOf: async (name, signal) => {
      await of({ host: name, port: 0 }).addressesOf?.(name, signal)
      return []
    },
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
