// The entries of BERTH_EGRESS_ALLOW, validated by config/: `10.0.0.0/8`, `fd00::1`,
// `intranet.example:443`, `host.berth.internal:*`, `10.0.0.5:8080`.
import { isIP } from 'node:net'
import { parseCidr } from '@berth/kit/cidr'
import { parseAddress, type Ip } from './address.ts'
import { readConnectTarget } from './target.ts'

interface Network {
  readonly ip: Ip
  readonly prefix: number
}

interface Host {
  readonly host: string
  readonly port: number | 'any'
}

/** `exact`: the entry names the port. */
type HostListing = 'exact' | 'any-port' | 'none'

export class AllowList {
  readonly #networks: Network[] = []
  readonly #hosts: Host[] = []
  /** 127.0.0.0/8 stands for all of loopback, so it includes ::1. */
  readonly hasLoopback: boolean

  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const network = parseNetwork(entry)
      if (network) this.#networks.push(network)
      else this.#hosts.push(parseHost(entry))
    }
    const loopback = parseAddress('127.0.0.0')!
    this.hasLoopback = this.#networks.some((network) => network.prefix <= 8 && isInside(loopback, network))
  }

  hasAddress(ip: Ip): boolean {
    if (this.hasLoopback && ip.range() === 'loopback') return true
    return this.#networks.some((network) => isInside(ip, network))
  }

  /** With any port. */
  hasHost(host: string): boolean {
    return this.#hosts.some((entry) => entry.host === host)
  }

  /** A host is a name, or an address with a port. */
  listingOf(host: string, port: number): HostListing {
    const entries = this.#hosts.filter((entry) => entry.host === host)
    if (entries.some((entry) => entry.port === port)) return 'exact'
    return entries.some((entry) => entry.port === 'any') ? 'any-port' : 'none'
  }
}

function isInside(ip: Ip, network: Network): boolean {
  return network.ip.kind() === ip.kind() && ip.match(network.ip, network.prefix)
}

function parseNetwork(entry: string): Network | undefined {
  const cidr = parseCidr(entry)
  const ip = cidr && parseAddress(cidr.address)
  if (!cidr || !ip) return undefined
  const isMapped = cidr.family === 'ipv6' && ip.kind() === 'ipv4'
  if (!isMapped) return { ip, prefix: cidr.prefix }
  // A prefix wider than the mapped block would allow more than it seems to.
  if (cidr.prefix < 96) throw new Error(`Cannot use "${entry}" in BERTH_EGRESS_ALLOW: write it as IPv4`)
  return { ip, prefix: cidr.prefix - 96 }
}

function parseHost(entry: string): Host {
  const isAnyPort = entry.endsWith(':*')
  const { host, port } = readConnectTarget(isAnyPort ? entry.replace(/\*$/, '1') : entry)
  // Normalised like a request's target, because the two are compared.
  const address = isIP(host) === 0 ? undefined : parseAddress(host)
  return { host: address?.toString() ?? host, port: isAnyPort ? 'any' : port }
}
